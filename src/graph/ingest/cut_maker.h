/// \file
/// Step 1 of the fold: fix the cut (F1). Edge shards first, then the node rows admitted by then,
/// then node shards.
#pragma once

#include <map>
#include <memory>

#include "cut.h"
#include "lane.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/graph_store.h"

namespace omnigraph::graph {

using LaneMap = std::map<TableId, std::shared_ptr<Lane>>;

/// Take what stands above the snapshot's positions, at most about `bytes_max`: larger cuts lose
/// edge entries, or take a part of the node shards alone.
///
/// Shards in `lanes` come from memory while their writers lead, all others from their logs, without
/// a claim (W3). Errors: kCorruption (`memwal.*`), any of the store. Cost:   one head for a shard
/// of `lanes` whose rows are in memory; else one get per entry and one more.
Result<Cut> MakeCut(Graph& graph, const Snapshot& snapshot, const LaneMap& lanes, size_t bytes_max);

}  // namespace omnigraph::graph
