/// \file
/// What the sessions and the fold thread of one StreamIngest share: lanes, backlog, the fold.
/// Private to this folder.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "background_sweep.h"
#include "backlog.h"
#include "cut_maker.h"
#include "fold.h"
#include "lane.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/turn.h"
#include "omnigraph/lance/memwal/process_registry.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// Thread-safe.
class IngestCore {
 public:
  IngestCore(std::shared_ptr<Graph> graph, const IngestOptions& options);
  ~IngestCore();

  Graph& graph() const { return *graph_; }
  const IngestOptions& options() const { return options_; }
  Backlog& backlog() { return backlog_; }

  /// The lane of a type: enrols and claims when this process has none.
  ///
  /// Errors: kUnavailable (`ingest.not_owner`, naming the owner's address); kFenced
  /// (`memwal.fenced`: this process lost
  ///         the shard and does not claim it back, S9); those of Enrol and ShardWriter::Claim.
  Result<std::shared_ptr<Lane>> LaneOf(const schema::TypeDef& type, const std::string& actor);
  LaneMap lanes() const;

  /// One cut, one commit. An empty commit id: there was nothing. Another process's fold of the same
  /// rows is no error.
  Result<FoldReport> FoldOnce();
  /// Everything that is acked when it is called.
  Result<FoldReport> FoldAll();
  /// Body of the fold thread; returns after Stop().
  void RunFolds();
  void Stop();

  std::vector<FoldReport> TakeReports();
  std::vector<FoldReport> ReportsAfter(uint64_t sequence) const;
  /// Facts of the folds, for status.
  void FillStatus(IngestStatus* status) const;
  Status CloseLanes();

 private:
  Result<std::shared_ptr<Lane>> ClaimLane(const TableState& table);
  void AdoptPending();
  Result<FoldReport> FoldInTurn();
  void SyncLanes(const Snapshot& snapshot);
  void Collect(const Snapshot& snapshot);
  void Note(const Result<FoldReport>& report);

  const std::shared_ptr<Graph> graph_;
  const IngestOptions options_;
  Backlog backlog_;
  TurnQueue claims_;  ///< one claim at a time
  TurnQueue folds_;   ///< one fold at a time; whose turn it is uses `folder_`
  Folder folder_;
  Status unpromoted_;  ///< why the last fold's tables are not promoted; with `folds_`

  bool failing_ = false;   ///< the last fold failed; with `folds_`
  BackgroundSweep sweep_;  ///< with `folds_`

  mutable runtime::Mutex mutex_;
  std::shared_ptr<lance::ProcessRegistry> registry_ OG_GUARDED_BY(mutex_);
  LaneMap lanes_ OG_GUARDED_BY(mutex_);
  std::deque<FoldReport> reports_ OG_GUARDED_BY(mutex_);
  int64_t fold_count_ OG_GUARDED_BY(mutex_) = 0;
  std::string last_commit_id_ OG_GUARDED_BY(mutex_);
  double last_fold_s_ OG_GUARDED_BY(mutex_) = 0;
  std::string last_error_ OG_GUARDED_BY(mutex_);
};

}  // namespace omnigraph::graph
