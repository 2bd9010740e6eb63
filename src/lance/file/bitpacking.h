/// \file
/// Unpacking of FastLanes-ordered blocks of 1024 values (docs/format/lance-file.md, "Bit packing").
#pragma once

#include <cstdint>

namespace omnigraph::lance {

inline constexpr int64_t kPackedBlockValues = 1024;

/// Bytes of one packed block of `width` bits per value.
constexpr int64_t PackedBlockBytes(int64_t width) {
  return kPackedBlockValues / 8 * width;
}

/// Unpack one block of T-bit values (uint8_t to uint64_t). `packed` may have any alignment.
/// REQUIRES: width <= bits of T; PackedBlockBytes(width) readable bytes; room for 1024 values.
template <typename T>
void UnpackBlock(const uint8_t* packed, int width, T* values);

}  // namespace omnigraph::lance
