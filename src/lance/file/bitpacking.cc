#include "bitpacking.h"

#include <algorithm>
#include <cstring>

namespace omnigraph::lance {

template <typename T>
void UnpackBlock(const uint8_t* packed, int width, T* values) {
  constexpr int kBits = static_cast<int>(sizeof(T)) * 8;
  constexpr int kLanes = static_cast<int>(kPackedBlockValues) / kBits;
  constexpr int kOrder[8] = {0, 4, 2, 6, 1, 5, 3, 7};
  if (width == 0) {
    std::fill(values, values + kPackedBlockValues, T{0});
    return;
  }
  T words[kPackedBlockValues];
  std::memcpy(words, packed, static_cast<size_t>(PackedBlockBytes(width)));
  const T mask = width == kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << width) - 1);
  for (int row = 0; row < kBits; ++row) {
    const int bit = row * width;
    const int shift = bit % kBits;
    const T* from = words + bit / kBits * kLanes;
    T* to = values + kOrder[row / 8] * 16 + row % 8 * 128;
    if (shift + width <= kBits) {
      for (int lane = 0; lane < kLanes; ++lane) {
        to[lane] = static_cast<T>((from[lane] >> shift) & mask);
      }
    } else {
      for (int lane = 0; lane < kLanes; ++lane) {
        const T low = static_cast<T>(from[lane] >> shift);
        const T high = static_cast<T>(from[lane + kLanes] << (kBits - shift));
        to[lane] = static_cast<T>((low | high) & mask);
      }
    }
  }
}

template void UnpackBlock<uint8_t>(const uint8_t*, int, uint8_t*);
template void UnpackBlock<uint16_t>(const uint8_t*, int, uint16_t*);
template void UnpackBlock<uint32_t>(const uint8_t*, int, uint32_t*);
template void UnpackBlock<uint64_t>(const uint8_t*, int, uint64_t*);

}  // namespace omnigraph::lance
