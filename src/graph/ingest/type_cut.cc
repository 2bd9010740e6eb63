#include "type_cut.h"

#include <arrow/array/util.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/graph/write/row_parser.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"

namespace omnigraph::graph {
namespace {

using write::LineError;

/// The runs of an entry of ours; none for another's.
std::span<const lance::EntryRun> RunsOf(const lance::LogEntry& entry) {
  return entry.mark.has_value() && entry.batches.size() == 1
             ? std::span<const lance::EntryRun>(entry.mark->runs)
             : std::span<const lance::EntryRun>();
}

/// Opens the batches of one type. Single-owner.
class TypeCutBuilder {
 public:
  TypeCutBuilder(Graph* graph, std::shared_ptr<const schema::Catalog> catalog,
                 const Snapshot* snapshot)
      : graph_(*graph), catalog_(std::move(catalog)), snapshot_(*snapshot) {}

  Status Add(const CutShard& shard, TypeCut* out);

 private:
  Status AddTrusted(const lance::LogEntry& entry, TypeCut* out);
  Status AddValidated(const lance::LogEntry& entry, TypeCut* out);
  Result<std::shared_ptr<arrow::RecordBatch>> ToCurrentColumns(const lance::LogEntry& entry,
                                                               const arrow::RecordBatch& batch,
                                                               const TypeCut& cut);
  Status Revalidate(const lance::LogEntry& entry, const arrow::RecordBatch& batch, TypeCut* out);
  void RejectEarly(const lance::LogEntry& entry, int64_t number, std::string_view id,
                   std::string row, std::string_view code, std::string message, TypeCut* out);
  void Append(CutBatch batch, const std::vector<uint8_t>* minted, TypeCut* out);

  Graph& graph_;
  std::shared_ptr<const schema::Catalog> catalog_;
  const Snapshot& snapshot_;
  std::unique_ptr<write::RowParser> parser_;
  std::unique_ptr<write::RowSet> rows_;
  std::string line_;
};

Status TypeCutBuilder::Add(const CutShard& shard, TypeCut* out) {
  out->shard = shard.shard;
  for (const lance::LogEntry& entry : shard.entries) {
    if (entry.is_sentinel) {
      continue;
    }
    const bool trusted =
        entry.ours && entry.mark.has_value() && entry.mark->schema == snapshot_.schema_hash;
    OG_RETURN_NOT_OK(trusted ? AddTrusted(entry, out) : AddValidated(entry, out));
  }
  return Status::OK();
}

void TypeCutBuilder::Append(CutBatch batch, const std::vector<uint8_t>* minted, TypeCut* out) {
  batch.first = out->rows;
  const int64_t rows = batch.rows->num_rows();
  if (minted != nullptr) {
    out->minted.insert(out->minted.end(), minted->begin(), minted->end());
  } else {
    for (const lance::EntryRun& run : batch.runs) {
      out->minted.insert(out->minted.end(), static_cast<size_t>(run.rows), run.minted ? 1 : 0);
      out->all_minted = out->all_minted && run.minted;
    }
  }
  out->minted.resize(static_cast<size_t>(out->rows + rows), 0);
  out->rows += rows;
  out->batches.push_back(std::move(batch));
}

Status TypeCutBuilder::AddTrusted(const lance::LogEntry& entry, TypeCut* out) {
  for (const auto& batch : entry.batches) {
    const arrow::Schema& base = *out->base->schema();
    bool fits = batch->num_columns() == base.num_fields() + 1;
    for (int i = 0; fits && i < base.num_fields(); ++i) {
      fits = batch->column(i)->type()->Equals(*base.field(i)->type());
    }
    if (!fits) {
      return Corruption("ingest.entry_shape",
                        fmt::format("entry {} of `{}` does not have the columns of the schema that "
                                    "it names",
                                    entry.position, out->type->name),
                        out->state->path());
    }
    CutBatch cut{.rows = batch, .position = entry.position, .epoch = entry.epoch};
    cut.acked_at_ms = entry.mark->at_ms;
    if (entry.batches.size() == 1) {
      cut.runs = entry.mark->runs;
    }
    out->all_minted = out->all_minted && !cut.runs.empty();
    Append(std::move(cut), nullptr, out);
  }
  return Status::OK();
}

/// The rows under the columns of today: by property id where the entry names its schema, else by
/// field id or name.
Result<std::shared_ptr<arrow::RecordBatch>> TypeCutBuilder::ToCurrentColumns(
    const lance::LogEntry& entry, const arrow::RecordBatch& batch, const TypeCut& cut) {
  if (!entry.ours || !entry.mark.has_value() || entry.mark->schema.empty()) {
    std::vector<int> field_ids;
    for (const lance::Field* field : cut.base->lance_schema()->TopLevelFields()) {
      field_ids.push_back(field->id);
    }
    return lance::AlignToBase(batch, cut.base->schema(), field_ids);
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> then,
                      graph_.CatalogOfHash(entry.mark->schema));
  const schema::TypeDef* old = then->FindTable(cut.type->table_id);
  if (old == nullptr || old->incarnation != cut.type->incarnation) {
    return Invalid("type.dropped", fmt::format("`{}` was dropped after this row", cut.type->name));
  }
  const std::shared_ptr<arrow::Schema> now = schema::ArrowLogSchemaOf(*cut.type);
  std::vector<std::shared_ptr<arrow::Array>> columns(static_cast<size_t>(now->num_fields()));
  for (const char* name :
       {schema::kIdColumn, schema::kSrcColumn, schema::kDstColumn, schema::kTombstoneColumn}) {
    if (const int at = now->GetFieldIndex(name); at >= 0) {
      columns[static_cast<size_t>(at)] = batch.GetColumnByName(name);
    }
  }
  for (size_t i = 0; i < cut.type->properties.size(); ++i) {
    const int at = schema::ColumnOf(*cut.type, static_cast<int>(i));
    for (size_t j = 0; j < old->properties.size(); ++j) {
      if (old->properties[j].id == cut.type->properties[i].id) {
        columns[static_cast<size_t>(at)] =
            batch.column(schema::ColumnOf(*old, static_cast<int>(j)));
      }
    }
  }
  for (int i = 0; i < now->num_fields(); ++i) {
    auto& column = columns[static_cast<size_t>(i)];
    if (column == nullptr || !column->type()->Equals(*now->field(i)->type())) {
      OG_ASSIGN_OR_RETURN(column, arrow::MakeArrayOfNull(now->field(i)->type(), batch.num_rows()));
    }
  }
  return arrow::RecordBatch::Make(now, batch.num_rows(), std::move(columns));
}

/// `number`: of the row within its batch.
void TypeCutBuilder::RejectEarly(const lance::LogEntry& entry, int64_t number, std::string_view id,
                                 std::string row, std::string_view code, std::string message,
                                 TypeCut* out) {
  Reject reject;
  reject.id = runtime::NewUlid();
  reject.state = "open";
  reject.acked_at = std::chrono::milliseconds(entry.mark.has_value() ? entry.mark->at_ms : 0);
  reject.rejected_at = runtime::WallNow();
  reject.branch = snapshot_.branch;
  reject.kind = schema::TypeKindName(out->type->kind);
  reject.type = out->type->name;
  reject.entity_id = id;
  reject.row = std::move(row);
  reject.code = code;
  reject.message = std::move(message);
  if (const lance::EntryRun* run = RunOf(RunsOf(entry), number); run != nullptr) {
    reject.actor = run->actor;
    reject.producer = run->producer;
  }
  reject.table_id = out->type->table_id;
  reject.shard = out->shard;
  reject.epoch = entry.epoch;
  reject.position = entry.position;
  out->early.push_back(std::move(reject));
}

/// Every row through the one validator, as if it had just arrived.
Status TypeCutBuilder::Revalidate(const lance::LogEntry& entry, const arrow::RecordBatch& batch,
                                  TypeCut* out) {
  if (parser_ == nullptr) {
    OG_ASSIGN_OR_RETURN(parser_, write::RowParser::Make(catalog_));
    rows_ = std::make_unique<write::RowSet>(catalog_);
  }
  const auto& ids = static_cast<const arrow::StringArray&>(*batch.column(0));
  std::vector<lance::EntryRun> runs;  // of the rows that pass
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    if (ids.IsNull(row)) {
      line_.clear();
      write::AppendColumnsJson(batch, row, &line_);
      RejectEarly(entry, row, "", line_, "row.id_missing", "the row has no id", out);
      continue;
    }
    line_.clear();
    OG_RETURN_NOT_OK(write::AppendRowJson(*out->type, batch, row, &line_));
    const size_t size = line_.size();
    line_.append(write::kLinePadding, ' ');
    write::AdmittedRow admitted;
    LineError error;
    const write::Line line{.text = std::string_view(line_).substr(0, size), .number = row + 1};
    if (!parser_->Parse(line, rows_.get(), &admitted, &error)) {
      RejectEarly(entry, row, ids.GetView(row), line_.substr(0, size), error.code, error.message,
                  out);
      continue;
    }
    if (const lance::EntryRun* run = RunOf(RunsOf(entry), row); run != nullptr) {
      runs.push_back({.rows = 1, .actor = run->actor, .producer = run->producer});
    }
  }
  OG_ASSIGN_OR_RETURN(write::RowBatch checked, rows_->at(out->type_index).Finish());
  if (checked.batch == nullptr || checked.batch->num_rows() == 0) {
    return Status::OK();
  }
  CutBatch cut{.rows = checked.batch, .position = entry.position, .epoch = entry.epoch};
  cut.runs = std::move(runs);
  cut.acked_at_ms = entry.mark.has_value() ? entry.mark->at_ms : 0;
  out->all_minted = false;
  const std::vector<uint8_t> minted(static_cast<size_t>(checked.batch->num_rows()), 0);
  Append(std::move(cut), &minted, out);
  return Status::OK();
}

Status TypeCutBuilder::AddValidated(const lance::LogEntry& entry, TypeCut* out) {
  for (const auto& batch : entry.batches) {
    const Result<std::shared_ptr<arrow::RecordBatch>> current =
        ToCurrentColumns(entry, *batch, *out);
    if (current.ok()) {
      OG_RETURN_NOT_OK(Revalidate(entry, **current, out));
      continue;
    }
    if (!IsInvalid(current.status())) {
      return current.status();
    }
    // Its log entry is collected after this fold: the reject is all that stays of the row.
    const std::shared_ptr<arrow::Array> ids = batch->GetColumnByName(schema::kIdColumn);
    const bool has_ids = ids != nullptr && ids->type_id() == arrow::Type::STRING;
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      const std::string_view id = has_ids && ids->IsValid(row)
                                      ? static_cast<const arrow::StringArray&>(*ids).GetView(row)
                                      : std::string_view();
      line_.clear();
      write::AppendColumnsJson(*batch, row, &line_);
      RejectEarly(entry, row, id, line_, CodeOf(current.status()), current.status().message(), out);
    }
  }
  return Status::OK();
}

}  // namespace

const lance::EntryRun* RunOf(std::span<const lance::EntryRun> runs, int64_t row) {
  for (const lance::EntryRun& run : runs) {
    if (row < run.rows) {
      return &run;
    }
    row -= run.rows;
  }
  return nullptr;
}

const CutBatch& TypeCut::BatchOf(int64_t row) const {
  const auto after =
      std::upper_bound(batches.begin(), batches.end(), row,
                       [](int64_t number, const CutBatch& batch) { return number < batch.first; });
  return *(after - 1);
}

Status TypeCut::OpenBase(Graph& graph) {
  if (base == nullptr) {
    OG_ASSIGN_OR_RETURN(base, graph.OpenTable(*state));
  }
  return Status::OK();
}

void TypeCut::RejectRow(int64_t row, std::string_view code, std::string message) {
  verdicts[static_cast<size_t>(row)] = Verdict::kRejected;
  rejects.push_back(RowReject{row, code, std::move(message)});
}

Result<std::vector<TypeCut>> OpenCut(Graph& graph, const Snapshot& snapshot, const Cut& cut) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      graph.CatalogOf(snapshot));
  TypeCutBuilder builder(&graph, catalog, &snapshot);
  std::vector<TypeCut> out;
  for (int index = 0; index < static_cast<int>(catalog->types().size()); ++index) {
    const schema::TypeDef& type = catalog->type(index);
    TypeCut made;
    made.type = &type;
    made.type_index = index;
    made.state = snapshot.FindTable(type.table_id);
    if (made.state == nullptr) {
      return Corruption(
          "manifest.snapshot",
          fmt::format("the schema has `{}`, the snapshot has no table for it", type.name),
          kManifestPath);
    }
    made.catalog = catalog;
    for (const CutShard& shard : cut.shards) {
      if (shard.table_id == type.table_id) {
        OG_RETURN_NOT_OK(made.OpenBase(graph));
        OG_RETURN_NOT_OK(builder.Add(shard, &made));
      }
    }
    made.verdicts.assign(static_cast<size_t>(made.rows), Verdict::kOpen);
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace omnigraph::graph
