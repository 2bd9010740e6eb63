/// \file
/// What tests of the log share: a base schema, batches of rows, requests, a shard in memory.
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::lance::testing {

/// One row of the test schema: key, value, and whether it is a delete.
struct TestRow {
  std::string id;
  std::string value;
  bool tombstone = false;
  bool operator==(const TestRow&) const = default;
};

/// `id` utf8 not null (primary key), `value` utf8, with schema metadata.
std::shared_ptr<arrow::Schema> BaseSchema();
/// The same with `_tombstone`; always the same object.
std::shared_ptr<arrow::Schema> RowSchema();

std::shared_ptr<arrow::RecordBatch> MakeRows(const std::vector<TestRow>& rows);
/// `count` rows with ids `<prefix><i>`.
std::shared_ptr<arrow::RecordBatch> MakeRows(const std::string& prefix, int64_t count);
std::vector<TestRow> RowsOf(const arrow::RecordBatch& batch);
std::vector<TestRow> RowsOf(const LogEntry& entry);

AppendRequest Request(std::shared_ptr<arrow::RecordBatch> batch,
                      const std::string& actor = "tester");
AppendRequest Request(const std::string& id, const std::string& value = "v");

/// A shard below `t.lance/_mem_wal`.
ShardLocation TestShard(std::shared_ptr<store::ObjectStore> store);

/// Every whole entry of a log from position 1.
std::vector<LogEntry> ReadLog(const ShardLocation& location, uint64_t after = 0);
/// Ids of the rows of the data entries, in log order.
std::vector<std::string> IdsInLog(const ShardLocation& location, uint64_t after = 0);

/// A policy for tests on the real clock: no pauses worth noticing.
SettlePolicy QuickSettle();
ClaimOptions QuickClaim();

}  // namespace omnigraph::lance::testing
