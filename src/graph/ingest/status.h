/// \file
/// The status of a graph's ingest (G14), from memory where this process owns a shard, else from the
/// log.
#pragma once

#include "cut_maker.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/stream_ingest.h"

namespace omnigraph::graph {

/// Shards, counters and rejects of the newest snapshot. Snapshot and logs are of one moment (B4):
/// a row is counted in one of them, whoever folds meanwhile.
Result<IngestStatus> StatusOf(Graph& graph, const LaneMap& lanes);

}  // namespace omnigraph::graph
