/// \file
/// What the page encoders share: the page's own numbering of levels, and a buffer that is filled
/// front to back.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "file_format.h"
#include "lance/encodings.pb.h"
#include "omnigraph/base/status.h"
#include "shred.h"

namespace omnigraph::lance {

/// Levels of one page: only the layers' numbers that occur.
struct PageLevels {
  std::vector<pb::Layer> layers;
  /// Page level of each canonical level (0..max_level).
  std::vector<uint16_t> of_canonical;
  bool has_rep = false;
  bool has_def = false;
  uint16_t max_def = 0;
};

/// Number the levels that occur in `leaf`.
PageLevels NumberLevels(const ShreddedLeaf& leaf);

/// Validity bit of every item of fixed-size lists, one level per dimension that needs it (outermost
/// first).
struct ItemValidity {
  /// Per entry of LeafForm::dims: bits (1 = valid, one per item at that depth), or empty = all
  /// valid.
  std::vector<std::vector<uint8_t>> bits;
  /// True for every dimension that has bits.
  bool any = false;
};

/// The primitive items of a fixed leaf, contiguous; `null_value` rows are zeroed.
struct FixedValues {
  /// Byte 0 is item 0; for bool, bit 0.
  const uint8_t* data = nullptr;
  std::shared_ptr<arrow::Buffer> owned;
  ItemValidity validity;
};

/// Gather the items of `leaf` (kFixed).
Result<FixedValues> CollectFixed(const ShreddedLeaf& leaf);

/// A variable leaf with offsets that start anywhere; null values have length 0.
struct VariableValues {
  /// count + 1 offsets into `data`, of `offset_bits`.
  const void* offsets = nullptr;
  const uint8_t* data = nullptr;
  std::shared_ptr<arrow::Buffer> owned_offsets;
  std::shared_ptr<arrow::Buffer> owned_data;
};
Result<VariableValues> CollectVariable(const ShreddedLeaf& leaf);

/// Message for values of this form: Flat, or FixedSizeList around it, or Variable.
void DescribeValues(const LeafForm& form, const ItemValidity& validity, pb::ValueEncoding* out);

/// A page's bytes, allocated once and written front to back.
class PageBytes {
 public:
  static Result<PageBytes> Allocate(int64_t capacity);

  int64_t position() const { return position_; }
  uint8_t* cursor() { return data_ + position_; }
  void Skip(int64_t bytes) { position_ += bytes; }
  template <typename T>
  void Put(T value) {
    std::memcpy(data_ + position_, &value, sizeof(T));
    position_ += static_cast<int64_t>(sizeof(T));
  }
  void PutBytes(const void* bytes, int64_t size) {
    if (size > 0) {
      std::memcpy(data_ + position_, bytes, static_cast<size_t>(size));
      position_ += size;
    }
  }
  void PadTo(int64_t alignment, uint8_t byte) {
    const int64_t end = AlignUp(position_, alignment);
    std::memset(data_ + position_, byte, static_cast<size_t>(end - position_));
    position_ = end;
  }
  /// The first position() bytes.
  std::shared_ptr<arrow::Buffer> Finish();

 private:
  std::shared_ptr<arrow::Buffer> buffer_;
  uint8_t* data_ = nullptr;
  int64_t position_ = 0;
};

}  // namespace omnigraph::lance
