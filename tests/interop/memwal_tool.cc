// A small program around src/lance/memwal for the interop scripts: makes tables with a log, appends
// to it, folds it, claims it.
//
//   memwal_tool FOLDER TABLE create                    a table with three base rows and an index
//   entry for one shard memwal_tool FOLDER TABLE append NAME PUT... [- DELETE...]
//                                                      one entry: rows of these numbers with this
//                                                      name, then tombstones
//   memwal_tool FOLDER TABLE fold POSITION             put the log up to there into the base, move
//   replay_after, collect memwal_tool FOLDER TABLE claim                     claim, replay; print
//   the rows of base and log memwal_tool FOLDER TABLE rows                      the same without a
//   claim memwal_tool FOLDER TABLE shard                     the newest manifest of the shard
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/table_builder.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/memwal/mem_wal_index.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {
namespace {

using TablePtr = std::shared_ptr<const Table>;
using Arguments = std::vector<std::string>;

std::shared_ptr<arrow::Schema> ToolSchema() {
  return arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("name", arrow::utf8()),
       arrow::field("n", arrow::int64(), false), arrow::field("score", arrow::float64()),
       arrow::field("ok", arrow::boolean(), false),
       arrow::field("tags", arrow::list(arrow::field("item", arrow::utf8())), false),
       arrow::field("vec", arrow::fixed_size_list(arrow::field("item", arrow::float32()), 2))});
}

/// Appends rows of the schema above. Columns that are not null get a filler in a tombstone.
class RowMaker {
 public:
  explicit RowMaker(arrow::RecordBatchBuilder* builder) : builder_(builder) {}

  Status Append(int64_t n, const std::string& name, bool tombstone) {
    OG_RETURN_NOT_OK(At<arrow::StringBuilder>(0)->Append(fmt::format("k{:04}", n)));
    OG_RETURN_NOT_OK(tombstone ? At<arrow::StringBuilder>(1)->AppendNull()
                               : At<arrow::StringBuilder>(1)->Append(name));
    OG_RETURN_NOT_OK(At<arrow::Int64Builder>(2)->Append(tombstone ? 0 : n));
    const bool no_score = tombstone || n % 3 == 0;
    OG_RETURN_NOT_OK(no_score ? At<arrow::DoubleBuilder>(3)->AppendNull()
                              : At<arrow::DoubleBuilder>(3)->Append(static_cast<double>(n) * 0.25));
    OG_RETURN_NOT_OK(At<arrow::BooleanBuilder>(4)->Append(!tombstone && n % 2 == 0));
    auto* tags = At<arrow::ListBuilder>(5);
    OG_RETURN_NOT_OK(tags->Append());
    for (int64_t i = 0; !tombstone && i < n % 4; ++i) {
      OG_RETURN_NOT_OK(
          static_cast<arrow::StringBuilder*>(tags->value_builder())->Append(fmt::format("t{}", i)));
    }
    return AppendVector(n, tombstone);
  }

 private:
  Status AppendVector(int64_t n, bool tombstone) {
    auto* vector = At<arrow::FixedSizeListBuilder>(6);
    auto* items = static_cast<arrow::FloatBuilder*>(vector->value_builder());
    if (tombstone) {
      return vector->AppendNull();
    }
    OG_RETURN_NOT_OK(vector->Append());
    OG_RETURN_NOT_OK(items->Append(static_cast<float>(n) * 0.5F));
    return items->Append(-1.0F);
  }

  template <typename Builder>
  Builder* At(int column) {
    return builder_->GetFieldAs<Builder>(column);
  }

  arrow::RecordBatchBuilder* builder_;
};

Result<std::shared_ptr<arrow::RecordBatch>> MakeRows(const std::shared_ptr<arrow::Schema>& schema,
                                                     const std::string& name,
                                                     const std::vector<int64_t>& puts,
                                                     const std::vector<int64_t>& deletes) {
  OG_ASSIGN_OR_RETURN(auto builder,
                      arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()));
  RowMaker maker(builder.get());
  const bool with_tombstones = schema->num_fields() > 7;
  for (const int64_t n : puts) {
    OG_RETURN_NOT_OK(maker.Append(n, name, false));
    if (with_tombstones) {
      OG_RETURN_NOT_OK(builder->GetFieldAs<arrow::BooleanBuilder>(7)->Append(false));
    }
  }
  for (const int64_t n : deletes) {
    OG_RETURN_NOT_OK(maker.Append(n, name, true));
    OG_RETURN_NOT_OK(builder->GetFieldAs<arrow::BooleanBuilder>(7)->Append(true));
  }
  return builder->Flush();
}

ShardLocation ShardOf(const TableLocation& location) {
  return ShardLocation::In(location.store, location.Child(kMemWalFolder), UnshardedShardId());
}

Status Create(const TableLocation& location) {
  OG_ASSIGN_OR_RETURN(TablePtr table, CreateTable(location, ToolSchema(), {.primary_key = {"id"}}));
  OG_ASSIGN_OR_RETURN(auto writer, DataWriter::Make(location, table->lance_schema()));
  OG_ASSIGN_OR_RETURN(const auto rows, MakeRows(table->schema(), "base", {0, 1, 2}, {}));
  OG_RETURN_NOT_OK(writer->Write(*rows));
  Change append;
  OG_ASSIGN_OR_RETURN(append.added, writer->Finish());
  OG_ASSIGN_OR_RETURN(table, CommitOrdinary(table, append));
  Change index;
  index.kind = ChangeKind::kCreateIndex;
  index.new_indices = {MakeMemWalIndex(UnshardedDetails({}), table->version())};
  return CommitOrdinary(table, index).status();
}

std::vector<int64_t> Numbers(const Arguments& arguments, size_t from, size_t to) {
  std::vector<int64_t> numbers;
  for (size_t i = from; i < to; ++i) {
    numbers.push_back(std::stoll(arguments[i]));
  }
  return numbers;
}

Status Append(const TableLocation& location, const Arguments& arguments) {
  OG_ASSIGN_OR_RETURN(const TablePtr table, Table::Open(location));
  const auto dash = std::find(arguments.begin(), arguments.end(), "-");
  const auto puts = static_cast<size_t>(dash - arguments.begin());
  OG_ASSIGN_OR_RETURN(
      const auto rows,
      MakeRows(EntrySchema(*table->schema()), arguments[0], Numbers(arguments, 1, puts),
               Numbers(arguments, std::min(puts + 1, arguments.size()), arguments.size())));
  OG_ASSIGN_OR_RETURN(const auto writer, ShardWriter::Claim(ShardOf(location), {}, nullptr));
  AppendRequest request;
  request.batch = rows;
  request.schema_hash = "0123";
  request.runs = {{.rows = rows->num_rows(),
                   .actor = "interop \"tool\"",
                   .minted = false,
                   .producer = "p",
                   .ranges = {{1, 9}}}};
  OG_ASSIGN_OR_RETURN(const Receipt receipt, writer->AppendAndWait(std::move(request)));
  std::printf(
      "%s\n",
      fmt::format(R"({{"position": {}, "epoch": {}}})", receipt.position, receipt.epoch).c_str());
  return writer->Stop();
}

// The last row per key of base and log, as one row batches. The base counts as older.
using Rows = std::map<std::string, std::shared_ptr<arrow::RecordBatch>>;

Status ApplyBatch(const arrow::RecordBatch& batch, Rows* rows) {
  const auto& ids = static_cast<const arrow::StringArray&>(*batch.GetColumnByName("id"));
  const auto tombstones =
      std::static_pointer_cast<arrow::BooleanArray>(batch.GetColumnByName("_tombstone"));
  for (int64_t i = 0; i < batch.num_rows(); ++i) {
    if (tombstones != nullptr && tombstones->Value(i)) {
      rows->erase(ids.GetString(i));
    } else {
      (*rows)[ids.GetString(i)] = batch.Slice(i, 1);
    }
  }
  return Status::OK();
}

Result<Rows> BaseRows(const Table& table) {
  Rows rows;
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan());
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return rows;
    }
    OG_RETURN_NOT_OK(ApplyBatch(*batch, &rows));
  }
}

std::string JsonOf(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) {
    return "null";
  }
  const auto list = [](const arrow::Array& items) {
    std::string text = "[";
    for (int64_t i = 0; i < items.length(); ++i) {
      text += (i == 0 ? "" : ", ") + JsonOf(items, i);
    }
    return text + "]";
  };
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return "\"" + static_cast<const arrow::StringArray&>(array).GetString(row) + "\"";
    case arrow::Type::INT64:
      return std::to_string(static_cast<const arrow::Int64Array&>(array).Value(row));
    case arrow::Type::DOUBLE:
      return fmt::format("{}", static_cast<const arrow::DoubleArray&>(array).Value(row));
    case arrow::Type::FLOAT:
      return fmt::format("{}", static_cast<const arrow::FloatArray&>(array).Value(row));
    case arrow::Type::BOOL:
      return static_cast<const arrow::BooleanArray&>(array).Value(row) ? "true" : "false";
    case arrow::Type::LIST:
      return list(*static_cast<const arrow::ListArray&>(array).value_slice(row));
    case arrow::Type::FIXED_SIZE_LIST:
      return list(*static_cast<const arrow::FixedSizeListArray&>(array).value_slice(row));
    default:
      return "\"?\"";
  }
}

void Print(const Rows& rows) {
  for (const auto& [id, batch] : rows) {
    std::string text = R"({"view": "log", "row": {)";
    bool first = true;
    for (int i = 0; i < batch->num_columns(); ++i) {
      if (batch->schema()->field(i)->name() != kTombstoneColumn) {
        text += fmt::format("{}\"{}\": {}", first ? "" : ", ", batch->schema()->field(i)->name(),
                            JsonOf(*batch->column(i), 0));
        first = false;
      }
    }
    std::printf("%s}}\n", text.c_str());
  }
}

std::vector<int> FieldIds(const Table& table) {
  std::vector<int> ids;
  for (const Field& field : table.lance_schema()->fields()) {
    if (field.parent_id < 0) {
      ids.push_back(field.id);
    }
  }
  return ids;
}

Status ReadRows(const TableLocation& location, bool claim) {
  OG_ASSIGN_OR_RETURN(const TablePtr table, Table::Open(location));
  OG_ASSIGN_OR_RETURN(Rows rows, BaseRows(*table));
  OG_ASSIGN_OR_RETURN(const auto manifest, ShardManifestChain(ShardOf(location)).ReadNewest());
  // What stands at or below replay_after is in the base, or in a generation that this tool does not
  // read: then take the log whole.
  const bool generations = manifest.has_value() && !manifest->manifest.sstables.empty();
  const uint64_t after = manifest.has_value() && !generations ? manifest->manifest.replay_after : 0;
  const EntryVisitor visit = [&](const LogEntry& entry) -> Status {
    for (const auto& batch : entry.batches) {
      OG_ASSIGN_OR_RETURN(const auto aligned,
                          AlignToBase(*batch, table->schema(), FieldIds(*table)));
      OG_RETURN_NOT_OK(ApplyBatch(*aligned, &rows));
    }
    return Status::OK();
  };
  if (claim) {
    ClaimOptions options;
    options.published = after;
    options.spec_id = manifest.has_value() ? manifest->manifest.spec_id : 1;
    OG_RETURN_NOT_OK(ShardWriter::Claim(ShardOf(location), options, visit).status());
  } else {
    OG_RETURN_NOT_OK(LogReader(ShardOf(location)).ReadAfter(after, visit).status());
  }
  Print(rows);
  return Status::OK();
}

// As the graph does it: the rows become an ordinary commit, then the owner moves replay_after, then
// entries go.
Status FoldLog(const TableLocation& location, uint64_t position) {
  OG_ASSIGN_OR_RETURN(const TablePtr table, Table::Open(location));
  OG_ASSIGN_OR_RETURN(const auto writer, ShardWriter::Claim(ShardOf(location), {}, nullptr));
  Rows rows;
  std::map<std::string, bool> touched;
  const EntryVisitor visit = [&](const LogEntry& entry) -> Status {
    for (const auto& batch : entry.batches) {
      OG_ASSIGN_OR_RETURN(const auto aligned,
                          AlignToBase(*batch, table->schema(), FieldIds(*table)));
      const auto& ids = static_cast<const arrow::StringArray&>(*aligned->column(0));
      for (int64_t i = 0; i < ids.length(); ++i) {
        touched[ids.GetString(i)] = true;
      }
      OG_RETURN_NOT_OK(ApplyBatch(*aligned, &rows));
    }
    return Status::OK();
  };
  const LogReader log(ShardOf(location));
  OG_RETURN_NOT_OK(log.ReadRange(writer->replay_after(), position, visit));
  Change change;
  OG_ASSIGN_OR_RETURN(const auto reader,
                      table->Scan({.columns = {{"id"}}, .with_row_address = true}));
  for (std::shared_ptr<arrow::RecordBatch> batch;;) {
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      break;
    }
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      if (touched.contains(
              static_cast<const arrow::StringArray&>(*batch->column(0)).GetString(i))) {
        change.deleted_addresses.push_back(
            static_cast<const arrow::UInt64Array&>(*batch->column(1)).Value(i));
      }
    }
  }
  OG_ASSIGN_OR_RETURN(auto data, DataWriter::Make(location, table->lance_schema()));
  for (const auto& [id, row] : rows) {
    OG_ASSIGN_OR_RETURN(const auto base_row, row->RemoveColumn(row->num_columns() - 1));
    OG_RETURN_NOT_OK(data->Write(*base_row));
  }
  OG_ASSIGN_OR_RETURN(change.added, data->Finish());
  OG_RETURN_NOT_OK(CommitOrdinary(table, change).status());
  OG_RETURN_NOT_OK(writer->AdvanceReplayAfter(position));
  OG_RETURN_NOT_OK(writer->Collect(position).status());
  return writer->Stop();
}

Status PrintShard(const TableLocation& location) {
  OG_ASSIGN_OR_RETURN(const auto stored, ShardManifestChain(ShardOf(location)).ReadNewest());
  if (!stored.has_value()) {
    return NotFound("memwal.no_shard", "read the shard's manifest: there is none");
  }
  const ShardManifest& manifest = stored->manifest;
  std::printf(
      "%s\n",
      fmt::format(
          R"({{"version": {}, "epoch": {}, "replay_after": {}, "sstables": {}, "owner": {}}})",
          manifest.version, manifest.writer_epoch, manifest.replay_after, manifest.sstables.size(),
          manifest.owner.has_value())
          .c_str());
  return Status::OK();
}

Status Run(const Arguments& arguments) {
  OG_ASSIGN_OR_RETURN(auto store, store::OpenStore(arguments.at(0)));
  const TableLocation location{store, arguments.at(1)};
  const std::string& command = arguments.at(2);
  const Arguments rest(arguments.begin() + 3, arguments.end());
  if (command == "create") {
    return Create(location);
  }
  if (command == "append") {
    return Append(location, rest);
  }
  if (command == "fold") {
    return FoldLog(location, std::stoull(rest.at(0)));
  }
  if (command == "claim" || command == "rows") {
    return ReadRows(location, command == "claim");
  }
  if (command == "shard") {
    return PrintShard(location);
  }
  return Invalid("tool.command", "unknown command " + command);
}

}  // namespace
}  // namespace omnigraph::lance

int main(int count, char** values) {
  const std::vector<std::string> arguments(values + 1, values + count);
  const omnigraph::Status status =
      arguments.size() < 3 ? omnigraph::Invalid("tool.usage", "see the head of memwal_tool.cc")
                           : omnigraph::lance::Run(arguments);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
