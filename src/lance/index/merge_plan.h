/// \file
/// Which segments to merge: tiers by size. Pure functions. Private.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omnigraph::lance {

/// Numbers of the segments to merge into one, ascending; empty: nothing is due.
///
/// Sizes fall into classes that span a factor of `fan`. `fan` segments of one class become one,
/// with all that are smaller; it may in turn complete the next class. A merge that would make more
/// than `bytes_max` is left undone.
std::vector<size_t> PlanMerge(const std::vector<uint64_t>& sizes, uint32_t fan, uint64_t bytes_max);

}  // namespace omnigraph::lance
