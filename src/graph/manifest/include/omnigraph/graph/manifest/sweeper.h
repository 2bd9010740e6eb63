/// \file
/// The sweeper: deletes what no retained version names and is older than the grace (C6), in bounded
/// passes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace omnigraph::graph {

class Graph;

/// Settings of one pass.
struct SweepOptions {
  std::chrono::seconds grace{24 *
                             3600};  ///< younger objects are never touched; by the store's time
  int64_t deletes_max = 10'000;      ///< the pass stops after so many deletes
  bool dry_run = false;
};

/// What a pass did.
struct SweepReport {
  int64_t listed = 0;
  int64_t deleted = 0;
  int64_t deleted_bytes = 0;
  bool complete = true;  ///< false: the budget ended the pass
};

/// Delete orphans of all tables: data, deletion, index and transaction files and detached manifests
/// that no version of
/// `__manifest` that still stands, no ordinary version and no tag names, and that are older than
/// the grace.
/// `_mem_wal` is never touched. Can stop anywhere and be run by anybody.
Result<SweepReport> Sweep(Graph& graph, const SweepOptions& options);

}  // namespace omnigraph::graph
