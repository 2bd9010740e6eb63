#include "ingest_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "enrol.h"
#include "omnigraph/graph/manifest/promoter.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/runtime/fail_point.h"

namespace omnigraph::graph {
namespace {

constexpr size_t kReportsMax = 1000;
/// After a failed fold the background waits this long, doubling up to the second.
constexpr runtime::Duration kRetryFirst = std::chrono::milliseconds(100);
constexpr runtime::Duration kRetryLast = std::chrono::seconds(30);
/// Cuts that another process folded first, before a fold gives up for now.
constexpr int kSupersededMax = 100;

BacklogLimits LimitsOf(const IngestOptions& options) {
  BacklogLimits out;
  out.in_flight_bytes_max = options.in_flight_bytes_max;
  out.pending_bytes_max = options.pending_bytes_max;
  out.backlog_bytes_max = options.backlog_bytes_max;
  out.backlog_age_max = options.backlog_age_max;
  out.wait_max = options.wait_max;
  out.fold_rows = options.fold_rows;
  out.fold_bytes = options.fold_bytes;
  out.fold_age = options.fold_age;
  return out;
}

void AddTo(const FoldReport& one, FoldReport* sum) {
  if (one.commit_id.empty()) {
    return;
  }
  sum->commit_id = one.commit_id;
  sum->sequence = one.sequence;
  sum->rows += one.rows;
  sum->visible += one.visible;
  sum->superseded += one.superseded;
  sum->rejected += one.rejected;
  sum->cascaded_edges += one.cascaded_edges;
  sum->seconds += one.seconds;
  for (const auto& [code, count] : one.rejected_by_code) {
    sum->rejected_by_code[code] += count;
  }
}

}  // namespace

IngestCore::IngestCore(std::shared_ptr<Graph> graph, const IngestOptions& options)
    : graph_(std::move(graph)),
      options_(options),
      backlog_(LimitsOf(options)),
      folder_(graph_.get(), options.key_cache_bytes),
      sweep_(graph_.get()) {
  backlog_.SetFolding(options.fold_in_background);
}

IngestCore::~IngestCore() = default;

LaneMap IngestCore::lanes() const {
  runtime::MutexLock lock(mutex_);
  return lanes_;
}

Result<std::shared_ptr<Lane>> IngestCore::ClaimLane(const TableState& table) {
  std::shared_ptr<lance::ProcessRegistry> registry;
  {
    runtime::MutexLock lock(mutex_);
    registry = registry_;
  }
  if (registry == nullptr) {
    lance::ProcessRegistryOptions options;
    options.address = options_.address;
    options.takeover_after = options_.takeover_after;
    OG_ASSIGN_OR_RETURN(registry, lance::ProcessRegistry::Start(graph_->store(), options));
    runtime::MutexLock lock(mutex_);
    registry_ = registry;
  }
  TableState newest = table;
  while (true) {
    Result<std::shared_ptr<Lane>> lane = Lane::Claim(*graph_, newest, registry, &backlog_);
    if (lane.ok() || CodeOf(lane.status()) != lance::kLogHoleCode) {
      return lane;
    }
    // What is missing may have been folded and collected by another process since our snapshot.
    OG_ASSIGN_OR_RETURN(const SnapshotRef snapshot, graph_->Refresh());
    const TableState* now = snapshot->FindTable(table.id);
    if (now == nullptr || now->shards == newest.shards) {
      return lane;
    }
    newest = *now;
  }
}

Result<std::shared_ptr<Lane>> IngestCore::LaneOf(const schema::TypeDef& type,
                                                 const std::string& actor) {
  const auto usable = [this, &type]() -> Result<std::shared_ptr<Lane>> {
    runtime::MutexLock lock(mutex_);
    const auto found = lanes_.find(type.table_id);
    if (found == lanes_.end()) {
      return std::shared_ptr<Lane>();
    }
    const Status status = found->second->writer().status();
    if (!status.ok() && IsFenced(status)) {
      return status;  // S9: a fenced owner does not claim back
    }
    return status.ok() ? found->second : std::shared_ptr<Lane>();
  };
  OG_ASSIGN_OR_RETURN(std::shared_ptr<Lane> lane, usable());
  if (lane != nullptr) {
    return lane;
  }
  const Turn turn(claims_);
  OG_ASSIGN_OR_RETURN(lane, usable());
  if (lane != nullptr) {
    return lane;
  }
  OG_RETURN_NOT_OK(graph_->Refresh().status());
  OG_ASSIGN_OR_RETURN(const SnapshotRef snapshot, Enrol(*graph_, type.table_id, actor));
  const TableState* table = snapshot->FindTable(type.table_id);
  OG_CHECK(table != nullptr && table->enrolled());
  {
    runtime::MutexLock lock(mutex_);
    lane =
        std::move(lanes_[type.table_id]);  // a retired one: let it go before its successor claims
    lanes_.erase(type.table_id);
  }
  lane.reset();
  OG_ASSIGN_OR_RETURN(lane, ClaimLane(*table));
  runtime::MutexLock lock(mutex_);
  lanes_[type.table_id] = lane;
  return lane;
}

void IngestCore::SyncLanes(const Snapshot& snapshot) {
  for (const auto& [id, lane] : lanes()) {
    const TableState* table = snapshot.FindTable(id);
    if (table != nullptr && table->shards.contains(lane->shard())) {
      lane->Folded(table->shards.at(lane->shard()));
    }
  }
}

/// Move `replay_after` and give space back (S8, S5). Failures are retried after the next fold.
void IngestCore::Collect(const Snapshot& snapshot) {
  for (const auto& [id, lane] : lanes()) {
    const TableState* table = snapshot.FindTable(id);
    if (table == nullptr || !table->shards.contains(lane->shard())) {
      continue;
    }
    const uint64_t published = table->shards.at(lane->shard());
    if (published <= lane->writer().replay_after()) {
      continue;
    }
    runtime::FailPoint("fold.before_advance");
    if (lane->writer().AdvanceReplayAfter(published).ok()) {
      (void)lane->writer().Collect(published);
    }
  }
}

/// REQUIRES: the fold's turn.
Result<FoldReport> IngestCore::FoldInTurn() {
  for (int tries = 0; tries < kSupersededMax; ++tries) {
    const SnapshotRef snapshot = graph_->snapshot();
    SyncLanes(*snapshot);
    OG_ASSIGN_OR_RETURN(const Cut cut,
                        MakeCut(*graph_, *snapshot, lanes(), options_.fold_cut_bytes_max));
    if (cut.rows() == 0) {
      return FoldReport{};
    }
    runtime::FailPoint("fold.after_cut");
    Result<FoldOutcome> folded = folder_.Fold(cut);
    if (!folded.ok() && CodeOf(folded.status()) == "fold.superseded") {
      OG_RETURN_NOT_OK(graph_->Refresh().status());  // W2: another process was first
      continue;
    }
    OG_RETURN_NOT_OK(folded.status());
    SyncLanes(*folded->snapshot);
    if (!unpromoted_.ok() || !folded->promoted.ok()) {
      unpromoted_ =
          PromoteAll(*graph_).status();  // S8: nothing is collected before its tables are promoted
    }
    if (unpromoted_.ok()) {
      Collect(*folded->snapshot);
    }
    (void)folder_.Maintain(
        folded->touched);  // derived state: what fails is due again after the next fold
    return std::move(folded->report);
  }
  return Conflict("fold.superseded", "other processes fold the same rows faster");
}

void IngestCore::Note(const Result<FoldReport>& report) {
  runtime::MutexLock lock(mutex_);
  last_error_ = report.ok() ? std::string() : report.status().ToString();
  if (!report.ok() || report->commit_id.empty()) {
    return;
  }
  ++fold_count_;
  last_commit_id_ = report->commit_id;
  last_fold_s_ = report->seconds;
  reports_.push_back(*report);
  if (reports_.size() > kReportsMax) {
    reports_.pop_front();
  }
}

Result<FoldReport> IngestCore::FoldOnce() {
  const Turn turn(folds_);
  Result<FoldReport> report = FoldInTurn();
  Note(report);
  if (failing_ || !report.ok()) {
    backlog_.NoteFold(report.ok());
    failing_ = !report.ok();
  }
  if (options_.fold_in_background && report.ok() && !report->commit_id.empty()) {
    sweep_.AfterFold();
  }
  return report;
}

Result<FoldReport> IngestCore::FoldAll() {
  OG_RETURN_NOT_OK(graph_->Refresh().status());
  std::map<TableId, uint64_t> goal;
  for (const auto& [id, lane] : lanes()) {
    (void)lane->writer().WaitSettled();
    OG_RETURN_NOT_OK(lane->CheckLead());
    if (lane->leads()) {
      goal[id] = lane->state().tip;
    }
  }
  const SnapshotRef start = graph_->snapshot();
  for (const auto& [id, table] : start->tables) {
    for (const auto& [shard, position] : table.shards) {
      if (!goal.contains(id)) {  // not ours: what stands in its log now
        OG_ASSIGN_OR_RETURN(const uint64_t tip,
                            lance::LogReader(ShardOf(*graph_, table)).FindTip(position));
        goal[id] = tip - 1;
      }
    }
  }
  FoldReport sum;
  while (true) {
    OG_ASSIGN_OR_RETURN(const FoldReport one, FoldOnce());
    AddTo(one, &sum);
    if (one.commit_id.empty()) {
      return sum;
    }
    // Rows that came after the call are left to the next one.
    bool reached = true;
    const SnapshotRef snapshot = graph_->snapshot();
    for (const auto& [id, table] : snapshot->tables) {
      for (const auto& [shard, position] : table.shards) {
        const auto wanted = goal.find(id);
        reached = reached && (wanted == goal.end() || position >= wanted->second);
      }
    }
    if (reached) {
      return sum;
    }
    if (options_.stop_folding && options_.stop_folding()) {
      return Cancelled("ingest.interrupted", "interrupted while folding; the rest stays pending");
    }
  }
}

/// Take over the shards that a process which is gone has left rows in. One that lives keeps its
/// own.
void IngestCore::AdoptPending() {
  const SnapshotRef snapshot = graph_->snapshot();
  const Result<std::shared_ptr<const schema::Catalog>> catalog = graph_->CatalogOf(*snapshot);
  if (!catalog.ok()) {
    return;
  }
  for (const auto& [id, table] : snapshot->tables) {
    const schema::TypeDef* type = (*catalog)->FindTable(id);
    if (!table.enrolled() || type == nullptr || !type->stream.has_value()) {
      continue;
    }
    bool pending = false;
    (void)lance::LogReader(ShardOf(*graph_, table))
        .ReadAfter(table.shards.begin()->second, [&pending](const lance::LogEntry& entry) {
          pending = entry.rows() > 0;
          return pending ? Cancelled("ingest.seen", "there are rows") : Status::OK();
        });
    if (pending) {
      (void)LaneOf(*type, std::string());  // not ours to have: its owner folds it
    }
  }
}

void IngestCore::RunFolds() {
  AdoptPending();
  runtime::Duration not_before{0};
  runtime::Duration pause = kRetryFirst;
  while (backlog_.WaitForFold(not_before)) {
    const Result<FoldReport> report = FoldOnce();
    backlog_.FoldDone();
    backlog_.SetFolding(report.ok());
    if (report.ok()) {
      not_before = runtime::Duration{0};
      pause = kRetryFirst;
    } else {
      not_before = runtime::MonotonicNow() + pause;
      pause = std::min(pause * 2, kRetryLast);
    }
  }
}

void IngestCore::Stop() {
  backlog_.Stop();
}

Status IngestCore::CloseLanes() {
  sweep_.Stop();
  Status first;
  for (const auto& [id, lane] : lanes()) {
    const Status stopped = lane->writer().Stop();
    if (first.ok() && !stopped.ok() && !IsFenced(stopped)) {
      first = stopped;
    }
  }
  std::shared_ptr<lance::ProcessRegistry> registry;
  {
    runtime::MutexLock lock(mutex_);
    registry = std::move(registry_);
    registry_ = nullptr;
  }
  if (registry != nullptr) {
    const Status stopped = registry->Stop();
    first = first.ok() ? stopped : first;
  }
  return first;
}

std::vector<FoldReport> IngestCore::TakeReports() {
  runtime::MutexLock lock(mutex_);
  std::vector<FoldReport> out(reports_.begin(), reports_.end());
  reports_.clear();
  return out;
}

std::vector<FoldReport> IngestCore::ReportsAfter(uint64_t sequence) const {
  runtime::MutexLock lock(mutex_);
  auto first = reports_.end();  // sequence numbers ascend
  while (first != reports_.begin() && std::prev(first)->sequence > sequence) {
    --first;
  }
  return {first, reports_.end()};
}

void IngestCore::FillStatus(IngestStatus* status) const {
  runtime::MutexLock lock(mutex_);
  status->folds = fold_count_;
  status->last_commit_id = last_commit_id_;
  status->last_fold_s = last_fold_s_;
  status->last_fold_error = last_error_;
}

}  // namespace omnigraph::graph
