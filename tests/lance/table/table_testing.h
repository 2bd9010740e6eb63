/// \file
/// What the table tests share: a small schema, batches of it, and rows as text.
#pragma once

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance::testing {

using TablePtr = std::shared_ptr<const Table>;

/// `id` utf8 not null, `n` int64.
inline std::shared_ptr<arrow::Schema> SmallSchema() {
  return arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int64())});
}

/// Rows `first` .. `first + count - 1`: id "k<i>", n = i.
inline std::shared_ptr<arrow::RecordBatch> SmallBatch(int64_t first, int64_t count) {
  arrow::StringBuilder ids;
  arrow::Int64Builder numbers;
  for (int64_t i = first; i < first + count; ++i) {
    OG_CHECK_OK(ids.Append("k" + std::to_string(i)));
    OG_CHECK_OK(numbers.Append(i));
  }
  return arrow::RecordBatch::Make(SmallSchema(), count, {*ids.Finish(), *numbers.Finish()});
}

inline TableLocation InMemory() {
  return {std::make_shared<store::MemoryStore>(), "t.lance"};
}

/// New fragments with these rows, one per batch.
inline Result<std::vector<NewFragment>> WriteRows(
    const Table& table, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  std::vector<NewFragment> fragments;
  for (const auto& batch : batches) {
    OG_ASSIGN_OR_RETURN(const auto writer,
                        DataWriter::Make(table.location(), table.lance_schema()));
    OG_RETURN_NOT_OK(writer->Write(*batch));
    OG_ASSIGN_OR_RETURN(std::vector<NewFragment> written, writer->Finish());
    fragments.insert(fragments.end(), written.begin(), written.end());
  }
  return fragments;
}

inline Result<Change> AppendChange(const Table& table, int64_t first, int64_t count) {
  Change change;
  OG_ASSIGN_OR_RETURN(change.added, WriteRows(table, {SmallBatch(first, count)}));
  return change;
}

inline Change DeleteChange(std::vector<uint64_t> addresses) {
  Change change;
  change.deleted_addresses = std::move(addresses);
  std::ranges::sort(change.deleted_addresses);
  return change;
}

/// A new table with rows 0 .. rows - 1 in one fragment, committed as version 2.
inline Result<TablePtr> TableWithRows(const TableLocation& location, int64_t rows,
                                      const CreateOptions& options = {}) {
  OG_ASSIGN_OR_RETURN(const TablePtr created, CreateTable(location, SmallSchema(), options));
  OG_ASSIGN_OR_RETURN(const Change change, AppendChange(*created, 0, rows));
  return CommitOrdinary(created, change);
}

/// Every row as its columns joined by spaces, in scan order.
inline Result<std::vector<std::string>> Rows(const Table& table, const ScanOptions& options = {}) {
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan(options));
  std::vector<std::string> rows;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return rows;
    }
    OG_RETURN_NOT_OK(batch->ValidateFull());
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      std::string row;
      for (const auto& column : batch->columns()) {
        OG_ASSIGN_OR_RETURN(const auto value, column->GetScalar(i));
        row += (row.empty() ? "" : " ") + value->ToString();
      }
      rows.push_back(std::move(row));
    }
  }
}

/// The `n` of every row, in scan order.
inline std::vector<int64_t> Numbers(const Table& table) {
  std::vector<int64_t> numbers;
  const auto rows = Rows(table, {.columns = std::vector<std::string>{"n"}});
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  if (rows.ok()) {
    for (const std::string& row : *rows) {
      numbers.push_back(std::stoll(row));
    }
  }
  return numbers;
}

inline std::vector<int64_t> Range(int64_t first, int64_t end) {
  std::vector<int64_t> numbers;
  for (int64_t i = first; i < end; ++i) {
    numbers.push_back(i);
  }
  return numbers;
}

}  // namespace omnigraph::lance::testing
