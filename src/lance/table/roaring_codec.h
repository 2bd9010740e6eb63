/// \file
/// The portable form of 32-bit Roaring bitmaps (cookies 12346 and 12347). Pure functions.
///
/// Parsing is ours because the library checks lengths only: a container whose cardinality lies
/// makes it write past its buffers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Ascending values. Errors: kCorruption (`roaring.malformed`).
Result<std::vector<uint32_t>> ParseRoaringBitmap(std::string_view bytes, std::string_view object);

/// Bytes without run containers; equal sets give equal bytes. REQUIRES: ascending, no repeats.
std::string EncodeRoaringBitmap(std::span<const uint32_t> values);

}  // namespace omnigraph::lance
