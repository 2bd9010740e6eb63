/// \file
/// The sweeper: deletes what no retained version names and is older than the grace (C6), in bounded
/// passes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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
  /// Asked between reads; true ends the pass, incomplete.
  std::function<bool()> stop = {};
};

/// Nobody sweeps oftener.
inline constexpr std::chrono::seconds kSweepInterval{24 * 3600};

/// What a pass did.
struct SweepReport {
  int64_t listed = 0;
  int64_t deleted = 0;
  int64_t deleted_bytes = 0;
  bool complete = true;  ///< false: the budget ended the pass
};

/// Delete what no standing version of `__manifest` names and what is older than the grace: data,
/// deletion and index files and detached manifests of every table and of `__manifest`, and the
/// tables of an `init` that did not finish.
///
/// Kept besides: what the newest ordinary version and version 1 of a table name; all ordinary
/// manifests, transaction files, tags and `_mem_wal`. Can stop anywhere, and be run by anybody
/// beside everything else: a publish whose files are older than the grace must not be under way, so
/// the grace is a day. Errors: any of the store; kCorruption when a standing version is unreadable
/// (nothing is deleted then). Cost:   one get per standing version and per table version that one
/// names, one listing of the graph.
Result<SweepReport> Sweep(Graph& graph, const SweepOptions& options);

/// True where nobody has set out to sweep for kSweepInterval; the caller is then the one to do it.
/// A graph without the mark gets one, and is due an interval later. Errors: any of the store.
/// Cost:   one head; a put where the answer is yes.
Result<bool> TakeSweepTurn(Graph& graph);

}  // namespace omnigraph::graph
