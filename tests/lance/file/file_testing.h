/// \file
/// What the tests of data files share: columns from JSON, encoding into a store in memory, reading
/// back.
#pragma once

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance::testing {

inline constexpr char kPath[] = "data/test.lance";

/// A batch of one column `c` from JSON.
inline std::shared_ptr<arrow::RecordBatch> BatchOf(const std::shared_ptr<arrow::DataType>& type,
                                                   const std::string& json, bool nullable = true) {
  const auto array = arrow::json::ArrayFromJSONString(type, json).ValueOrDie();
  return arrow::RecordBatch::Make(arrow::schema({arrow::field("c", type, nullable)}),
                                  array->length(), {array});
}

inline Result<EncodedFile> Encode(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches,
                                  FileWriterOptions options = {}) {
  OG_ASSIGN_OR_RETURN(const Schema schema, Schema::FromArrow(*batches[0]->schema()));
  OG_ASSIGN_OR_RETURN(auto writer, FileWriter::Make(schema, options));
  for (const auto& batch : batches) {
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
  return writer->Finish();
}

inline std::string BytesOf(const EncodedFile& file) {
  std::string bytes;
  for (const auto& part : file.parts) {
    bytes += part->ToString();
  }
  return bytes;
}

/// A store in memory that holds `bytes` at kPath.
inline std::shared_ptr<store::ObjectStore> StoreOf(std::string bytes) {
  auto store = std::make_shared<store::MemoryStore>();
  EXPECT_TRUE(store->Put(kPath, store::BytesOf(std::move(bytes))).ok());
  return store;
}

/// All rows of all columns, in batches of `batch_rows`, each validated.
inline Result<std::shared_ptr<arrow::Table>> ReadAll(const FileReader& reader,
                                                     int64_t batch_rows = 1 << 20) {
  OG_ASSIGN_OR_RETURN(const auto columns, reader.RequestColumns());
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (int64_t row = 0; row == 0 || row < reader.rows(); row += batch_rows) {
    OG_ASSIGN_OR_RETURN(auto batch,
                        reader.ReadRange(columns, row, std::min(batch_rows, reader.rows() - row)));
    OG_RETURN_NOT_OK(batch->ValidateFull());
    batches.push_back(std::move(batch));
  }
  return arrow::Table::FromRecordBatches(batches);
}

/// Every `step`-th row.
inline Result<std::shared_ptr<arrow::Table>> TakeEvery(const FileReader& reader, int64_t step) {
  OG_ASSIGN_OR_RETURN(const auto columns, reader.RequestColumns());
  std::vector<uint64_t> rows;
  for (int64_t row = 0; row < reader.rows(); row += step) {
    rows.push_back(static_cast<uint64_t>(row));
  }
  OG_ASSIGN_OR_RETURN(auto batch, reader.Take(columns, rows));
  OG_RETURN_NOT_OK(batch->ValidateFull());
  return arrow::Table::FromRecordBatches({batch});
}

/// Every `step`-th row of a table in memory.
inline std::shared_ptr<arrow::Table> EveryRow(const arrow::Table& table, int64_t step) {
  std::vector<std::shared_ptr<arrow::Table>> rows;
  for (int64_t row = 0; row < table.num_rows(); row += step) {
    rows.push_back(table.Slice(row, 1));
  }
  return arrow::ConcatenateTables(rows).ValueOrDie();
}

/// Columns hold equal values (names and nullability of nested items aside).
inline void ExpectSameValues(const arrow::Table& want, const arrow::Table& got) {
  ASSERT_EQ(want.num_columns(), got.num_columns());
  ASSERT_EQ(want.num_rows(), got.num_rows());
  for (int i = 0; i < want.num_columns(); ++i) {
    const auto combined_want = want.column(i)->chunks().size() == 1
                                   ? want.column(i)->chunk(0)
                                   : arrow::Concatenate(want.column(i)->chunks()).ValueOrDie();
    const auto combined_got = got.column(i)->chunks().size() == 1
                                  ? got.column(i)->chunk(0)
                                  : arrow::Concatenate(got.column(i)->chunks()).ValueOrDie();
    EXPECT_TRUE(combined_want->Equals(combined_got))
        << want.schema()->field(i)->ToString() << "\n"
        << combined_want->Slice(0, 40)->ToString() << "\n"
        << combined_got->Slice(0, 40)->ToString();
  }
}

}  // namespace omnigraph::lance::testing
