#include "cut.h"

#include <algorithm>

namespace omnigraph::graph {

int64_t Cut::rows() const {
  int64_t sum = 0;
  for (const CutShard& shard : shards) {
    for (const lance::LogEntry& entry : shard.entries) {
      sum += entry.rows();
    }
  }
  return sum;
}

bool Cut::empty() const {
  return std::all_of(shards.begin(), shards.end(),
                     [](const CutShard& shard) { return shard.to == shard.from; });
}

}  // namespace omnigraph::graph
