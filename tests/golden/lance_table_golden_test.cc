// Tables that official writers made, read to their expected rows.
#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "golden_archive.h"
#include "omnigraph/base/ids.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/row_ids.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/testing/status_matchers.h"
#include "row_json.h"

namespace omnigraph::lance {
namespace {

using omnigraph::testing::JsonOfRow;
using omnigraph::testing::JsonStyle;
using omnigraph::testing::OpenGoldenArchive;
using omnigraph::testing::ReadGoldenArchive;

Result<std::shared_ptr<const Table>> OpenGolden(const std::string& name,
                                                std::optional<uint64_t> version = std::nullopt) {
  OG_ASSIGN_OR_RETURN(const auto store, OpenGoldenArchive("lance/" + name));
  return Table::Open({store, name + "/" + name + ".lance"}, {.version = version});
}

/// All rows as the official client prints them, row id last.
Result<std::vector<std::string>> RowsOf(const Table& table) {
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan({.with_row_id = true}));
  std::vector<std::string> rows;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return rows;
    }
    OG_RETURN_NOT_OK(batch->ValidateFull());
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      rows.push_back(JsonOfRow(*batch, i, 0, batch->num_columns(), JsonStyle::kJavaScript));
    }
  }
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Names of the archives that must read to their expected rows, one a line.
std::vector<std::string> MustRead() {
  std::ifstream lines(OMNIGRAPH_SOURCE_DIR "/tests/golden/data/lance/must_read.txt");
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    names.push_back(line);
  }
  return names;
}

class GoldenTable : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenTable, ReadsToItsExpectedRows) {
  const std::string name = GetParam();
  OG_ASSERT_OK_AND_ASSIGN(const auto files, ReadGoldenArchive("lance/" + name));
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden(name));
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, RowsOf(*table));
  EXPECT_EQ(rows, LinesOf(files.at(name + "/expected.jsonl")));
  EXPECT_EQ(table->CountRows(), rows.size());
  // Rows found by id are the rows scanned.
  OG_ASSERT_OK_AND_ASSIGN(const auto reader,
                          table->Scan({.with_row_id = true, .with_row_address = true}));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (reader->ReadNext(&batch).ok() && batch != nullptr) {
    const int last = batch->num_columns() - 1;
    const auto* ids = batch->column(last - 1)->data()->GetValues<uint64_t>(1);
    const auto* addresses = batch->column(last)->data()->GetValues<uint64_t>(1);
    OG_ASSERT_OK_AND_ASSIGN(const auto found, table->AddressesOfRowIds(std::span(
                                                  ids, static_cast<size_t>(batch->num_rows()))));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      EXPECT_EQ(found[static_cast<size_t>(i)], addresses[i]);
    }
    OG_ASSERT_OK_AND_ASSIGN(
        const auto taken,
        table->Take(std::span(addresses, static_cast<size_t>(batch->num_rows())), {}));
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      EXPECT_EQ(JsonOfRow(*taken, i, 0, taken->num_columns(), JsonStyle::kJavaScript),
                JsonOfRow(*batch, i, 0, taken->num_columns(), JsonStyle::kJavaScript));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Archives, GoldenTable, ::testing::ValuesIn(MustRead()),
                         [](const auto& each) { return each.param; });

TEST(GoldenTable, Version20_IsRefusedByName) {
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden("basic_v20"));
  const auto rows = RowsOf(*table);
  EXPECT_TRUE(IsUnsupported(rows.status())) << rows.status().ToString();
}

/// `id` of every row of a version.
std::vector<int64_t> IdsOf(const std::string& name, uint64_t version) {
  std::vector<int64_t> ids;
  const auto table = OpenGolden(name, version);
  EXPECT_TRUE(table.ok()) << table.status().ToString();
  const auto reader = (*table)->Scan({.columns = {{"id"}}});
  std::shared_ptr<arrow::RecordBatch> batch;
  while ((*reader)->ReadNext(&batch).ok() && batch != nullptr) {
    const auto* values = batch->column(0)->data()->GetValues<int64_t>(1);
    ids.insert(ids.end(), values, values + batch->num_rows());
  }
  return ids;
}

TEST(GoldenOps, AllSixVersions) {
  using Ids = std::vector<int64_t>;
  EXPECT_EQ(IdsOf("ops_v22", 1), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(IdsOf("ops_v22", 2), (Ids{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(IdsOf("ops_v22", 3), (Ids{1, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(IdsOf("ops_v22", 4), (Ids{1, 3, 4, 5, 7, 8, 6}));
  EXPECT_EQ(IdsOf("ops_v22", 5), (Ids{1, 3, 4, 5, 8, 6, 7, 9}));
  EXPECT_EQ(IdsOf("ops_v22", 6), (Ids{1, 3, 4, 5, 8, 6, 7, 9}));
}

TEST(GoldenOps, TransactionsSayWhatHappened) {
  const Operation expected[] = {Operation::kOverwrite, Operation::kAppend, Operation::kDelete,
                                Operation::kUpdate,    Operation::kUpdate, Operation::kMerge};
  for (uint64_t version = 1; version <= 6; ++version) {
    OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden("ops_v22", version));
    OG_ASSERT_OK_AND_ASSIGN(const auto transaction,
                            ReadTransaction(table->location(), table->manifest()));
    ASSERT_TRUE(transaction);
    EXPECT_EQ(transaction->operation, expected[version - 1]);
    EXPECT_EQ(transaction->read_version, version - 1);
    // The file of the transaction holds the same bytes as the manifest.
    OG_ASSERT_OK_AND_ASSIGN(const auto file,
                            table->location().store->Get(table->location().Child(
                                "_transactions/" + table->manifest().transaction_file)));
    EXPECT_EQ(std::string_view(*file), table->manifest().transaction);
  }
}

TEST(GoldenBigDelete, RoaringDeletionFile) {
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden("bigdelete_v22"));
  EXPECT_EQ(table->CountRows(), 5990u);
  const std::vector<int64_t> ids = IdsOf("bigdelete_v22", table->version());
  ASSERT_EQ(ids.size(), 5990u);
  EXPECT_EQ(ids.front(), 21);
  EXPECT_EQ(ids.back(), 11999);
}

TEST(GoldenStableRowIds, VersionsOfRowsFollowThem) {
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden("stable_rowids_v22"));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, table->Scan({.columns = {{"id"}},
                                                          .with_created_version = true,
                                                          .with_updated_version = true}));
  std::vector<std::string> rows;
  std::shared_ptr<arrow::RecordBatch> batch;
  while (reader->ReadNext(&batch).ok() && batch != nullptr) {
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      rows.push_back(JsonOfRow(*batch, i, 0, 3, JsonStyle::kExact));
    }
  }
  const auto row = [](int id, int created, int updated) {
    return "{\"id\":" + std::to_string(id) +
           ",\"_row_created_at_version\":" + std::to_string(created) +
           ",\"_row_last_updated_at_version\":" + std::to_string(updated) + "}";
  };
  EXPECT_EQ(rows, (std::vector<std::string>{row(2, 1, 1), row(4, 1, 1), row(5, 1, 1), row(6, 2, 2),
                                            row(3, 1, 3)}));
}

TEST(GoldenManifest, EveryOfficialManifest_IsKeptThroughReadAndWrite) {
  for (const char* name :
       {"basic_v22", "ops_v22", "stable_rowids_v22", "idx_scalar_v22", "compacted_v22"}) {
    OG_ASSERT_OK_AND_ASSIGN(const auto files, ReadGoldenArchive(std::string("lance/") + name));
    for (const auto& [path, bytes] : files) {
      if (!path.ends_with(".manifest")) {
        continue;
      }
      OG_ASSERT_OK_AND_ASSIGN(const Manifest manifest, DecodeManifest(bytes, path));
      OG_ASSERT_OK_AND_ASSIGN(const Manifest again, DecodeManifest(EncodeManifest(manifest), path));
      EXPECT_EQ(again.fragments, manifest.fragments) << path;
      EXPECT_EQ(again.indices, manifest.indices) << path;
      EXPECT_EQ(again.unknown, manifest.unknown) << path;
      EXPECT_EQ(EncodeManifest(again), EncodeManifest(manifest)) << path;
    }
  }
}

TEST(GoldenManifest, EveryByteFlipped_GivesATypedErrorOrAManifest) {
  OG_ASSERT_OK_AND_ASSIGN(const auto files, ReadGoldenArchive("lance/idx_scalar_v22"));
  for (const auto& [path, bytes] : files) {
    if (!path.ends_with(".manifest")) {
      continue;
    }
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(~bad[i]);
      const auto decoded = DecodeManifest(bad, path);
      EXPECT_TRUE(decoded.ok() || IsCorruption(decoded.status()) || IsUnsupported(decoded.status()))
          << path << " " << i;
      const auto cut = DecodeManifest(std::string_view(bytes).substr(0, i), path);
      EXPECT_FALSE(cut.ok());
    }
  }
}

/// The example of docs/format/lance-table.md: version 2 of a table with one row.
Manifest ExampleManifest() {
  Transaction transaction;
  transaction.read_version = 1;
  transaction.uuid = "00000000-0000-4000-8000-000000000001";
  transaction.operation = Operation::kAppend;
  Fragment fragment;
  DataFileRef file;
  file.path = "a.lance";
  file.field_ids = {0};
  file.column_indices = {0};
  file.size_bytes = 700;
  fragment.files = {file};
  fragment.physical_rows = 1;
  transaction.new_fragments = {fragment};
  fragment.row_ids = RowIdSequence::Range(0, 1).Encode();
  fragment.created_versions = RowVersionSequence::Constant(2, 1).Encode();
  fragment.updated_versions = fragment.created_versions;
  Manifest manifest;
  manifest.schema = std::make_shared<const Schema>(
      std::vector<Field>{Field{
          .id = 0, .parent_id = -1, .name = "id", .logical_type = "string", .nullable = false}},
      std::map<std::string, std::string>{});
  manifest.fragments = {fragment};
  manifest.version = 2;
  manifest.timestamp_us = 1'700'000'000'000'000;
  manifest.reader_flags = manifest.writer_flags = kFlagStableRowIds;
  manifest.max_fragment_id = 0;
  manifest.next_row_id = 1;
  manifest.writer = WriterVersion{.library = "omnigraph", .version = "0.1.0", .unknown = ""};
  manifest.table_metadata = {{"k", "v"}};
  manifest.transaction = EncodeTransaction(transaction);
  return manifest;
}

TEST(GoldenManifest, OurOwnBytes_DoNotChangeUndeclared) {
  std::ifstream file(std::string(OMNIGRAPH_SOURCE_DIR) + "/tests/golden/data/lance-table.manifest",
                     std::ios::binary);
  const std::string golden((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
  const std::string ours = EncodeManifest(ExampleManifest());
  EXPECT_EQ(omnigraph::FormatHex(ours), omnigraph::FormatHex(golden));
  OG_EXPECT_OK(DecodeManifest(golden, "lance-table.manifest"));
}

}  // namespace
}  // namespace omnigraph::lance
