// BTREE segments: what is written, when, and how segments merge.
#include "omnigraph/lance/index/btree.h"

#include <arrow/array/util.h>
#include <arrow/memory_pool.h>
#include <arrow/scalar.h>

#include "btree_format.h"
#include "btree_segment.h"
#include "index_testing.h"
#include "key_collector.h"
#include "merge_plan.h"
#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {
namespace {

using testing::AddKeys;
using testing::EagerOptions;
using testing::ExpectAnswersOfScan;
using testing::KeyArray;
using testing::KeyBatch;
using testing::Keys;
using testing::KeySchema;
using testing::TablePtr;

TableLocation InMemory() {
  return {std::make_shared<store::MemoryStore>(), "t.lance"};
}

Result<TablePtr> NewTable(const TableLocation& location, bool stable_row_ids = true) {
  return CreateTable(location, KeySchema(),
                     {.primary_key = {"id"}, .stable_row_ids = stable_row_ids});
}

Keys NumberedKeys(int64_t first, int64_t count) {
  Keys keys;
  for (int64_t i = first; i < first + count; ++i) {
    std::string digits = std::to_string(i);
    keys.push_back("key-" + std::string(8 - digits.size(), '0') + digits);
  }
  return keys;
}

/// All rows of a segment as (key, id).
std::vector<std::pair<std::string, uint64_t>> RowsOf(const BTreeSegment& segment) {
  const auto batch = segment.ReadRows(0, static_cast<int64_t>(segment.rows()));
  EXPECT_TRUE(batch.ok()) << batch.status().ToString();
  std::vector<std::pair<std::string, uint64_t>> rows;
  const auto& keys = static_cast<const arrow::StringArray&>(*(*batch)->column(0));
  const auto& ids = static_cast<const arrow::UInt64Array&>(*(*batch)->column(1));
  for (int64_t i = 0; i < keys.length(); ++i) {
    rows.emplace_back(keys.GetString(i), ids.Value(i));
  }
  return rows;
}

Result<std::shared_ptr<const BTreeSegment>> OpenOnly(const Table& table) {
  OG_CHECK(table.manifest().indices.size() == 1);
  return BTreeSegment::Open(table.location(), table.manifest().indices[0]);
}

TEST(BTreeBuilder, WhenKeysComeInAnyOrder_WritesThemSortedWithTheirIds) {
  std::mt19937_64 random(7);
  for (const size_t count : {1u, 15u, 16u, 17u, 1000u}) {
    Keys keys;
    std::vector<std::pair<std::string, uint64_t>> expected;
    BTreeBuilder builder(16);
    for (size_t i = 0; i < count; ++i) {
      // Long common prefixes, repeats, empty keys, bytes above 0x7f.
      std::string key = i % 50 == 7 ? "" : "p" + std::to_string(random() % (count * 2));
      if (i % 5 == 0) {
        key += "\xc3\xa9" + std::string(random() % 20, 'x');
      }
      expected.emplace_back(key, 100 + i);
      keys.push_back(std::move(key));
    }
    const auto all = KeyArray(keys);
    builder.Add(std::static_pointer_cast<arrow::StringArray>(
                    all->Slice(0, static_cast<int64_t>(count / 3))),
                100);
    builder.Add(
        std::static_pointer_cast<arrow::StringArray>(all->Slice(static_cast<int64_t>(count / 3))),
        100 + count / 3);
    const TableLocation location = InMemory();
    OG_ASSERT_OK_AND_ASSIGN(const IndexMetadata index,
                            builder.Finish(location, {.field_id = 3, .fragment_ids = {4, 9}}));
    OG_ASSERT_OK_AND_ASSIGN(const auto segment, BTreeSegment::Open(location, index));
    std::ranges::stable_sort(expected, {}, &std::pair<std::string, uint64_t>::first);
    EXPECT_EQ(RowsOf(*segment), expected);
    EXPECT_EQ(segment->pages(), (count + 15) / 16);
    OG_ASSERT_OK_AND_ASSIGN(const auto filter, segment->ReadBloom());
    EXPECT_EQ(filter->bytes(), segment->bloom_bytes());
  }
}

TEST(BTreeBuilder, DescribesTheSegmentAsOfficialWritersDo) {
  const TableLocation location = InMemory();
  BTreeBuilder builder;
  builder.Add(KeyArray({"a", "b"}), 0);
  OG_ASSERT_OK_AND_ASSIGN(const IndexMetadata index,
                          builder.Finish(location, {.dataset_version = 5, .fragment_ids = {0}}));
  EXPECT_EQ(index.name, "id_idx");
  EXPECT_EQ(index.details_type_url, "/lance.table.BTreeIndexDetails");
  EXPECT_TRUE(index.details_value.empty());
  EXPECT_EQ(index.index_version, 0);
  EXPECT_EQ(index.dataset_version, 5);
  EXPECT_TRUE(index.created_at_ms.has_value());
  ASSERT_EQ(index.files.size(), 2);
  for (const IndexFileRef& file : index.files) {
    OG_ASSERT_OK_AND_ASSIGN(
        const auto info,
        location.store->Head("t.lance/_indices/" + index.uuid.ToString() + "/" + file.path));
    EXPECT_EQ(info.size, file.size_bytes);
  }
  OG_ASSERT_OK_AND_ASSIGN(
      const auto file,
      FileReader::Open(location.store,
                       "t.lance/_indices/" + index.uuid.ToString() + "/page_lookup.lance"));
  EXPECT_EQ(file->schema().metadata().at("batch_size"), "256");
  EXPECT_EQ(file->schema().metadata().at("range_partitioned"), "false");
  EXPECT_EQ(file->version(), (std::pair<uint16_t, uint16_t>(2, 2)));
}

/// One row of 0, or rows of null, which take no more bytes than one.
arrow::ArrayVector EqualRows(const arrow::Schema& schema, int64_t rows) {
  arrow::ArrayVector columns;
  for (const auto& field : schema.fields()) {
    const bool null = rows > 1 || field->type()->id() == arrow::Type::STRING;
    columns.push_back(null ? *arrow::MakeArrayOfNull(field->type(), rows)
                           : *arrow::MakeArrayFromScalar(**arrow::MakeScalar(field->type(), 0), 1));
  }
  return columns;
}

/// A segment of equal rows and a page table of equal rows.
class SegmentOfEqualRows : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::shared_ptr<arrow::Schema>& schema, int64_t rows,
           const std::string& batch_size = "") {
    OG_ASSERT_OK_AND_ASSIGN(Schema lance_schema, Schema::FromArrow(*schema));
    OG_ASSERT_OK_AND_ASSIGN(const auto writer, FileWriter::Make(std::move(lance_schema)));
    if (!batch_size.empty()) {
      writer->SetSchemaMetadata(kBatchSizeKey, batch_size);
    }
    OG_ASSERT_OK(writer->Write(*arrow::RecordBatch::Make(schema, rows, EqualRows(*schema, rows))));
    OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, writer->Finish());
    ASSERT_LT(file.size, 4096);
    OG_ASSERT_OK(store_->PutIfAbsent("t.lance/_indices/" + index_.uuid.ToString() + "/" + name,
                                     file.parts, store::PutStrength::kOrdered));
    index_.files.push_back({name, file.size});
  }
  void PutData(int64_t rows) {
    Put("page_data.lance",
        arrow::schema(
            {arrow::field("values", arrow::utf8()), arrow::field("ids", arrow::uint64())}),
        rows);
  }
  void PutLookup(int64_t rows, const std::string& batch_size) {
    Put("page_lookup.lance",
        arrow::schema({arrow::field("min", arrow::utf8()), arrow::field("max", arrow::utf8()),
                       arrow::field("null_count", arrow::uint32()),
                       arrow::field("page_idx", arrow::uint32())}),
        rows, batch_size);
  }
  /// Open, and see that no rows were read: those of the tests take 16 bytes each.
  Status Open() {
    const int64_t before = arrow::default_memory_pool()->total_bytes_allocated();
    const Status status = BTreeSegment::Open({store_, "t.lance"}, index_).status();
    EXPECT_LT(arrow::default_memory_pool()->total_bytes_allocated() - before, 1 << 20);
    return status;
  }

  const std::shared_ptr<store::ObjectStore> store_ = std::make_shared<store::MemoryStore>();
  IndexMetadata index_;
};

TEST_F(SegmentOfEqualRows, MorePagesThanItsRowsFill_AreNotRead) {
  PutData(10);
  PutLookup(1'000'000, "256");
  OG_EXPECT_ERROR(Open(), ErrorKind::kCorruption, "index.btree");
}

TEST_F(SegmentOfEqualRows, MorePagesThanItsTableHasBitsFor_AreNotRead) {
  PutData(1'000'000);
  PutLookup(1'000'000, "1");
  OG_EXPECT_ERROR(Open(), ErrorKind::kCorruption, "index.btree");
}

TEST_F(SegmentOfEqualRows, PagesOfMoreRowsThanAreReadAtOnce_AreRefused) {
  PutData(1'000'000);
  PutLookup(1, "1048577");
  OG_EXPECT_ERROR(Open(), ErrorKind::kUnsupported, "index.btree");
  IndexMetadata smaller;
  smaller.uuid.bytes[0] = 1;
  std::swap(index_, smaller);
  PutData(1'000'000);
  PutLookup(1, "1048576");
  OG_EXPECT_OK(Open());
}

TEST(BTreeBuilder, RefusesNulls) {
  arrow::StringBuilder keys;
  OG_ASSERT_OK(keys.Append("a"));
  OG_ASSERT_OK(keys.AppendNull());
  BTreeBuilder builder;
  builder.Add(std::static_pointer_cast<arrow::StringArray>(*keys.Finish()), 0);
  OG_EXPECT_ERROR(builder.Finish(InMemory(), {}), ErrorKind::kUnsupported, "index.null_key");
}

// The ids that a commit assigns are those that the segment was built for, in both kinds of tables.
TEST(AddBTreeSegment, HoldsTheIdsThatTheCommitAssigns) {
  for (const bool stable : {true, false}) {
    for (const bool given : {true, false}) {
      OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory(), stable));
      OG_ASSERT_OK_AND_ASSIGN(Change first, AddKeys(*table, NumberedKeys(0, 10)));
      OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, first));
      Keys keys = NumberedKeys(10, 70);
      std::ranges::reverse(keys);
      OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, keys, 32));
      ASSERT_EQ(change.added.size(), 3);
      const auto array = KeyArray(keys);
      const arrow::ArrayVector arrays = {array->Slice(0, 5), array->Slice(5)};
      OG_ASSERT_OK(
          AddBTreeSegment(*table, given ? arrays : arrow::ArrayVector(), &change, EagerOptions()));
      OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, change));
      ASSERT_EQ(table->manifest().indices.size(), 1);
      // The first, uncovered fragment came along.
      EXPECT_EQ(table->manifest().indices[0].fragment_ids, (std::vector<uint32_t>{0, 1, 2, 3}));
      OG_ASSERT_OK_AND_ASSIGN(const auto segment, OpenOnly(*table));
      const auto rows = testing::Scanned(*table);
      ASSERT_EQ(RowsOf(*segment).size(), rows.size());
      for (const auto& [key, id] : RowsOf(*segment)) {
        OG_ASSERT_OK_AND_ASSIGN(const auto found, table->AddressesOfRowIds(std::span(&id, 1)));
        EXPECT_EQ(found[0], rows.at(key)) << key;
      }
    }
  }
}

TEST(AddBTreeSegment, WhileLittleIsUncovered_PutsNothing) {
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable({counting, "t.lance"}));
  const BTreeOptions options{.uncovered_rows_max = 100, .uncovered_fragments_max = 4};
  for (int round = 0; round < 4; ++round) {
    OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, NumberedKeys(round * 10, 10)));
    counting->Reset();
    OG_ASSERT_OK(AddBTreeSegment(*table, {}, &change, options));
    EXPECT_EQ(counting->counts().put_calls(), round == 3 ? 2 : 0) << round;
    OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, change));
  }
  ASSERT_EQ(table->manifest().indices.size(), 1);
  EXPECT_EQ(table->manifest().indices[0].fragment_ids.size(), 4);
  OG_ASSERT_OK_AND_ASSIGN(Change many, AddKeys(*table, NumberedKeys(1000, 100)));
  OG_ASSERT_OK(AddBTreeSegment(*table, {}, &many, options));
  EXPECT_EQ(many.new_indices.size(), 1);
  OG_ASSERT_OK(AddBTreeSegment(*table, {}, &many, options));
  EXPECT_EQ(many.new_indices.size(), 1) << "a second call has nothing to do";
}

TEST(AddBTreeSegment, RefusesKeysThatAreNotTheAddedRows) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, NewTable(InMemory()));
  OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, NumberedKeys(0, 10)));
  OG_EXPECT_ERROR(AddBTreeSegment(*table, {KeyArray({"a"})}, &change, EagerOptions()),
                  ErrorKind::kInvalid, "index.keys");
  OG_EXPECT_ERROR(
      AddBTreeSegment(*table, {KeyBatch(NumberedKeys(0, 10))->column(1)}, &change, EagerOptions()),
      ErrorKind::kInvalid, "index.keys");
  BTreeOptions other = EagerOptions();
  other.column = "n";
  OG_EXPECT_ERROR(AddBTreeSegment(*table, {}, &change, other), ErrorKind::kInvalid, "index.column");
}

// The number of segments and the bytes per row grow with the logarithm of the rows.
TEST(AddBTreeSegment, MergesInTiers) {
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable({counting, "t.lance"}));
  const BTreeOptions options = {
      .page_rows = 64, .uncovered_rows_max = 1, .uncovered_fragments_max = 1, .merge_fan = 4};
  size_t most = 0;
  uint64_t index_bytes = 0;
  constexpr int kCommits = 200;
  constexpr int64_t kRows = 500;
  for (int commit = 0; commit < kCommits; ++commit) {
    OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, NumberedKeys(commit * kRows, kRows)));
    counting->Reset();
    OG_ASSERT_OK(AddBTreeSegment(*table, {}, &change, options));
    EXPECT_EQ(counting->counts().put_calls(), 2);
    EXPECT_EQ(counting->counts().list.calls, 0);
    index_bytes += counting->counts().put_bytes();
    OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, change));
    most = std::max(most, table->manifest().indices.size());
    std::set<uint32_t> covered;
    for (const IndexMetadata& index : table->manifest().indices) {
      for (const uint32_t id : index.fragment_ids) {
        EXPECT_TRUE(covered.insert(id).second) << "two segments cover one fragment";
      }
    }
    EXPECT_EQ(covered.size(), table->manifest().fragments.size());
  }
  EXPECT_LE(most, 14);
  // One write of 28 bytes a row for every tier, of which there are four.
  EXPECT_LE(index_bytes, uint64_t{kCommits} * kRows * 28 * 5);
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, NumberedKeys(kCommits * kRows, 10));
}

TEST(AddBTreeSegment, WhenMerging_DropsDeadRows) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory()));
  Keys keys = NumberedKeys(0, 300);
  for (int round = 0; round < 3; ++round) {  // the same keys again: upserts
    OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, keys));
    for (const auto& [key, address] : testing::Scanned(*table)) {
      change.deleted_addresses.push_back(address);
    }
    std::ranges::sort(change.deleted_addresses);
    if (round == 1) {
      change.deleted_addresses.pop_back();  // one old row stays, so its fragment does
      keys.pop_back();
      OG_ASSERT_OK_AND_ASSIGN(Change fewer, AddKeys(*table, keys));
      change.added = fewer.added;
    }
    OG_ASSERT_OK(AddBTreeSegment(*table, {}, &change, EagerOptions()));
    OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, change));
  }
  ASSERT_EQ(table->manifest().indices.size(), 1);
  OG_ASSERT_OK_AND_ASSIGN(const auto segment, OpenOnly(*table));
  EXPECT_EQ(segment->rows(), table->CountRows());
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, {"key-9"});
}

TEST(CoverRows, CoversWhatIsUncovered_AndSaysWhenAllIsWell) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory()));
  for (int round = 0; round < 5; ++round) {
    OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*table, NumberedKeys(round * 100, 100)));
    OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, change));
  }
  BTreeOptions options;
  options.segment_bytes_max = 48 * 250;  // at most 250 rows in one
  OG_ASSERT_OK_AND_ASSIGN(const Change cover, CoverRows(*table, options));
  EXPECT_EQ(cover.new_indices.size(), 3);
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, cover));
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, {"key-9"});
  EXPECT_EQ(lookup.stats().fragments_scanned, 0);
  OG_ASSERT_OK_AND_ASSIGN(const Change nothing, CoverRows(*table, options));
  EXPECT_TRUE(nothing.empty());
}

// Protocol C1: a change that is rebased numbers its rows anew, so its segment goes, and what that
// was to replace stays.
TEST(Rebase, WhenIdsMoved_DropsTheSegmentAndKeepsTheOldOnes) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr base, NewTable(InMemory()));
  for (int round = 0; round < 2; ++round) {
    OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*base, NumberedKeys(round * 50, 50)));
    OG_ASSERT_OK(AddBTreeSegment(*base, {}, &change, EagerOptions()));
    OG_ASSERT_OK_AND_ASSIGN(base, CommitDetached(base, change));
  }
  OG_ASSERT_OK_AND_ASSIGN(Change mine, AddKeys(*base, NumberedKeys(1000, 50)));
  OG_ASSERT_OK(AddBTreeSegment(*base, {}, &mine, EagerOptions()));
  ASSERT_EQ(mine.removed_indices.size(), 2) << "the third segment completes a tier";
  OG_ASSERT_OK_AND_ASSIGN(const Change theirs, AddKeys(*base, NumberedKeys(2000, 5)));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr newer, CommitDetached(base, theirs));
  OG_ASSERT_OK_AND_ASSIGN(Change rebased, Rebase(*base, *newer, mine));
  EXPECT_TRUE(rebased.new_indices.empty());
  EXPECT_TRUE(rebased.removed_indices.empty());
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr scanned, CommitDetached(newer, rebased));
  EXPECT_EQ(scanned->manifest().indices.size(), 2);
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *scanned, {"key-9"});
  // Or it is made again.
  OG_ASSERT_OK(AddBTreeSegment(*newer, {}, &rebased, EagerOptions()));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr covered, CommitDetached(newer, rebased));
  EXPECT_EQ(covered->manifest().indices.size(), 1);
  ExpectAnswersOfScan(&lookup, *covered, {"key-9"});
}

TEST(Rebase, WhenOnlyOtherRowsWereDeleted_KeepsANewSegmentButNoMergedOne) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr base, NewTable(InMemory()));
  OG_ASSERT_OK_AND_ASSIGN(Change first, AddKeys(*base, NumberedKeys(0, 50)));
  OG_ASSERT_OK_AND_ASSIGN(base, CommitDetached(base, first));
  OG_ASSERT_OK_AND_ASSIGN(const Change cover, CoverRows(*base, EagerOptions()));
  OG_ASSERT_OK_AND_ASSIGN(base, CommitDetached(base, cover));
  OG_ASSERT_OK_AND_ASSIGN(Change mine, AddKeys(*base, NumberedKeys(100, 50)));
  Change merging = mine;
  OG_ASSERT_OK(AddBTreeSegment(*base, {}, &mine, EagerOptions()));
  BTreeOptions at_once = EagerOptions();
  at_once.merge_fan = 2;
  OG_ASSERT_OK(AddBTreeSegment(*base, {}, &merging, at_once));
  ASSERT_EQ(merging.removed_indices.size(), 1);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr newer,
                          CommitDetached(base, {.deleted_addresses = {MakeRowAddress(0, 7)}}));
  OG_ASSERT_OK_AND_ASSIGN(const Change kept, Rebase(*base, *newer, mine));
  EXPECT_EQ(kept.new_indices.size(), 1);
  OG_ASSERT_OK_AND_ASSIGN(const Change dropped, Rebase(*base, *newer, merging));
  EXPECT_TRUE(dropped.new_indices.empty());
  EXPECT_TRUE(dropped.removed_indices.empty());
}

TEST(PlanMerge, MergesAFullClassAndWhatItCompletes) {
  constexpr uint64_t kKiB = 1024;
  EXPECT_TRUE(PlanMerge({}, 4, 1 << 30).empty());
  EXPECT_TRUE(PlanMerge({kKiB, kKiB, kKiB}, 4, 1 << 30).empty());
  EXPECT_EQ(PlanMerge({kKiB, kKiB, kKiB, kKiB}, 4, 1 << 30), (std::vector<size_t>{0, 1, 2, 3}));
  // Four of the lowest class make one of the next, which then has four.
  EXPECT_EQ(PlanMerge({60 * kKiB, 60 * kKiB, 60 * kKiB, 16 * kKiB, 16 * kKiB, 16 * kKiB, 16 * kKiB},
                      4, 1 << 30),
            (std::vector<size_t>{0, 1, 2, 3, 4, 5, 6}));
  // A large one stays out; a merge over the bound is left undone.
  EXPECT_EQ(PlanMerge({900 * kKiB, kKiB, kKiB, kKiB, kKiB}, 4, 1 << 30),
            (std::vector<size_t>{1, 2, 3, 4}));
  EXPECT_TRUE(PlanMerge({60 * kKiB, 60 * kKiB, 60 * kKiB, 60 * kKiB}, 4, 200 * kKiB).empty());
}

TEST(BloomFilter, KnowsItsKeysAndFewOthers) {
  std::vector<uint64_t> hashes;
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    hashes.push_back(random());
  }
  OG_ASSERT_OK_AND_ASSIGN(const BloomFilter filter,
                          BloomFilter::Parse(BloomFilter::Encode(hashes), "o"));
  for (const uint64_t hash : hashes) {
    ASSERT_TRUE(filter.MayContain(hash));
  }
  int passed = 0;
  for (int i = 0; i < 20000; ++i) {
    passed += filter.MayContain(random()) ? 1 : 0;
  }
  EXPECT_LT(passed, 400);
  OG_ASSERT_OK_AND_ASSIGN(const BloomFilter empty,
                          BloomFilter::Parse(BloomFilter::Encode({}), "o"));
  EXPECT_FALSE(empty.MayContain(5));
}

TEST(BloomFilter, WhenDamaged_IsCorrupt) {
  const std::vector<uint64_t> hashes = {1, 2, 3};
  const std::string good = BloomFilter::Encode(hashes)->ToString();
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto parsed = BloomFilter::Parse(arrow::Buffer::FromString(bad), "o");
    // The number of keys is for people.
    const bool count = i >= kBloomMagic.size() && i < kBloomMagic.size() + 8;
    EXPECT_EQ(parsed.ok(), count) << i;
    OG_EXPECT_ERROR(BloomFilter::Parse(arrow::Buffer::FromString(good.substr(0, i)), "o"),
                    ErrorKind::kCorruption, "index.bloom");
  }
}

}  // namespace
}  // namespace omnigraph::lance
