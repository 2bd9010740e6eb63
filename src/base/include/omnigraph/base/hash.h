/// \file
/// Hashes by their standard names: xxHash64, xxHash3-128, SHA-256. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace omnigraph {

/// xxHash64 with seed 0.
uint64_t XxHash64(std::string_view bytes);

/// 128 bits of xxHash3; two different keys share one with probability 2^-128 per pair.
struct Hash128 {
  uint64_t high = 0;
  uint64_t low = 0;
  auto operator<=>(const Hash128&) const = default;
};
Hash128 XxHash128(std::string_view bytes);

/// SHA-256 as 64 lower-case hex digits.
std::string Sha256Hex(std::string_view bytes);

}  // namespace omnigraph
