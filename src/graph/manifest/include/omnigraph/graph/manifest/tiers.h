/// \file
/// When small fragments are merged: neighbours of one size class, sixteen to one, so that fragments
/// grow with the logarithm of commits and each row is written a few times in its life. Pure
/// functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omnigraph::graph {

/// The smallest size class spans up to this many rows times kTierFan.
inline constexpr uint64_t kTierRows = 256;
/// So many neighbouring fragments of one class are merged into one.
inline constexpr size_t kTierFan = 16;

/// Size class of a fragment: 0 below 16 times kTierRows, 1 below 256 times, ...
int TierOf(uint64_t rows);
/// How many fragments at the end of the list are due to be merged into one; 0: none. What a merge
/// makes may complete the next class, which is then merged along.
size_t TierMergeCount(const std::vector<uint64_t>& fragment_rows);

}  // namespace omnigraph::graph
