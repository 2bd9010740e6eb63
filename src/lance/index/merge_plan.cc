#include "merge_plan.h"

#include <algorithm>

namespace omnigraph::lance {
namespace {

/// Segments up to this size are of the lowest class: two files with little in them.
constexpr uint64_t kLowestClassBytes = 16 * 1024;

int ClassOf(uint64_t bytes, uint32_t fan) {
  int number = 0;
  for (uint64_t bound = kLowestClassBytes; bytes > bound && bound < UINT64_MAX / fan;
       bound *= fan) {
    ++number;
  }
  return number;
}

}  // namespace

std::vector<size_t> PlanMerge(const std::vector<uint64_t>& sizes, uint32_t fan,
                              uint64_t bytes_max) {
  std::vector<size_t> merged;
  if (fan < 2 || sizes.size() < fan) {
    return merged;
  }
  const int highest = ClassOf(*std::ranges::max_element(sizes), fan);
  uint64_t merged_bytes = 0;
  for (int number = 0; number <= highest; ++number) {
    std::vector<size_t> here;  // of this class and below
    uint64_t bytes = 0;
    size_t count = !merged.empty() && ClassOf(merged_bytes, fan) == number ? 1 : 0;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const int own = ClassOf(sizes[i], fan);
      if (own <= number) {
        here.push_back(i);
        bytes += sizes[i];
      }
      if (own == number && !std::ranges::binary_search(merged, i)) {
        ++count;
      }
    }
    if (count >= fan && bytes <= bytes_max) {
      merged = std::move(here);
      merged_bytes = bytes;
    }
  }
  return merged;
}

}  // namespace omnigraph::lance
