#include "omnigraph/graph/manifest/tiers.h"

namespace omnigraph::graph {

int TierOf(uint64_t rows) {
  int tier = 0;
  for (uint64_t bound = kTierRows * kTierFan; rows >= bound; bound *= kTierFan) {
    ++tier;
  }
  return tier;
}

size_t TierMergeCount(const std::vector<uint64_t>& fragment_rows) {
  size_t taken = 0;
  uint64_t rows = 0;
  while (true) {
    // The run of fragments of one tier that ends where the last merge began; what was merged counts
    // as one of them.
    const size_t end = fragment_rows.size() - taken;
    if (taken == 0 && end == 0) {
      return 0;
    }
    const int tier = taken == 0 ? TierOf(fragment_rows.back()) : TierOf(rows);
    size_t run = taken == 0 ? 0 : 1;
    size_t begin = end;
    while (begin > 0 && TierOf(fragment_rows[begin - 1]) == tier && run < kTierFan) {
      --begin;
      ++run;
    }
    if (run < kTierFan) {
      return taken;
    }
    for (size_t i = begin; i < end; ++i) {
      rows += fragment_rows[i];
    }
    taken = fragment_rows.size() - begin;
  }
}

}  // namespace omnigraph::graph
