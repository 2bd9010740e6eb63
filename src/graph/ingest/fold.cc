#include "fold.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/manifest/json_text.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"

namespace omnigraph::graph {
namespace {

using internal::JsonObject;

constexpr std::string_view kFoldActor = "omnigraph:ingest";

/// The rows of a batch that become visible, under the table's own schema; nullptr: none.
Result<std::shared_ptr<arrow::RecordBatch>> Puts(const TypeCut& cut, const CutBatch& batch) {
  const int64_t rows = batch.rows->num_rows();
  const Verdict* verdicts = cut.verdicts.data() + batch.first;
  const int64_t puts = std::count(verdicts, verdicts + rows, Verdict::kPut);
  if (puts == 0) {
    return nullptr;
  }
  std::vector<std::shared_ptr<arrow::Array>> columns = batch.rows->columns();
  columns.pop_back();  // `_tombstone`
  auto all = arrow::RecordBatch::Make(cut.base->schema(), rows, std::move(columns));
  if (puts == rows) {
    return all;
  }
  arrow::BooleanBuilder mask;
  OG_RETURN_NOT_OK(mask.Reserve(rows));
  for (int64_t i = 0; i < rows; ++i) {
    mask.UnsafeAppend(verdicts[i] == Verdict::kPut);
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> keep, mask.Finish());
  static const Status compute = arrow::compute::Initialize();
  OG_RETURN_NOT_OK(compute);
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  OG_ASSIGN_OR_RETURN(const arrow::Datum kept,
                      arrow::compute::Filter(arrow::Datum(all), arrow::Datum(keep),
                                             arrow::compute::FilterOptions::Defaults(), &context));
  return kept.record_batch();
}

/// Rows of a type by their end.
CounterDelta CountersOf(const TypeCut& cut) {
  CounterDelta out;
  out.table_id = cut.type->table_id;
  out.acked = static_cast<uint64_t>(cut.acked());
  out.rejected = cut.rejects.size() + cut.early.size();
  for (const Verdict verdict : cut.verdicts) {
    OG_CHECK(verdict != Verdict::kOpen);
    out.visible += verdict == Verdict::kPut || verdict == Verdict::kDelete ? 1 : 0;
    out.superseded += verdict == Verdict::kSuperseded ? 1 : 0;
  }
  return out;
}

Result<Reject> MakeReject(const TypeCut& cut, const RowReject& what, const Snapshot& snapshot) {
  const CutBatch& batch = cut.BatchOf(what.row);
  const int64_t row = what.row - batch.first;
  Reject out;
  out.id = runtime::NewUlid();
  out.state = "open";
  out.acked_at = std::chrono::milliseconds(batch.acked_at_ms);
  out.rejected_at = runtime::WallNow();
  out.branch = snapshot.branch;
  out.kind = schema::TypeKindName(cut.type->kind);
  out.type = cut.type->name;
  out.entity_id = batch.ids().GetView(row);
  OG_RETURN_NOT_OK(write::AppendRowJson(*cut.type, *batch.rows, row, &out.row));
  out.code = what.code;
  out.message = what.message;
  if (const lance::EntryRun* run = RunOf(batch.runs, row); run != nullptr) {
    out.actor = run->actor;
    out.producer = run->producer;
  }
  out.table_id = cut.type->table_id;
  out.shard = cut.shard;
  out.epoch = batch.epoch;
  out.position = batch.position;
  return out;
}

std::string CountsJson(const std::map<std::string, int64_t>& counts) {
  JsonObject out;
  for (const auto& [key, count] : counts) {
    out.Number(key, static_cast<uint64_t>(count));
  }
  return out.Finish();
}

}  // namespace

/// Everything that one attempt at a fold made.
struct Folder::Plan {
  std::string commit_id;
  SnapshotRef snapshot;
  std::vector<TypeCut> types;
  std::set<TableId> read;
  std::vector<TableChange> changes;
  std::vector<CounterDelta> counters;
  std::vector<Reject> rejects;
  std::vector<std::string> pause;
  std::map<std::string, int64_t> actors;
  FoldReport report;

  std::string Details() const {
    return JsonObject()
        .Raw("actors", CountsJson(actors))
        .Number("rows", static_cast<uint64_t>(report.rows))
        .Number("superseded", static_cast<uint64_t>(report.superseded))
        .Raw("rejected", CountsJson(report.rejected_by_code))
        .Finish();
  }
  std::string Actor() const {
    return actors.size() == 1 && !actors.begin()->first.empty() ? actors.begin()->first
                                                                : std::string(kFoldActor);
  }
  void MoveInto(Proposal* proposal);
};

void Folder::Plan::MoveInto(Proposal* proposal) {
  proposal->base = snapshot;
  proposal->commit.actor = Actor();
  proposal->commit.details = Details();
  proposal->commit.message = fmt::format("fold {} rows", report.rows);
  proposal->changes = changes;
  proposal->tables_read = read;
  proposal->counters = counters;
  proposal->pause = pause;
}

/// Write a type's rows and note what changes.
Status Folder::AddType(TypeCut* type, Plan* plan) {
  for (const CutBatch& batch : type->batches) {
    for (const lance::EntryRun& run : batch.runs) {
      plan->actors[run.actor] += run.rows;
    }
  }
  auto change = std::make_shared<lance::Change>();
  if (type->inserted + type->updated > 0) {
    OG_ASSIGN_OR_RETURN(
        const std::unique_ptr<lance::DataWriter> writer,
        lance::DataWriter::Make(type->base->location(), type->base->lance_schema()));
    for (const CutBatch& batch : type->batches) {
      OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> puts, Puts(*type, batch));
      if (puts != nullptr) {
        OG_RETURN_NOT_OK(writer->Write(*puts));
      }
    }
    OG_ASSIGN_OR_RETURN(change->added, writer->Finish());
    runtime::FailPoint("fold.after_data");
  }
  change->deleted_addresses = std::move(type->deleted_addresses);
  if (!change->empty()) {
    plan->changes.push_back(TableChange{.table_id = type->type->table_id,
                                        .base = type->base,
                                        .change = std::move(change),
                                        .inserted = type->inserted,
                                        .updated = type->updated,
                                        .deleted = type->deleted});
  }
  if (type->acked() == 0) {
    return Status::OK();
  }
  const CounterDelta counters = CountersOf(*type);
  plan->counters.push_back(counters);
  plan->report.rows += static_cast<int64_t>(counters.acked);
  plan->report.visible += static_cast<int64_t>(counters.visible);
  plan->report.superseded += static_cast<int64_t>(counters.superseded);
  plan->report.rejected += static_cast<int64_t>(counters.rejected);
  for (const RowReject& reject : type->rejects) {
    OG_ASSIGN_OR_RETURN(Reject row, MakeReject(*type, reject, *plan->snapshot));
    plan->rejects.push_back(std::move(row));
  }
  std::move(type->early.begin(), type->early.end(), std::back_inserter(plan->rejects));
  const bool halts =
      type->type->stream.has_value() && type->type->stream->on_reject == schema::OnReject::kHalt;
  if (halts && counters.rejected > 0) {
    plan->pause.push_back(type->type->name);  // F5
  }
  return Status::OK();
}

Status Folder::AddRejects(const SnapshotRef& snapshot, Plan* plan) {
  for (Reject& reject : plan->rejects) {
    reject.commit_id = plan->commit_id;
    ++plan->report.rejected_by_code[reject.code];
  }
  if (plan->rejects.empty()) {
    return Status::OK();
  }
  const TableState* state = snapshot->Rejects();
  if (state == nullptr) {
    return Corruption("manifest.snapshot", "the snapshot names no rejects table", kManifestPath);
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> base, graph_.OpenTable(*state));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, RejectsBatch(plan->rejects));
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<lance::DataWriter> writer,
                      lance::DataWriter::Make(base->location(), base->lance_schema()));
  OG_RETURN_NOT_OK(writer->Write(*batch));
  auto change = std::make_shared<lance::Change>();
  OG_ASSIGN_OR_RETURN(change->added, writer->Finish());
  plan->changes.push_back(TableChange{.table_id = state->id,
                                      .base = base,
                                      .change = std::move(change),
                                      .inserted = static_cast<int64_t>(plan->rejects.size())});
  return Status::OK();
}

Status Folder::MakePlan(const SnapshotRef& snapshot, const Cut& cut, Plan* plan) {
  const std::string commit_id = std::move(plan->commit_id);
  *plan = Plan();
  plan->commit_id = commit_id;
  plan->snapshot = snapshot;
  caches_.DropMoved();
  OG_ASSIGN_OR_RETURN(plan->types, OpenCut(graph_, *snapshot, cut));
  OG_RETURN_NOT_OK(ResolveCut(graph_, &plan->types, &caches_, &plan->read));
  for (TypeCut& type : plan->types) {
    if (type.acked() > 0 || !type.deleted_addresses.empty()) {
      OG_RETURN_NOT_OK(AddType(&type, plan));
    }
    plan->report.cascaded_edges += type.cascaded;
  }
  return AddRejects(snapshot, plan);
}

Status Folder::AdvanceCaches(const Plan& plan, const Receipt& receipt) {
  for (const TypeCut& type : plan.types) {
    const auto after = receipt.tables.find(type.type->table_id);
    if (after == receipt.tables.end()) {
      continue;
    }
    KeyChanges changes;
    changes.erased = type.erased;
    changes.rows_added = type.inserted + type.updated;
    const bool hashed = type.type->is_node() || !type.hashes.empty();
    for (size_t row = 0; hashed && row < type.verdicts.size(); ++row) {
      if (type.verdicts[row] != Verdict::kPut) {
        continue;
      }
      if (type.hashes[row] == Hash128{}) {  // a minted edge: its id was never hashed
        changes.put.clear();
        break;
      }
      changes.put.push_back(type.hashes[row]);
    }
    OG_RETURN_NOT_OK(
        caches_.keys.Advance(type.type->table_id, type.base->version(), *after->second, changes));
  }
  for (const TableId id : caches_.moved) {
    const TableState* state = receipt.snapshot->FindTable(id);
    caches_.Keep(id, state == nullptr ? 0 : state->version);
  }
  caches_.moved.clear();
  return Status::OK();
}

Result<FoldOutcome> Folder::Fold(const Cut& cut) {
  const runtime::Duration start = runtime::MonotonicNow();
  Plan plan;
  plan.commit_id = runtime::NewUlid();
  OG_RETURN_NOT_OK(MakePlan(graph_.snapshot(), cut, &plan));
  Proposal proposal;
  proposal.commit.id = plan.commit_id;
  proposal.commit.op = CommitOp::kFold;
  for (const CutShard& shard : cut.shards) {
    if (shard.to > shard.from) {
      proposal.watermarks.push_back(Watermark{shard.table_id, shard.shard, shard.from, shard.to});
    }
  }
  plan.MoveInto(&proposal);
  proposal.recheck = [this, &cut, &plan](const SnapshotRef& newest, Proposal* stale) {
    OG_RETURN_NOT_OK(MakePlan(newest, cut, &plan));  // C1: the checks run again
    plan.MoveInto(stale);
    return Status::OK();
  };
  Result<Receipt> receipt = graph_.publisher().Publish(std::move(proposal));
  if (!receipt.ok()) {
    caches_.DropMoved();
    return receipt.status();
  }
  OG_RETURN_NOT_OK(AdvanceCaches(plan, *receipt));
  FoldOutcome out;
  out.report = std::move(plan.report);
  out.report.commit_id = receipt->commit_id;
  out.report.sequence = receipt->sequence;
  out.report.seconds = std::chrono::duration<double>(runtime::MonotonicNow() - start).count();
  out.snapshot = receipt->snapshot;
  out.promoted = receipt->promoted;
  for (const auto& [id, table] : receipt->tables) {
    out.touched.push_back(id);
  }
  return out;
}

}  // namespace omnigraph::graph
