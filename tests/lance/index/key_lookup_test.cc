// Lookups by key: against scans, whatever happened to the table, and what they read.
#include "omnigraph/lance/index/key_lookup.h"

#include <arrow/buffer.h>

#include "btree_format.h"
#include "index_testing.h"

namespace omnigraph::lance {
namespace {

using testing::AddKeys;
using testing::EagerOptions;
using testing::ExpectAnswersOfScan;
using testing::Keys;
using testing::KeySchema;
using testing::Look;
using testing::TablePtr;

TableLocation InMemory() {
  return {std::make_shared<store::MemoryStore>(), "t.lance"};
}

Result<TablePtr> NewTable(const TableLocation& location, bool stable_row_ids = true) {
  return CreateTable(location, KeySchema(),
                     {.primary_key = {"id"}, .stable_row_ids = stable_row_ids});
}

std::string Spell(uint64_t number) {
  return "node/" + std::to_string(number * 2654435761u % 1000003);
}

Keys Spelled(uint64_t first, uint64_t count) {
  Keys keys;
  for (uint64_t i = first; i < first + count; ++i) {
    keys.push_back(Spell(i));
  }
  return keys;
}

/// A table of `rows` spelled keys in fragments of `fragment_rows`, all covered.
Result<TablePtr> Covered(const TableLocation& location, uint64_t rows, uint64_t fragment_rows,
                         const BTreeOptions& options) {
  OG_ASSIGN_OR_RETURN(const TablePtr created, NewTable(location));
  OG_ASSIGN_OR_RETURN(Change change, AddKeys(*created, Spelled(0, rows), fragment_rows));
  OG_RETURN_NOT_OK(AddBTreeSegment(*created, {}, &change, options));
  return CommitDetached(created, change);
}

/// One random commit: fresh keys, keys put again, keys deleted; with or without a segment.
class Churn {
 public:
  explicit Churn(uint64_t seed) : random_(seed) {}

  Result<TablePtr> Step(const TablePtr& table) {
    const std::map<std::string, uint64_t> rows = testing::Scanned(*table);
    std::set<std::string> put;
    for (uint64_t i = random_() % 60; i > 0; --i) {
      put.insert(Spell(random_() % 400));
    }
    std::set<uint64_t> deleted;
    for (const auto& [key, address] : rows) {
      if (put.contains(key) || random_() % 23 == 0) {
        deleted.insert(address);
      }
    }
    Keys keys(put.begin(), put.end());
    std::ranges::shuffle(keys, random_);
    Change change;
    if (!keys.empty()) {
      OG_ASSIGN_OR_RETURN(change, AddKeys(*table, keys, 25));
    }
    change.deleted_addresses.assign(deleted.begin(), deleted.end());
    if (change.empty()) {
      return table;
    }
    if (random_() % 3 != 0) {
      OG_RETURN_NOT_OK(AddBTreeSegment(*table, {}, &change, EagerOptions()));
    }
    return CommitDetached(table, change);
  }

  uint64_t Next() { return random_(); }

 private:
  std::mt19937_64 random_;
};

// With every history of segments the answers are those of a scan. One lookup serves all
// versions, old ones and branches too.
TEST(KeyLookup, AnswersAsAScanDoes_OverRandomHistories) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Churn churn(seed);
    OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory(), seed % 3 != 0));
    KeyLookup lookup({.cache_bytes_max = seed % 2 == 0 ? uint64_t{20000} : uint64_t{1} << 24});
    std::vector<TablePtr> versions = {table};
    for (int step = 0; step < 25; ++step) {
      // Now and then go on from an old version: a branch.
      table = churn.Next() % 8 == 0 ? versions[churn.Next() % versions.size()] : table;
      OG_ASSERT_OK_AND_ASSIGN(table, churn.Step(table));
      versions.push_back(table);
      ExpectAnswersOfScan(&lookup, *table, Spelled(0, 400));
      ExpectAnswersOfScan(&lookup, *versions[churn.Next() % versions.size()], Spelled(390, 20));
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(KeyLookup, AnswersAfterCompaction) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, Covered(InMemory(), 300, 50, EagerOptions()));
  OG_ASSERT_OK_AND_ASSIGN(
      table,
      CommitDetached(table, {.deleted_addresses = {MakeRowAddress(0, 3), MakeRowAddress(2, 0)}}));
  Change compact;
  compact.kind = ChangeKind::kRewrite;
  compact.removed_fragments = {0, 1, 2};
  OG_ASSERT_OK_AND_ASSIGN(compact.added, RewriteFragments(*table, {0, 1, 2}));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, compact));
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, Spelled(300, 10));
  EXPECT_EQ(lookup.stats().fragments_scanned, 0) << "stable ids survive";
}

// An outside update keeps a row's id while its key changes: the old entry must not find it.
TEST(KeyLookup, WhenAnIdMovedToAnUncoveredFragment_DoesNotTrustTheSegment) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, Covered(InMemory(), 40, 40, EagerOptions()));
  Change update;
  update.kind = ChangeKind::kUpdate;
  OG_ASSERT_OK_AND_ASSIGN(Change written, AddKeys(*table, {"another key"}));
  update.added = written.added;
  OG_ASSERT_OK_AND_ASSIGN(const RowLineage lineage, table->Lineage(0));
  update.added[0].kept = {.row_ids = RowIdSequence::Range(lineage.row_ids.At(7), 1),
                          .created = RowVersionSequence::Constant(1, 1),
                          .updated = RowVersionSequence::Constant(2, 1)};
  update.deleted_addresses = {MakeRowAddress(0, 7)};
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, update));
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, {Spell(7)});
  // Nor does a merge that follows.
  OG_ASSERT_OK_AND_ASSIGN(Change more, AddKeys(*table, {"zz"}));
  BTreeOptions at_once = EagerOptions();
  at_once.merge_fan = 2;
  OG_ASSERT_OK(AddBTreeSegment(*table, {}, &more, at_once));
  ASSERT_EQ(more.removed_indices.size(), 1);
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, more));
  ExpectAnswersOfScan(&lookup, *table, {Spell(7)});
}

// Lance 14 writes version 1: addresses also where row ids are stable.
TEST(KeyLookup, ReadsSegmentsOfAddresses) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory()));
  for (int round = 0; round < 2; ++round) {  // so that ids and addresses differ
    OG_ASSERT_OK_AND_ASSIGN(const Change change, AddKeys(*table, Spelled(round * 50, 50)));
    OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, change));
  }
  BTreeBuilder builder(16);
  for (uint32_t fragment = 0; fragment < 2; ++fragment) {
    builder.Add(testing::KeyArray(Spelled(fragment * 50, 50)), MakeRowAddress(fragment, 0));
  }
  OG_ASSERT_OK_AND_ASSIGN(IndexMetadata index,
                          builder.Finish(table->location(), {.fragment_ids = {0, 1}}));
  index.index_version = kBTreeOfAddresses;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, {.new_indices = {index}}));
  OG_ASSERT_OK_AND_ASSIGN(table,
                          CommitDetached(table, {.deleted_addresses = {MakeRowAddress(1, 3)}}));
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, Spelled(0, 110));
  EXPECT_EQ(lookup.stats().fragments_scanned, 0);
  // It does not survive a compaction of ours.
  Change compact;
  compact.kind = ChangeKind::kRewrite;
  compact.removed_fragments = {0, 1};
  OG_ASSERT_OK_AND_ASSIGN(compact.added, RewriteFragments(*table, {0, 1}));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, compact));
  ExpectAnswersOfScan(&lookup, *table, Spelled(0, 110));
  // A later version of the index is not touched.
  index.index_version = kBTreeOfAddresses + 1;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, {.new_indices = {index}}));
  ExpectAnswersOfScan(&lookup, *table, Spelled(0, 110));
}

TEST(KeyLookup, WhenASegmentIsGone_Scans) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Covered(InMemory(), 100, 30, EagerOptions()));
  const IndexMetadata& index = table->manifest().indices[0];
  OG_ASSERT_OK(table->location().store->Delete("t.lance/_indices/" + index.uuid.ToString() +
                                               "/page_lookup.lance"));
  KeyLookup lookup;
  ExpectAnswersOfScan(&lookup, *table, Spelled(100, 10));
  EXPECT_EQ(lookup.stats().fragments_scanned, 4);
}

TEST(KeyLookup, WhenAFragmentIsTooLargeForTheCache_ScansIt) {
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, NewTable(InMemory()));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AddKeys(*table, Spelled(0, 2000)));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, change));
  KeyLookup lookup({.cache_bytes_max = 1000});
  ExpectAnswersOfScan(&lookup, *table, Spelled(1990, 30));
  EXPECT_LE(lookup.cached_bytes(), 1000);
}

TEST(KeyLookup, RefusesKeysOutOfOrderAndColumnsThatAreNone) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, NewTable(InMemory()));
  KeyLookup lookup;
  OG_EXPECT_ERROR(Look(&lookup, *table, {"b", "a"}), ErrorKind::kInvalid, "index.key_order");
  OG_EXPECT_ERROR(Look(&lookup, *table, {"a", "a"}), ErrorKind::kInvalid, "index.key_order");
  OG_ASSERT_OK_AND_ASSIGN(const auto nothing, Look(&lookup, *table, {}));
  EXPECT_TRUE(nothing.empty());
  KeyLookup numbers({.column = "n"});
  OG_EXPECT_ERROR(Look(&numbers, *table, {"a"}), ErrorKind::kInvalid, "index.column");
}

TEST(KeyLookup, ExistSaysWhichKeysAreThere) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Covered(InMemory(), 10, 10, EagerOptions()));
  KeyLookup lookup;
  std::vector<std::string> keys = {Spell(3), Spell(5), "absent"};
  std::ranges::sort(keys);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  OG_ASSERT_OK_AND_ASSIGN(const auto exist, lookup.Exist(*table, views));
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(exist[i], keys[i] != "absent");
  }
}

// Any bytes give an answer or a typed error.
TEST(KeyLookup, WhenFilesAreDamaged_IsCorruptOrRight) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Covered(InMemory(), 200, 200, EagerOptions()));
  const std::string folder =
      "t.lance/_indices/" + table->manifest().indices[0].uuid.ToString() + "/";
  store::ObjectStore& store = *table->location().store;
  const Keys keys = [&] {
    Keys all = Spelled(0, 200);
    std::ranges::sort(all);
    return all;
  }();
  int corrupt = 0;
  for (const std::string name : {"page_data.lance", "page_lookup.lance"}) {
    OG_ASSERT_OK_AND_ASSIGN(const auto bytes, store.Get(folder + name));
    const std::string good = bytes->ToString();
    for (size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x55);
      OG_ASSERT_OK(store.Put(folder + name, store::BytesOf(bad)));
      KeyLookup lookup;
      const auto found = Look(&lookup, *table, keys);
      if (!found.ok()) {
        EXPECT_TRUE(IsCorruption(found.status()) || IsUnsupported(found.status()))
            << name << " " << at << ": " << found.status().ToString();
        ++corrupt;
      }
    }
    OG_ASSERT_OK(store.Put(folder + name, store::BytesOf(good)));
  }
  EXPECT_GT(corrupt, 100);
}

TEST(KeyLookup, WhenPagesAreOfAnotherSegment_IsCorrupt) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Covered(InMemory(), 200, 200, EagerOptions()));
  BTreeBuilder other(16);
  other.Add(testing::KeyArray(Spelled(1000, 200)), 0);
  OG_ASSERT_OK_AND_ASSIGN(const IndexMetadata index, other.Finish(table->location(), {}));
  store::ObjectStore& store = *table->location().store;
  OG_ASSERT_OK_AND_ASSIGN(const auto bytes, store.Get("t.lance/_indices/" + index.uuid.ToString() +
                                                      "/page_data.lance"));
  OG_ASSERT_OK(store.Put(
      "t.lance/_indices/" + table->manifest().indices[0].uuid.ToString() + "/page_data.lance",
      {bytes}));
  KeyLookup lookup;
  OG_EXPECT_ERROR(Look(&lookup, *table, {Spell(1)}), ErrorKind::kCorruption, "");
}

// docs/format/lance-btree.md: 1,000 random keys in a million rows read about 10 MB.
TEST(KeyLookup, ReadsInProportionToTheKeys) {
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  constexpr uint64_t kRows = 1000000;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr created, NewTable({counting, "t.lance"}));
  Keys all;
  for (uint64_t i = 0; i < kRows; ++i) {  // 26 bytes, as a ULID has, in random order
    const std::string digits = std::to_string(i * 6364136223846793005u);
    all.push_back("id" + std::string(24 - digits.size(), '0') + digits);
  }
  OG_ASSERT_OK_AND_ASSIGN(Change change, AddKeys(*created, all));
  OG_ASSERT_OK(AddBTreeSegment(*created, {}, &change));
  ASSERT_EQ(change.new_indices.size(), 1);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CommitDetached(created, change));
  std::mt19937_64 random(3);
  const auto ask = [&](KeyLookup* lookup, size_t count, bool present) {
    std::set<std::string> asked;
    while (asked.size() < count) {
      std::string key = all[random() % all.size()];
      if (!present) {
        key.back() = 'x';
      }
      asked.insert(key);
    }
    counting->Reset();
    const auto found = Look(lookup, *table, Keys(asked.begin(), asked.end()));
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    EXPECT_TRUE(std::ranges::all_of(
        *found, [&](const auto& address) { return address.has_value() == present; }));
    const store::StoreCounts counts = counting->counts();
    EXPECT_EQ(counts.put_calls() + counts.list.calls + counts.head.calls, 0);
    return counts;
  };
  KeyLookup cold;
  const auto one = ask(&cold, 1, true);
  EXPECT_LE(one.read_bytes(), 600u << 10) << one.ToString();
  EXPECT_LE(one.read_calls(), 7u) << one.ToString();
  KeyLookup thousand;
  const auto many = ask(&thousand, 1000, true);
  EXPECT_LE(many.read_bytes(), 10500u << 10) << many.ToString();
  EXPECT_LE(many.read_calls(), 7u) << many.ToString();
  const auto absent = ask(&thousand, 1000, false);
  EXPECT_LE(absent.read_bytes(), 400u << 10) << absent.ToString();
  // Pages that were read are there for the next lookup, of any version.
  const auto hundred = ask(&thousand, 100, true);
  EXPECT_LE(hundred.read_bytes(), 100 * (10u << 10)) << hundred.ToString();
  EXPECT_LE(thousand.cached_bytes(), 256u << 20);
  RecordProperty("one", one.ToString());
  RecordProperty("thousand", many.ToString());
  RecordProperty("absent", absent.ToString());
}

}  // namespace
}  // namespace omnigraph::lance
