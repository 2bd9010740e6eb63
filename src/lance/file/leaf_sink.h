/// \file
/// Where the decoders of one leaf put levels and values, page after page; at the end it is an Arrow
/// array.
#pragma once

#include <arrow/array/data.h>
#include <arrow/buffer_builder.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "decode_values.h"
#include "leaf_path.h"
#include "omnigraph/base/status.h"
#include "read_context.h"

namespace omnigraph::lance {

/// Collects one leaf. Single-owner.
class LeafSink {
 public:
  LeafSink(const LeafPath* path, const ReadContext* context) : path_(path), context_(context) {
    validity_.resize(path->form.dims.size());
  }

  const LeafPath& path() const { return *path_; }

  /// Make room for this many more values.
  Status Reserve(int64_t values);

  /// Level slots without a repetition level: `count` slots, all valid.
  Status AppendValidSlots(int64_t count);
  /// One slot each; `def` canonical. `rep` is empty when the path has no lists.
  Status AppendSlots(const std::vector<uint8_t>& rep, const std::vector<uint8_t>& def, size_t begin,
                     size_t end);
  Status AppendSlot(uint8_t rep, uint8_t def);

  /// Values [begin, end) of a view.
  Status AppendValues(const ValueView& view, int64_t begin, int64_t end);
  /// The value `index` of a view, `count` times.
  Status RepeatValue(const ValueView& view, int64_t index, int64_t count);
  /// One variable-width value.
  Status AppendVariable(const uint8_t* data, int64_t size);
  /// One fixed-width value of whole bytes; `validity` as in ValueView, bits from 0 (may be empty).
  Status AppendFixed(const uint8_t* data, const std::vector<const uint8_t*>& validity);
  /// Values of no meaning, for null slots.
  Status AppendEmpty(int64_t count);

  int64_t slots() const { return slots_; }
  const std::vector<uint8_t>& rep() const { return rep_; }
  /// Empty when all are 0.
  const std::vector<uint8_t>& def() const { return def_; }
  int64_t values() const { return values_; }

  /// The values with `nulls` (one bit per value; null pointer = all valid) as an array of the
  /// leaf's type.
  Result<std::shared_ptr<arrow::ArrayData>> Finish(std::shared_ptr<arrow::Buffer> nulls,
                                                   int64_t null_count);

 private:
  template <typename Offset>
  Status AppendOffsets(const ValueView& view, int64_t begin, int64_t end);
  Status PushOffset(int64_t size);
  Status AppendItemBits(const uint8_t* bits, int64_t first, int64_t count,
                        arrow::TypedBufferBuilder<bool>* to);
  Status AppendValidity(const std::vector<const uint8_t*>& validity, int64_t begin, int64_t end);
  Status TooLarge() const;

  const LeafPath* path_;
  const ReadContext* context_;
  int64_t slots_ = 0;
  std::vector<uint8_t> rep_;
  std::vector<uint8_t> def_;
  int64_t values_ = 0;
  arrow::BufferBuilder bytes_;
  arrow::TypedBufferBuilder<bool> bits_;
  arrow::BufferBuilder offsets_;
  /// Last offset written (variable).
  int64_t end_ = 0;
  /// Per dimension; used_ says whether any page had bits (earlier values are then back-filled).
  struct Validity {
    bool used = false;
    arrow::TypedBufferBuilder<bool> bits;
  };
  std::vector<Validity> validity_;
};

}  // namespace omnigraph::lance
