/// \file
/// The rows that one fold takes: per shard the entries between its folded position and the cut
/// (F1).
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::graph {

/// One shard's part of a cut. Entries stand in position order; sentinels may be among them.
struct CutShard {
  TableId table_id = 0;
  Uuid shard;
  uint64_t from = 0;
  uint64_t to = 0;
  std::vector<lance::LogEntry> entries;
};

/// What a fold is about. Value type; batches are shared.
struct Cut {
  std::vector<CutShard> shards;

  int64_t rows() const;
  bool empty() const;  ///< no shard moves
};

}  // namespace omnigraph::graph
