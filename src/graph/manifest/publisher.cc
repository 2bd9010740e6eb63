#include "omnigraph/graph/manifest/publisher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph_impl.h"
#include "history_writer.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/promoter.h"
#include "omnigraph/graph/manifest/turn.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::graph {
namespace {

/// Lost puts before a publish gives up; each is another process's success.
constexpr int kAttemptsMax = 1000;
/// Tries to find out whether a put took effect, with growing pauses, before its effect is unknown.
constexpr int kSettleTries = 6;
constexpr runtime::Duration kSettlePause = std::chrono::milliseconds(10);

}  // namespace

/// The state of the publisher of one chain in this process.
struct Publisher::Impl {
  explicit Impl(Graph* owner) : graph(owner) {}

  Graph* const graph;

  TurnQueue queue;  ///< the writers of the branch
  runtime::Mutex mutex;
  uint64_t hinted OG_GUARDED_BY(mutex) = 0;  ///< newest version named by the hint, or about to be
  bool hinting OG_GUARDED_BY(mutex) = false;

  HistoryWriter history;  ///< used by whose turn it is

  void KeepHint(uint64_t version);
};

namespace {

/// Which parts of a proposal's footprint are not where the proposal saw them (C1).
struct Moved {
  bool schema = false;
  std::vector<std::string> tables;
  bool any() const { return schema || !tables.empty(); }
};

bool TableMoved(const Snapshot& base, const Snapshot& newest, TableId id) {
  const TableState* before = base.FindTable(id);
  const TableState* now = newest.FindTable(id);
  return before == nullptr || now == nullptr || before->version != now->version;
}

Moved FindMoved(const Proposal& proposal, const Snapshot& newest) {
  Moved out;
  if (proposal.base->sequence == newest.sequence) {
    return out;
  }
  out.schema = proposal.base->schema_hash != newest.schema_hash;
  std::set<TableId> footprint = proposal.tables_read;
  for (const TableChange& change : proposal.changes) {
    footprint.insert(change.table_id);
  }
  for (const TableId id : footprint) {
    if (TableMoved(*proposal.base, newest, id)) {
      const TableState* table = newest.FindTable(id);
      out.tables.push_back(table != nullptr ? table->name : FormatHex64(id));
    }
  }
  return out;
}

/// W2: every `from` must be the newest snapshot's position.
Status CheckWatermarks(const Proposal& proposal, const Snapshot& newest) {
  for (const Watermark& mark : proposal.watermarks) {
    const TableState* table = newest.FindTable(mark.table_id);
    const bool known = table != nullptr && table->shards.contains(mark.shard);
    if (!known || table->shards.at(mark.shard) != mark.from) {
      return Conflict("fold.superseded",
                      fmt::format("rows of `{}` were folded by another process up to position {} "
                                  "meanwhile; this fold began at {}",
                                  table != nullptr ? table->name : FormatHex64(mark.table_id),
                                  known ? table->shards.at(mark.shard) : 0, mark.from));
    }
  }
  return Status::OK();
}

Status ConflictOf(const Moved& moved) {
  std::string names;
  for (const std::string& table : moved.tables) {
    names += (names.empty() ? "`" : ", `") + table + "`";
  }
  return Conflict("commit.conflict",
                  fmt::format("another commit changed {} since this change was made: read the "
                              "newest state and make it again",
                              moved.schema ? "the schema" : names));
}

/// One proposal on its way through the queue. Single-owner.
class Publication {
 public:
  Publication(Graph* graph, HistoryWriter* history, Proposal proposal)
      : impl_(GraphAccess::Of(*graph)), history_(*history), proposal_(std::move(proposal)) {}

  Result<Receipt> Run();
  bool promote() const { return proposal_.promote; }

 private:
  enum class Put : uint8_t { kStands, kLost, kAbsent };

  Status BringUpTo(const Head& head);
  Status CommitTables(const Head& head);
  Result<Snapshot> NextSnapshot(const Head& head, uint64_t version);
  Result<std::shared_ptr<arrow::RecordBatch>> CommitRows(const Head& head) const;
  Result<lance::BuiltVersion> Build(const Head& head);
  Result<Put> PutAndSettle(const Head& head, const lance::BuiltVersion& built);
  Result<Put> Settle(const Head& head, const lance::BuiltVersion& built);
  Result<Put> Count(const Head& head, const lance::BuiltVersion& built,
                    std::shared_ptr<const lance::Table> put);
  Receipt MakeReceipt(const Head& head) const;

  Graph::Impl& impl_;
  HistoryWriter& history_;
  Proposal proposal_;
  /// Detached versions of this proposal, by table, and the change that each was made of.
  std::map<TableId, std::shared_ptr<const lance::Table>> detached_;
  std::map<TableId, TableChange> detached_of_;
  std::shared_ptr<const Snapshot> next_;
};

/// Step 2 of docs/protocols/publishing.md: keep, check again, or conflict.
Status Publication::BringUpTo(const Head& head) {
  const SnapshotRef& newest = head.snapshot;
  if (newest->ended.has_value()) {
    return NotFound("branch.deleted", fmt::format("branch `{}` was deleted", newest->branch));
  }
  OG_RETURN_NOT_OK(CheckWatermarks(proposal_, *newest));
  const Moved moved = FindMoved(proposal_, *newest);
  if (!moved.any()) {
    proposal_.base = newest;
    return Status::OK();
  }
  if (!proposal_.recheck) {
    return ConflictOf(moved);
  }
  const auto recheck = proposal_.recheck;  // it may replace the proposal under its own feet
  OG_RETURN_NOT_OK(recheck(newest, &proposal_));
  OG_CHECK(proposal_.base->sequence == newest->sequence);
  return CheckWatermarks(proposal_, *newest);
}

/// One detached commit per touched table, kept over attempts while its base stays.
Status Publication::CommitTables(const Head& head) {
  std::set<TableId> touched;
  for (const TableChange& change : proposal_.changes) {
    const TableState* state = head.snapshot->FindTable(change.table_id);
    OG_CHECK(state != nullptr && change.base->version() == state->version);
    touched.insert(change.table_id);
    TableChange& made = detached_of_[change.table_id];
    if (made.base == change.base && made.change == change.change) {
      continue;
    }
    lance::Change versioned = *change.change;
    versioned.row_version = state->publishes + 1;
    OG_ASSIGN_OR_RETURN(detached_[change.table_id], lance::CommitDetached(change.base, versioned));
    made = change;
    runtime::FailPoint("publish.after_detached");
  }
  std::erase_if(detached_, [&](const auto& entry) { return !touched.contains(entry.first); });
  std::erase_if(detached_of_, [&](const auto& entry) { return !touched.contains(entry.first); });
  return Status::OK();
}

Result<Snapshot> Publication::NextSnapshot(const Head& head, uint64_t version) {
  Snapshot next = *head.snapshot;
  next.sequence = version;
  next.foreign_version = 0;
  next.head = proposal_.commit.id;
  for (const auto& [id, table] : detached_) {
    TableState& state = next.tables.at(id);
    state.version = table->version();
    state.publishes += 1;
    state.rows = static_cast<int64_t>(table->CountRows());
  }
  for (const Enrolment& enrolment : proposal_.enrolments) {
    next.tables.at(enrolment.table_id).shards.emplace(enrolment.shard, 0);
  }
  for (const Watermark& mark : proposal_.watermarks) {
    next.tables.at(mark.table_id).shards.at(mark.shard) = mark.to;
  }
  for (const CounterDelta& delta : proposal_.counters) {
    OG_CHECK(delta.acked == delta.visible + delta.superseded + delta.rejected);
    TableState& state = next.tables.at(delta.table_id);
    state.acked += delta.acked;
    state.visible += delta.visible;
    state.superseded += delta.superseded;
    state.rejected += delta.rejected;
  }
  std::set<std::string> paused(next.paused.begin(), next.paused.end());
  paused.insert(proposal_.pause.begin(), proposal_.pause.end());
  next.paused.assign(paused.begin(), paused.end());
  return next;
}

Result<std::shared_ptr<arrow::RecordBatch>> Publication::CommitRows(const Head& head) const {
  CommitRecord record = proposal_.commit;
  record.parents = {head.snapshot->head};
  record.tables.clear();
  for (const TableChange& change : proposal_.changes) {
    const TableState& before = head.snapshot->tables.at(change.table_id);
    record.tables.push_back(TableEffect{.table_id = change.table_id,
                                        .type = before.name,
                                        .from_version = before.version,
                                        .to_version = detached_.at(change.table_id)->version(),
                                        .inserted = change.inserted,
                                        .updated = change.updated,
                                        .deleted = change.deleted});
  }
  return HistoryRows(record);
}

/// Step 3: the next version of `__manifest`, not yet put.
Result<lance::BuiltVersion> Publication::Build(const Head& head) {
  const lance::Manifest& newest = head.newest->manifest;
  const uint64_t version = newest.version + 1;
  OG_ASSIGN_OR_RETURN(Snapshot next, NextSnapshot(head, version));
  next_ = std::make_shared<const Snapshot>(std::move(next));
  lance::Change change;
  for (auto& [key, value] : next_->ToMetadata()) {
    change.table_metadata[key] = value;
  }
  change.replace_table_metadata = true;
  if (newest.version != head.snapshot->sequence) {  // over a foreign version (C4)
    change.kind = lance::ChangeKind::kRestore;
    change.restored_version = head.snapshot->sequence;
    change.max_fragment_id_floor = newest.max_fragment_id;
    change.next_row_id_floor = newest.next_row_id;
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> rows, CommitRows(head));
  OG_RETURN_NOT_OK(history_.Add(*head.manifest, rows, &change));
  return lance::BuildVersion(head.manifest, change, version);
}

/// Where the chain stands after a put that is not known to count. Reads until it can.
Result<Publication::Put> Publication::Settle(const Head& head, const lance::BuiltVersion& built) {
  runtime::Duration pause = kSettlePause;
  Result<Head> now = impl_.Walk();
  for (int tries = 1; !now.ok() && tries < kSettleTries; ++tries, pause *= 2) {
    runtime::SleepFor(pause);
    now = impl_.Walk();
  }
  OG_RETURN_NOT_OK(now.status());
  if (now->newest->manifest.version < built.manifest.version) {
    return Put::kAbsent;
  }
  OG_ASSIGN_OR_RETURN(const bool holds,
                      HistoryHolds(*now->manifest, proposal_.commit.id, head.snapshot->head));
  if (!holds) {
    return Put::kLost;
  }
  if (now->manifest->version() == built.manifest.version) {
    history_.Landed(*now->manifest);
  }
  return Put::kStands;
}

/// A positive answer counts if the base still stands (C5); else the chain decides, and a version
/// under a pruned number is taken away again.
Result<Publication::Put> Publication::Count(const Head& head, const lance::BuiltVersion& built,
                                            std::shared_ptr<const lance::Table> put) {
  const Result<bool> stands = lance::StillStands(impl_.manifest_location, *head.newest);
  if (stands.ok() && *stands) {
    Head made;
    made.snapshot = next_;
    made.newest = std::make_shared<const lance::StoredManifest>(put->stored());
    made.manifest = std::move(put);
    made.durable = true;
    history_.Landed(*made.manifest);
    impl_.Offer(made);
    return Put::kStands;
  }
  OG_ASSIGN_OR_RETURN(const Put settled, Settle(head, built));
  if (settled == Put::kLost) {
    OG_RETURN_NOT_OK(impl_.store->Delete(built.object));
  }
  return settled;
}

/// Step 4: put, and know how it ended. Any answer but a positive one is settled by reading (C2,
/// P4); absent, the same bytes are put again.
Result<Publication::Put> Publication::PutAndSettle(const Head& head,
                                                   const lance::BuiltVersion& built) {
  runtime::Duration pause = kSettlePause;
  bool in_doubt = false;
  for (int tries = 0; tries < kSettleTries; ++tries) {
    runtime::FailPoint("publish.before_put");
    Result<std::shared_ptr<const lance::Table>> put = lance::PutVersion(built);
    runtime::FailPoint("publish.after_put");
    const ErrorDetail* detail = GetErrorDetail(put.status());
    const bool sync_failed = detail != nullptr && detail->code() == "store.sync_failed";
    const bool surely_not = !put.ok() && !in_doubt && !IsAlreadyExists(put.status()) &&
                            detail != nullptr && !detail->effect_unknown();
    if (sync_failed) {
      return WithUnknownEffect(put.status());  // P3: reading settles nothing now
    }
    if (surely_not) {
      return put.status();
    }
    in_doubt = true;
    const Result<Put> settled = put.ok() ? Count(head, built, *put) : Settle(head, built);
    if (!settled.ok()) {
      return WithUnknownEffect(settled.status());
    }
    if (*settled != Put::kAbsent) {
      return settled;
    }
    runtime::SleepFor(pause);
    pause *= 2;
  }
  return WithUnknownEffect(Unavailable(
      "commit.unsettled", "the store neither keeps nor refuses the graph's next version"));
}

Receipt Publication::MakeReceipt(const Head& head) const {
  Receipt out;
  out.commit_id = proposal_.commit.id;
  out.sequence = next_->sequence;
  const bool is_head = head.snapshot->head == proposal_.commit.id;
  out.snapshot = is_head ? head.snapshot : next_;
  out.tables = detached_;
  return out;
}

Result<Receipt> Publication::Run() {
  if (proposal_.commit.id.empty()) {
    proposal_.commit.id = runtime::NewUlid();
  }
  if (proposal_.commit.time.count() == 0) {
    proposal_.commit.time = runtime::WallNow();
  }
  Head head = impl_.CurrentHead();
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    const Status durable = impl_.MakeDurable(head);
    if (IsNotFound(durable)) {  // pruned: newer ones stand
      OG_ASSIGN_OR_RETURN(head, impl_.Walk());
      continue;
    }
    OG_RETURN_NOT_OK(durable);
    OG_RETURN_NOT_OK(BringUpTo(head));
    OG_RETURN_NOT_OK(CommitTables(head));
    OG_ASSIGN_OR_RETURN(const lance::BuiltVersion built, Build(head));
    OG_ASSIGN_OR_RETURN(const Put put, PutAndSettle(head, built));
    if (put == Put::kStands) {
      for (const auto& [id, table] : detached_) {
        impl_.tables.Put(table);
      }
      return MakeReceipt(impl_.CurrentHead());
    }
    OG_ASSIGN_OR_RETURN(head, impl_.Walk());
  }
  return Conflict("commit.contended",
                  fmt::format("lost {} times to other writers of the branch", kAttemptsMax));
}

}  // namespace

/// Rewrite the hint, one writer at a time; it only helps readers, so a failure is nobody's error.
void Publisher::Impl::KeepHint(uint64_t version) {
  {
    runtime::MutexLock lock(mutex);
    hinted = std::max(hinted, version);
    if (hinting) {
      return;  // whoever is at it looks again
    }
    hinting = true;
  }
  uint64_t written = 0;
  while (true) {
    uint64_t wanted = 0;
    {
      runtime::MutexLock lock(mutex);
      if (hinted == written) {
        hinting = false;
        return;
      }
      wanted = hinted;
    }
    (void)lance::WriteHint(GraphAccess::Of(*graph).manifest_location, wanted);
    written = wanted;
  }
}

Publisher::Publisher(Graph* graph) : impl_(std::make_unique<Impl>(graph)) {}
Publisher::~Publisher() = default;

Result<Receipt> Publisher::Publish(Proposal proposal) {
  OG_CHECK(proposal.base != nullptr);
  Publication publication(impl_->graph, &impl_->history, std::move(proposal));
  Result<Receipt> receipt = [&]() {
    const Turn turn(impl_->queue);
    return publication.Run();
  }();
  if (!receipt.ok()) {
    return receipt;
  }
  runtime::FailPoint("publish.after");
  impl_->KeepHint(receipt->sequence);
  if (publication.promote() && !receipt->tables.empty()) {
    std::vector<TableId> touched;
    for (const auto& [id, table] : receipt->tables) {
      touched.push_back(id);
    }
    receipt->promoted = PromoteTables(*impl_->graph, touched).status();
  }
  return receipt;
}

}  // namespace omnigraph::graph
