/// \file
/// The status of a graph's ingest (G14), from memory where this process owns a shard, else from the
/// log.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cut_maker.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// The open rejects by code, counted once for each version of their table. Thread-safe.
class OpenRejects {
 public:
  /// Errors and cost: those of CountRejects() where the version is another than the last one.
  Result<std::map<std::string, int64_t>> Count(Graph& graph, const Snapshot& snapshot);

 private:
  runtime::Mutex mutex_;
  std::string path_ OG_GUARDED_BY(mutex_);  ///< of the table that was counted; empty: none
  uint64_t version_ OG_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int64_t> counts_ OG_GUARDED_BY(mutex_);
};

/// Shards, counters and rejects of the newest snapshot. Snapshot and logs are of one moment (B4):
/// a row is counted in one of them, whoever folds meanwhile.
Result<IngestStatus> StatusOf(Graph& graph, const LaneMap& lanes, OpenRejects* rejects);

/// What StreamIngest::Counts() gives: the counters of the snapshot that `graph` knows, and what its
/// lanes hold above that snapshot's positions. No I/O.
IngestCounts CountsOf(const Graph& graph, const LaneMap& lanes);

}  // namespace omnigraph::graph
