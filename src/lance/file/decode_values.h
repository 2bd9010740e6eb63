/// \file
/// Decoding of values: mini-block form (buffers of one chunk) and block form (levels,
/// dictionaries).
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lance/encodings.pb.h"
#include "leaf_path.h"
#include "omnigraph/base/status.h"
#include "read_context.h"

namespace omnigraph::lance {

/// Some decoded values. Points into the input or into `owned`; both must outlive it.
struct ValueView {
  int64_t count = 0;
  /// Fixed: items from bit 0, checked to be all there. Variable: what offsets count from.
  const uint8_t* data = nullptr;
  /// Variable: count + 1 checked, ascending offsets of `offset_bits`.
  const void* offsets = nullptr;
  int offset_bits = 0;
  /// Fixed-size lists: validity bits per dimension; null = all valid.
  std::vector<const uint8_t*> validity;
  std::vector<std::shared_ptr<arrow::Buffer>> owned;

  int64_t OffsetAt(int64_t index) const {
    return offset_bits == 32 ? static_cast<const int32_t*>(offsets)[index]
                             : static_cast<const int64_t*>(offsets)[index];
  }
};

/// Decode the value buffers of one chunk of `count` values.
/// Errors: kCorruption (`lance.file.values`, `.fsst`, `.compression`), kUnsupported
/// (`lance.file.encoding`).
Result<ValueView> DecodeChunkValues(const pb::ValueEncoding& encoding, const LeafForm& form,
                                    std::span<const std::string_view> buffers, int64_t count,
                                    const ReadContext& context);

/// Decode one block buffer of `count` values. Errors: as DecodeChunkValues().
Result<ValueView> DecodeBlockValues(const pb::ValueEncoding& encoding, const LeafForm& form,
                                    std::string_view buffer, int64_t count,
                                    const ReadContext& context);

/// The form of unsigned integers of `bits`.
LeafForm IntegerForm(int64_t bits);

}  // namespace omnigraph::lance
