/// \file
/// What the index tests share: tables of keys, changes on them, and a model that knows every
/// answer.
#pragma once

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance::testing {

using TablePtr = std::shared_ptr<const Table>;
using Keys = std::vector<std::string>;

inline std::shared_ptr<arrow::Schema> KeySchema() {
  return arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int64())});
}

inline std::shared_ptr<arrow::StringArray> KeyArray(const Keys& keys) {
  arrow::StringBuilder builder;
  OG_CHECK_OK(builder.AppendValues(keys));
  return std::static_pointer_cast<arrow::StringArray>(*builder.Finish());
}

inline std::shared_ptr<arrow::RecordBatch> KeyBatch(const Keys& keys) {
  arrow::Int64Builder numbers;
  for (size_t i = 0; i < keys.size(); ++i) {
    OG_CHECK_OK(numbers.Append(static_cast<int64_t>(i)));
  }
  return arrow::RecordBatch::Make(KeySchema(), static_cast<int64_t>(keys.size()),
                                  {KeyArray(keys), *numbers.Finish()});
}

/// Segments at every commit, small pages, tiers of three.
inline BTreeOptions EagerOptions() {
  return {.page_rows = 16, .uncovered_rows_max = 1, .uncovered_fragments_max = 1, .merge_fan = 3};
}

/// A change that adds these rows in fragments of at most `fragment_rows`.
inline Result<Change> AddKeys(const Table& table, const Keys& keys,
                              uint64_t fragment_rows = 1 << 20) {
  Change change;
  OG_ASSIGN_OR_RETURN(const auto writer, DataWriter::Make(table.location(), table.lance_schema(),
                                                          {.file_rows_max = fragment_rows}));
  OG_RETURN_NOT_OK(writer->Write(*KeyBatch(keys)));
  OG_ASSIGN_OR_RETURN(change.added, writer->Finish());
  return change;
}

inline Result<std::vector<std::optional<uint64_t>>> Look(KeyLookup* lookup, const Table& table,
                                                         const Keys& sorted) {
  const std::vector<std::string_view> views(sorted.begin(), sorted.end());
  return lookup->FindAddresses(table, views);
}

/// Live rows by key, from a scan.
inline std::map<std::string, uint64_t> Scanned(const Table& table) {
  std::map<std::string, uint64_t> rows;
  const auto reader =
      table.Scan({.columns = std::vector<std::string>{"id"}, .with_row_address = true});
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  while (reader.ok()) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_CHECK_OK((*reader)->ReadNext(&batch));
    if (batch == nullptr) {
      break;
    }
    const auto& ids = static_cast<const arrow::StringArray&>(*batch->column(0));
    const auto& addresses = static_cast<const arrow::UInt64Array&>(*batch->column(1));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      EXPECT_TRUE(rows.emplace(ids.GetString(i), addresses.Value(i)).second) << ids.GetView(i);
    }
  }
  return rows;
}

/// Every key of the table and some that it does not have are answered as a scan answers.
inline void ExpectAnswersOfScan(KeyLookup* lookup, const Table& table, const Keys& absent) {
  const std::map<std::string, uint64_t> rows = Scanned(table);
  std::set<std::string> asked(absent.begin(), absent.end());
  for (const auto& [key, address] : rows) {
    asked.insert(key);
  }
  const Keys keys(asked.begin(), asked.end());
  OG_ASSERT_OK_AND_ASSIGN(const auto found, Look(lookup, table, keys));
  ASSERT_EQ(found.size(), keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto at = rows.find(keys[i]);
    const std::optional<uint64_t> expected =
        at == rows.end() ? std::nullopt : std::optional<uint64_t>(at->second);
    EXPECT_EQ(found[i], expected) << keys[i];
  }
}

}  // namespace omnigraph::lance::testing
