/// \file
/// The one Publisher: every change of a graph becomes visible by one put-if-absent of a version of
/// `__manifest`.
///
/// A writer hands it a Proposal with its footprint and gets a Receipt. Rules C1 to C5, W1 and W2 of
/// docs/protocols live here; what is written where is in docs/format/manifest-table.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/history.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace omnigraph::lance {
class Table;
struct Change;
}  // namespace omnigraph::lance

namespace omnigraph::graph {

class Graph;

/// A change of one table, relative to the version that it was made on. The Publisher commits it
/// detached.
struct TableChange {
  TableId table_id = 0;
  /// The opened version that `change` was made on (row addresses and fragments are relative to it).
  std::shared_ptr<const lance::Table> base;
  std::shared_ptr<const lance::Change> change;
  int64_t inserted = 0;
  int64_t updated = 0;
  int64_t deleted = 0;
  int64_t rows_delta() const { return inserted - deleted; }
};

/// Everything up to `to` of one shard is folded by this commit (W1, W2).
struct Watermark {
  TableId table_id = 0;
  Uuid shard;
  uint64_t from = 0;  ///< must be the newest snapshot's position, or the proposal is dropped
  uint64_t to = 0;
};

/// Rows of a table's log that this commit accounts for (G2); differences.
struct CounterDelta {
  TableId table_id = 0;
  uint64_t acked = 0;
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;
};

/// A shard that this commit enrols at position 0; already there: nothing happens to it.
struct Enrolment {
  TableId table_id = 0;
  Uuid shard;
};

/// What a writer wants to become visible, with its footprint (C1). Value type, moved into Publish.
struct Proposal {
  SnapshotRef base;     ///< the snapshot that all checks were made on
  CommitRecord commit;  ///< op, actor, message, details; the rest is filled in
  std::vector<TableChange> changes;
  std::set<TableId> tables_read;  ///< tables that its checks read and it does not write
  std::vector<Watermark> watermarks;
  std::vector<CounterDelta> counters;
  std::vector<Enrolment> enrolments;
  std::vector<std::string> pause;  ///< types whose admission this commit pauses (F5)

  /// Afterwards promote the touched tables (C7), best effort: Receipt::promoted says how that went.
  bool promote = true;

  /// Called, in the queue, when something of the footprint moved since `base`: brings `proposal` up
  /// to `newest` (checks again over what changed, new bases and changes, sets `base`), or returns
  /// kConflict. Absent: any move of a table in the footprint is `commit.conflict`.
  std::function<Status(const SnapshotRef& newest, Proposal* proposal)> recheck;
};

/// What became visible.
struct Receipt {
  std::string commit_id;
  uint64_t sequence = 0;
  SnapshotRef snapshot;
  /// The tables as this commit left them, by id: opened, so that the writer need not read them
  /// back.
  std::map<TableId, std::shared_ptr<const lance::Table>> tables;
  /// OK: every touched table is promoted (or Proposal::promote was false). An error takes nothing
  /// back; anybody may promote later.
  Status promoted;
};

/// Thread-safe: writers of one process queue, and rarely lose to each other; between processes the
/// put decides.
class Publisher {
 public:
  struct Impl;

  explicit Publisher(Graph* graph);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// Make a proposal visible, or say why not.
  ///
  /// After OK every later snapshot of every process holds it. After an error nothing of it is
  /// visible, except when the status says that the effect is unknown.
  ///
  /// Errors: kConflict (`commit.conflict`: the footprint moved, refresh and rebuild;
  ///         `fold.superseded`: a watermark moved, drop the work), kNotFound (`branch.deleted`),
  ///         kUnavailable and others of the store, with effect_unknown() when the put could not be
  ///         settled.
  /// Cost:   warm, per attempt: one data file and one manifest, one detached manifest per touched
  ///         table, one read (the base, C5), no list.
  Result<Receipt> Publish(Proposal proposal);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::graph
