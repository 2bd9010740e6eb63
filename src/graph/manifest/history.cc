#include "omnigraph/graph/manifest/history.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {
namespace {

constexpr std::array<std::pair<CommitOp, std::string_view>, 10> kOps = {{
    {CommitOp::kInit, "init"},
    {CommitOp::kLoad, "load"},
    {CommitOp::kMutate, "mutate"},
    {CommitOp::kFold, "fold"},
    {CommitOp::kEnrol, "enrol"},
    {CommitOp::kMerge, "merge"},
    {CommitOp::kSchema, "schema"},
    {CommitOp::kBranch, "branch"},
    {CommitOp::kResume, "resume"},
    {CommitOp::kOptimize, "optimize"},
}};

constexpr std::string_view kCommitRow = "commit";
constexpr std::string_view kTableRow = "table";

/// Columns of HistorySchema().
enum Column : int {
  kId,
  kKind,
  kCommitId,
  kParents,
  kActor,
  kTime,
  kOp,
  kMessage,
  kTableId,
  kType,
  kFromVersion,
  kToVersion,
  kInserted,
  kUpdated,
  kDeleted,
  kDetails,
};

/// Builds history rows. Single-owner.
class RowBuilder {
 public:
  Status AppendCommit(const CommitRecord& commit) {
    OG_RETURN_NOT_OK(AppendShared(commit.id, kCommitRow, commit));
    OG_RETURN_NOT_OK(parents_.Append());
    for (const std::string& parent : commit.parents) {
      OG_RETURN_NOT_OK(parent_.Append(parent));
    }
    OG_RETURN_NOT_OK(actor_.Append(commit.actor));
    OG_RETURN_NOT_OK(op_.Append(CommitOpName(commit.op)));
    OG_RETURN_NOT_OK(message_.Append(commit.message));
    OG_RETURN_NOT_OK(table_id_.AppendNull());
    OG_RETURN_NOT_OK(type_.AppendNull());
    OG_RETURN_NOT_OK(from_version_.AppendNull());
    OG_RETURN_NOT_OK(to_version_.AppendNull());
    int64_t inserted = 0;
    int64_t updated = 0;
    int64_t deleted = 0;
    for (const TableEffect& table : commit.tables) {
      inserted += table.inserted;
      updated += table.updated;
      deleted += table.deleted;
    }
    OG_RETURN_NOT_OK(AppendCounts(inserted, updated, deleted));
    return commit.details.empty() ? details_.AppendNull() : details_.Append(commit.details);
  }

  Status AppendTable(const CommitRecord& commit, const TableEffect& table) {
    const std::string table_id = FormatHex64(table.table_id);
    OG_RETURN_NOT_OK(AppendShared(commit.id + "/" + table_id, kTableRow, commit));
    OG_RETURN_NOT_OK(parents_.AppendNull());
    OG_RETURN_NOT_OK(actor_.AppendNull());
    OG_RETURN_NOT_OK(op_.AppendNull());
    OG_RETURN_NOT_OK(message_.AppendNull());
    OG_RETURN_NOT_OK(table_id_.Append(table_id));
    OG_RETURN_NOT_OK(type_.Append(table.type));
    OG_RETURN_NOT_OK(from_version_.Append(table.from_version));
    OG_RETURN_NOT_OK(to_version_.Append(table.to_version));
    OG_RETURN_NOT_OK(AppendCounts(table.inserted, table.updated, table.deleted));
    return details_.AppendNull();
  }

  Result<std::shared_ptr<arrow::RecordBatch>> Finish() {
    const std::array<arrow::ArrayBuilder*, 16> builders = {
        &id_,       &kind_,    &commit_id_, &parents_, &actor_,        &time_,
        &op_,       &message_, &table_id_,  &type_,    &from_version_, &to_version_,
        &inserted_, &updated_, &deleted_,   &details_};
    const int64_t rows = id_.length();
    std::vector<std::shared_ptr<arrow::Array>> columns;
    for (arrow::ArrayBuilder* builder : builders) {
      OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> column, builder->Finish());
      columns.push_back(std::move(column));
    }
    return arrow::RecordBatch::Make(HistorySchema(), rows, std::move(columns));
  }

 private:
  Status AppendShared(const std::string& id, std::string_view kind, const CommitRecord& commit) {
    OG_RETURN_NOT_OK(id_.Append(id));
    OG_RETURN_NOT_OK(kind_.Append(kind));
    OG_RETURN_NOT_OK(commit_id_.Append(commit.id));
    return time_.Append(commit.time.count());
  }

  Status AppendCounts(int64_t inserted, int64_t updated, int64_t deleted) {
    OG_RETURN_NOT_OK(inserted_.Append(inserted));
    OG_RETURN_NOT_OK(updated_.Append(updated));
    return deleted_.Append(deleted);
  }

  arrow::MemoryPool* pool_ = arrow::default_memory_pool();
  arrow::StringBuilder id_;
  arrow::StringBuilder kind_;
  arrow::StringBuilder commit_id_;
  std::shared_ptr<arrow::StringBuilder> parent_holder_ = std::make_shared<arrow::StringBuilder>();
  arrow::StringBuilder& parent_ = *parent_holder_;
  arrow::ListBuilder parents_{pool_, parent_holder_};
  arrow::StringBuilder actor_;
  arrow::TimestampBuilder time_{HistorySchema()->field(kTime)->type(), pool_};
  arrow::StringBuilder op_;
  arrow::StringBuilder message_;
  arrow::StringBuilder table_id_;
  arrow::StringBuilder type_;
  arrow::UInt64Builder from_version_;
  arrow::UInt64Builder to_version_;
  arrow::Int64Builder inserted_;
  arrow::Int64Builder updated_;
  arrow::Int64Builder deleted_;
  arrow::StringBuilder details_;
};

Status BadHistory(std::string_view what, std::string_view object) {
  return Corruption("manifest.history", fmt::format("a history row is malformed: {}", what),
                    object);
}

/// Typed views of one batch of history rows. Borrowed from the batch.
class RowView {
 public:
  static Result<RowView> Make(const arrow::RecordBatch& batch, std::string_view object) {
    if (!batch.schema()->Equals(*HistorySchema(), false)) {
      return BadHistory("other columns than a history has", object);
    }
    return RowView(batch);
  }

  std::string_view Text(Column column, int64_t row) const {
    const auto& array = static_cast<const arrow::StringArray&>(*batch_->column(column));
    return array.IsNull(row) ? std::string_view() : array.GetView(row);
  }
  uint64_t U64(Column column, int64_t row) const {
    const auto& array = static_cast<const arrow::UInt64Array&>(*batch_->column(column));
    return array.IsNull(row) ? 0 : array.Value(row);
  }
  int64_t I64(Column column, int64_t row) const {
    const auto& array = static_cast<const arrow::Int64Array&>(*batch_->column(column));
    return array.IsNull(row) ? 0 : array.Value(row);
  }
  std::chrono::microseconds Time(int64_t row) const {
    const auto& array = static_cast<const arrow::TimestampArray&>(*batch_->column(kTime));
    return std::chrono::microseconds(array.IsNull(row) ? 0 : array.Value(row));
  }
  std::vector<std::string> Parents(int64_t row) const {
    const auto& lists = static_cast<const arrow::ListArray&>(*batch_->column(kParents));
    std::vector<std::string> out;
    if (lists.IsNull(row)) {
      return out;
    }
    const auto& items = static_cast<const arrow::StringArray&>(*lists.values());
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
      out.emplace_back(items.GetView(i));
    }
    return out;
  }

 private:
  explicit RowView(const arrow::RecordBatch& batch) : batch_(&batch) {}
  const arrow::RecordBatch* batch_;
};

Result<CommitRecord> CommitOfRow(const RowView& rows, int64_t row) {
  CommitRecord out;
  out.id = rows.Text(kCommitId, row);
  out.parents = rows.Parents(row);
  out.actor = rows.Text(kActor, row);
  out.time = rows.Time(row);
  OG_ASSIGN_OR_RETURN(out.op, ParseCommitOp(rows.Text(kOp, row)));
  out.message = rows.Text(kMessage, row);
  out.details = rows.Text(kDetails, row);
  return out;
}

Result<TableEffect> EffectOfRow(const RowView& rows, int64_t row, std::string_view object) {
  TableEffect out;
  const Result<uint64_t> id = ParseHex64(rows.Text(kTableId, row));
  if (!id.ok()) {
    return BadHistory("a table id", object);
  }
  out.table_id = *id;
  out.type = rows.Text(kType, row);
  out.from_version = rows.U64(kFromVersion, row);
  out.to_version = rows.U64(kToVersion, row);
  out.inserted = rows.I64(kInserted, row);
  out.updated = rows.I64(kUpdated, row);
  out.deleted = rows.I64(kDeleted, row);
  return out;
}

Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> ReadFragment(
    const lance::Table& manifest, uint64_t fragment,
    std::optional<std::vector<std::string>> columns) {
  lance::ScanOptions options;
  options.columns = std::move(columns);
  options.fragments = std::vector<uint64_t>{fragment};
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader,
                      manifest.Scan(options));
  return reader->ToRecordBatches();
}

}  // namespace

std::string_view CommitOpName(CommitOp op) {
  for (const auto& [value, name] : kOps) {
    if (value == op) {
      return name;
    }
  }
  return "unknown";
}

Result<CommitOp> ParseCommitOp(std::string_view name) {
  for (const auto& [value, text] : kOps) {
    if (text == name) {
      return value;
    }
  }
  return Invalid("commit.op", fmt::format("`{}` is no kind of commit", name));
}

const std::shared_ptr<arrow::Schema>& HistorySchema() {
  static const std::shared_ptr<arrow::Schema> schema = arrow::schema({
      arrow::field("id", arrow::utf8(), false),
      arrow::field("kind", arrow::utf8(), false),
      arrow::field("commit_id", arrow::utf8(), false),
      arrow::field("parents", arrow::list(arrow::field("item", arrow::utf8()))),
      arrow::field("actor", arrow::utf8()),
      arrow::field("time", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"), false),
      arrow::field("op", arrow::utf8()),
      arrow::field("message", arrow::utf8()),
      arrow::field("table_id", arrow::utf8()),
      arrow::field("type", arrow::utf8()),
      arrow::field("from_version", arrow::uint64()),
      arrow::field("to_version", arrow::uint64()),
      arrow::field("inserted", arrow::int64()),
      arrow::field("updated", arrow::int64()),
      arrow::field("deleted", arrow::int64()),
      arrow::field("details", arrow::utf8()),
  });
  return schema;
}

Result<std::shared_ptr<arrow::RecordBatch>> HistoryRows(const CommitRecord& commit) {
  RowBuilder builder;
  OG_RETURN_NOT_OK(builder.AppendCommit(commit));
  for (const TableEffect& table : commit.tables) {
    OG_RETURN_NOT_OK(builder.AppendTable(commit, table));
  }
  return builder.Finish();
}

Result<std::vector<CommitRecord>> CommitsOf(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, std::string_view object) {
  std::vector<CommitRecord> out;
  for (const auto& batch : batches) {
    OG_ASSIGN_OR_RETURN(const RowView rows, RowView::Make(*batch, object));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      if (rows.Text(kKind, row) == kCommitRow) {
        OG_ASSIGN_OR_RETURN(CommitRecord commit, CommitOfRow(rows, row));
        out.push_back(std::move(commit));
        continue;
      }
      if (out.empty() || out.back().id != rows.Text(kCommitId, row)) {
        return BadHistory("a table's row without its commit", object);
      }
      OG_ASSIGN_OR_RETURN(TableEffect effect, EffectOfRow(rows, row, object));
      out.back().tables.push_back(std::move(effect));
    }
  }
  return out;
}

Result<std::vector<CommitRecord>> ListCommits(const lance::Table& manifest, int64_t limit) {
  std::vector<CommitRecord> out;
  const std::vector<lance::Fragment>& fragments = manifest.manifest().fragments;
  for (auto at = fragments.rbegin();
       at != fragments.rend() && static_cast<int64_t>(out.size()) < limit; ++at) {
    OG_ASSIGN_OR_RETURN(const auto batches, ReadFragment(manifest, at->id, std::nullopt));
    OG_ASSIGN_OR_RETURN(std::vector<CommitRecord> commits,
                        CommitsOf(batches, manifest.stored().object));
    std::move(commits.rbegin(), commits.rend(), std::back_inserter(out));
  }
  if (static_cast<int64_t>(out.size()) > limit) {
    out.resize(static_cast<size_t>(std::max<int64_t>(limit, 0)));
  }
  return out;
}

Result<bool> HistoryHolds(const lance::Table& manifest, std::string_view commit_id,
                          std::string_view stop_at) {
  const std::vector<lance::Fragment>& fragments = manifest.manifest().fragments;
  for (auto at = fragments.rbegin(); at != fragments.rend(); ++at) {
    OG_ASSIGN_OR_RETURN(const auto batches,
                        ReadFragment(manifest, at->id, std::vector<std::string>{"commit_id"}));
    bool stop = false;
    for (const auto& batch : batches) {
      const auto& ids = static_cast<const arrow::StringArray&>(*batch->column(0));
      for (int64_t row = 0; row < ids.length(); ++row) {
        if (ids.GetView(row) == commit_id) {
          return true;
        }
        stop = stop || ids.GetView(row) == stop_at;
      }
    }
    if (stop) {
      return false;
    }
  }
  return false;
}

}  // namespace omnigraph::graph
