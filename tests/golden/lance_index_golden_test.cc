// BTREE segments that official writers made, or that were made by hand, before our reader; and our
// own bytes, which must not change unnoticed.
#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "btree_segment.h"
#include "golden_archive.h"
#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using omnigraph::testing::OpenGoldenArchive;
using omnigraph::testing::ReadGoldenArchive;

Result<std::shared_ptr<const Table>> OpenGolden(const std::string& name) {
  OG_ASSIGN_OR_RETURN(const auto store, OpenGoldenArchive("lance/" + name));
  return Table::Open({store, name + "/" + name + ".lance"});
}

class GoldenBTree : public ::testing::TestWithParam<const char*> {};

// The `id` of these tables is int64; the segment holds each row once, in order of its value.
TEST_P(GoldenBTree, HoldsEveryRowInOrder) {
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden(GetParam()));
  const auto segments = table->IndexSegments("id_idx");
  ASSERT_EQ(segments.size(), 1);
  ASSERT_TRUE(IsBTreeOn(*segments[0], 0));
  OG_ASSERT_OK_AND_ASSIGN(const auto segment, BTreeSegment::Open(table->location(), *segments[0]));
  EXPECT_EQ(segment->bloom_bytes(), 0);
  const auto count = static_cast<int64_t>(table->CountRows());
  ASSERT_EQ(static_cast<int64_t>(segment->rows()), count);
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, segment->ReadRows(0, count));
  const auto& values = static_cast<const arrow::Int64Array&>(*rows->column(0));
  const auto& ids = static_cast<const arrow::UInt64Array&>(*rows->column(1));
  std::map<uint64_t, int64_t> scanned;
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, table->Scan({.columns = std::vector<std::string>{"id"},
                                                          .with_row_id = true}));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (reader->ReadNext(&batch).ok() && batch != nullptr) {
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      scanned[static_cast<const arrow::UInt64Array&>(*batch->column(1)).Value(i)] =
          static_cast<const arrow::Int64Array&>(*batch->column(0)).Value(i);
    }
  }
  ASSERT_EQ(static_cast<int64_t>(scanned.size()), count);
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(scanned.at(ids.Value(i)), values.Value(i));
    EXPECT_TRUE(i == 0 || values.Value(i - 1) <= values.Value(i));
  }
  const auto& mins = static_cast<const arrow::Int64Array&>(*segment->lookup().column(0));
  const auto& maxes = static_cast<const arrow::Int64Array&>(*segment->lookup().column(1));
  EXPECT_EQ(mins.Value(0), values.Value(0));
  EXPECT_EQ(maxes.Value(segment->pages() - 1), values.Value(count - 1));
  OG_EXPECT_ERROR(segment->CheckUtf8(), ErrorKind::kCorruption, "index.btree");
}

INSTANTIATE_TEST_SUITE_P(Archives, GoldenBTree,
                         ::testing::Values("idx_scalar_v22", "hand_btree_v22"));

class GoldenLookup : public ::testing::TestWithParam<const char*> {};

// Segments of pylance 12 hold stable row ids (version 0), those of 14 addresses (version 1).
TEST_P(GoldenLookup, FindsEveryRowThroughAnOfficialIndex) {
  const std::string name = GetParam();
  OG_ASSERT_OK_AND_ASSIGN(const auto table, OpenGolden(name));
  EXPECT_EQ(table->IndexSegments("id_idx").at(0)->index_version, name == "btree_addresses" ? 1 : 0);
  OG_ASSERT_OK_AND_ASSIGN(const auto files, ReadGoldenArchive("lance/" + name));
  std::map<std::string, uint64_t> expected;
  std::istringstream text(files.at(name + "/expected.jsonl"));
  for (std::string line; std::getline(text, line);) {
    const size_t id = line.find("golden-");
    const size_t address = line.find("\"address\": ") + 11;
    expected[line.substr(id, 13)] = std::stoull(line.substr(address));
  }
  ASSERT_EQ(expected.size(), 308);
  // All keys that ever were, and one that never was: numbers 7 and 208 are deleted.
  std::map<std::string, bool> asked = {{"golden-zzz", true}};
  for (int i = 0; i < 310; ++i) {
    const std::string digits = std::to_string(i * 7919 % 1009);
    asked["golden-" + std::string(6 - digits.size(), '0') + digits] = true;
  }
  std::vector<std::string_view> keys;
  for (const auto& [key, unused] : asked) {
    keys.push_back(key);
  }
  KeyLookup lookup;
  OG_ASSERT_OK_AND_ASSIGN(const auto found, lookup.FindAddresses(*table, keys));
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto at = expected.find(std::string(keys[i]));
    EXPECT_EQ(found[i], at == expected.end() ? std::nullopt : std::optional(at->second)) << keys[i];
  }
  EXPECT_EQ(lookup.stats().fragments_scanned, 1) << "ten rows were appended later";
}

INSTANTIATE_TEST_SUITE_P(Archives, GoldenLookup,
                         ::testing::Values("btree_row_ids", "btree_addresses"));

// docs/format/lance-btree.md, Example.
TEST(GoldenSegment, OursHasTheBytesOfTheExample) {
  arrow::StringBuilder keys;
  OG_ASSERT_OK(keys.AppendValues({"carol", "alice", "bob"}));
  BTreeBuilder builder(2);
  builder.Add(std::static_pointer_cast<arrow::StringArray>(*keys.Finish()), 5);
  const TableLocation location = {std::make_shared<store::MemoryStore>(), "t.lance"};
  OG_ASSERT_OK_AND_ASSIGN(const IndexMetadata index, builder.Finish(location, {}));
  for (const std::string name : {"page_data", "page_lookup"}) {
    OG_ASSERT_OK_AND_ASSIGN(
        const auto bytes,
        location.store->Get("t.lance/_indices/" + index.uuid.ToString() + "/" + name + ".lance"));
    std::ifstream golden(
        std::string(OMNIGRAPH_SOURCE_DIR) + "/tests/golden/data/lance-btree." + name,
        std::ios::binary);
    const std::string expected{std::istreambuf_iterator<char>(golden),
                               std::istreambuf_iterator<char>()};
    EXPECT_TRUE(bytes->ToString() == expected)
        << name << ": what it is now lies in the build folder";
    if (bytes->ToString() != expected) {
      std::ofstream(std::string(OMNIGRAPH_BINARY_DIR) + "/lance-btree." + name, std::ios::binary)
          << bytes->ToString();
    }
  }
}

}  // namespace
}  // namespace omnigraph::lance
