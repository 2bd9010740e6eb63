/// \file
/// The fold of one cut into one graph commit: validate, write, publish (steps 2 to 5 of
/// docs/ingest.md, Fold).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cut.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "resolve.h"
#include "type_cut.h"

namespace omnigraph::graph {

/// What a fold left behind.
struct FoldOutcome {
  FoldReport report;
  SnapshotRef snapshot;
  Status promoted;  ///< OK: the touched tables are promoted, so that `replay_after` may move (S8)
  std::vector<TableId> touched;
};

/// Folds cuts of one graph, one at a time. Single-owner.
class Folder {
 public:
  Folder(Graph* graph, size_t key_cache_bytes) : graph_(*graph), caches_(key_cache_bytes) {}

  /// Fold a cut that begins at the positions of the graph's newest snapshot.
  ///
  /// Errors: kConflict `fold.superseded`: another process folded these rows, look at the newest
  /// snapshot;
  ///         kCorruption; any of the store. Nothing of the cut is visible then, unless
  ///         effect_unknown().
  /// Cost:   per touched table its data files, deletion files and one detached manifest; one
  /// publish.
  Result<FoldOutcome> Fold(const Cut& cut);

  /// Keep the tables that folds grow in shape: merge small fragments in tiers, cover ids by the
  /// index. One commit over all of `tables` that need it; mostly there is nothing to do.
  ///
  /// Errors: kConflict when another writer was at one of them: nothing happened, try after the next
  /// fold. Cost:   no store call when nothing is due.
  Status Maintain(const std::vector<TableId>& tables);

 private:
  struct Plan;

  Status MakePlan(const SnapshotRef& snapshot, const Cut& cut, Plan* plan);
  Status AddType(TypeCut* type, Plan* plan);
  Status AddRejects(const SnapshotRef& snapshot, Plan* plan);
  Status AdvanceCaches(const Plan& plan, const Receipt& receipt);

  Graph& graph_;
  FoldCaches caches_;
};

}  // namespace omnigraph::graph
