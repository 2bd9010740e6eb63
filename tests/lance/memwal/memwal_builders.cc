#include "memwal_builders.h"

#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/util/key_value_metadata.h>

namespace omnigraph::lance::testing {

std::shared_ptr<arrow::Schema> BaseSchema() {
  static const std::shared_ptr<arrow::Schema> schema = arrow::schema(
      {arrow::field(
           "id", arrow::utf8(), false,
           arrow::KeyValueMetadata::Make({"lance-schema:unenforced-primary-key:position"}, {"1"})),
       arrow::field("value", arrow::utf8(), true)},
      arrow::KeyValueMetadata::Make({"maker"}, {"tests"}));
  return schema;
}

std::shared_ptr<arrow::Schema> RowSchema() {
  static const std::shared_ptr<arrow::Schema> schema = EntrySchema(*BaseSchema());
  return schema;
}

std::shared_ptr<arrow::RecordBatch> MakeRows(const std::vector<TestRow>& rows) {
  arrow::StringBuilder ids;
  arrow::StringBuilder values;
  arrow::BooleanBuilder tombstones;
  for (const TestRow& row : rows) {
    OG_CHECK_OK(ids.Append(row.id));
    OG_CHECK_OK(row.tombstone ? values.AppendNull() : values.Append(row.value));
    OG_CHECK_OK(tombstones.Append(row.tombstone));
  }
  return arrow::RecordBatch::Make(
      RowSchema(), static_cast<int64_t>(rows.size()),
      {ids.Finish().ValueOrDie(), values.Finish().ValueOrDie(), tombstones.Finish().ValueOrDie()});
}

std::shared_ptr<arrow::RecordBatch> MakeRows(const std::string& prefix, int64_t count) {
  std::vector<TestRow> rows;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back({prefix + std::to_string(i), "v"});
  }
  return MakeRows(rows);
}

std::vector<TestRow> RowsOf(const arrow::RecordBatch& batch) {
  const auto& ids = static_cast<const arrow::StringArray&>(*batch.GetColumnByName("id"));
  const auto& values = static_cast<const arrow::StringArray&>(*batch.GetColumnByName("value"));
  const auto& tombstones =
      static_cast<const arrow::BooleanArray&>(*batch.GetColumnByName("_tombstone"));
  std::vector<TestRow> rows;
  for (int64_t i = 0; i < batch.num_rows(); ++i) {
    rows.push_back(
        {ids.GetString(i), values.IsNull(i) ? "" : values.GetString(i), tombstones.Value(i)});
  }
  return rows;
}

std::vector<TestRow> RowsOf(const LogEntry& entry) {
  std::vector<TestRow> rows;
  for (const std::shared_ptr<arrow::RecordBatch>& batch : entry.batches) {
    for (TestRow& row : RowsOf(*batch)) {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

AppendRequest Request(std::shared_ptr<arrow::RecordBatch> batch, const std::string& actor) {
  AppendRequest request;
  request.runs = {EntryRun{
      .rows = batch->num_rows(), .actor = actor, .minted = false, .producer = {}, .ranges = {}}};
  request.batch = std::move(batch);
  request.schema_hash = "5ce3a";
  return request;
}

AppendRequest Request(const std::string& id, const std::string& value) {
  return Request(MakeRows({{id, value}}));
}

ShardLocation TestShard(std::shared_ptr<store::ObjectStore> store) {
  return ShardLocation::In(std::move(store), "t.lance/_mem_wal", UnshardedShardId());
}

std::vector<LogEntry> ReadLog(const ShardLocation& location, uint64_t after) {
  std::vector<LogEntry> entries;
  const Result<LogTail> tail = LogReader(location).ReadAfter(after, [&](const LogEntry& entry) {
    entries.push_back(entry);
    return Status::OK();
  });
  OG_CHECK_OK(tail);
  return entries;
}

std::vector<std::string> IdsInLog(const ShardLocation& location, uint64_t after) {
  std::vector<std::string> ids;
  for (const LogEntry& entry : ReadLog(location, after)) {
    for (const TestRow& row : RowsOf(entry)) {
      ids.push_back(row.id);
    }
  }
  return ids;
}

SettlePolicy QuickSettle() {
  return {.tries = 4,
          .pause = std::chrono::microseconds(10),
          .pause_max = std::chrono::microseconds(100)};
}

ClaimOptions QuickClaim() {
  ClaimOptions options;
  options.settle = QuickSettle();
  return options;
}

}  // namespace omnigraph::lance::testing
