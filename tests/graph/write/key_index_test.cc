// Hash sets of keys: the same answers in memory and spilled, within their bound.
#include "key_index.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/store/object_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::write {
namespace {

Hash128 HashOf(uint64_t key) {
  return XxHash128(std::to_string(key));
}

TEST(KeyIndex, FindsWhatWasPut) {
  SpillSpace space(std::make_shared<store::MemoryStore>(), 64u << 20);
  KeyIndex index(&space);
  EXPECT_TRUE(index.empty());
  EXPECT_EQ(index.Find(HashOf(1)), nullptr);
  for (uint64_t key = 0; key < 100000; ++key) {
    OG_ASSERT_OK_AND_ASSIGN(KeyRecord * record, index.Upsert(HashOf(key)));
    ASSERT_EQ(record->flags, 0u);
    record->flags = 1;
    record->number = key;
  }
  for (uint64_t key = 0; key < 100000; ++key) {
    OG_ASSERT_OK_AND_ASSIGN(KeyRecord * record, index.Upsert(HashOf(key)));
    ASSERT_EQ(record->number, key);
  }
  EXPECT_EQ(index.Find(HashOf(100000)), nullptr);
  EXPECT_FALSE(index.spilled());
  EXPECT_EQ(space.runs(), 0);
  int64_t seen = 0;
  index.ForEach([&](KeyRecord&) { ++seen; });
  EXPECT_EQ(seen, 100000);
}

TEST(KeyIndex, SpillsWithinItsBoundAndReadsBackInOrder) {
  const auto memory = std::make_shared<store::MemoryStore>();
  constexpr size_t kBound = 2u << 20;
  SpillSpace space(memory, kBound);
  KeyIndex first(&space);
  KeyIndex second(&space);
  std::map<Hash128, std::vector<uint64_t>> expected;
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 200000; ++i) {
    const uint64_t key = random() % 60000;
    KeyIndex& index = i % 3 == 0 ? second : first;
    OG_ASSERT_OK_AND_ASSIGN(KeyRecord * record, index.Upsert(HashOf(key)));
    if (record->flags == 0) {
      record->flags = 1;
      record->number = i;
      if (&index == &first) {
        expected[HashOf(key)].push_back(i);
      }
    }
    ASSERT_LE(space.used_bytes(), kBound);
  }
  EXPECT_TRUE(first.spilled());
  EXPECT_GT(space.runs(), 2);
  for (int round = 0; round < 2; ++round) {
    OG_ASSERT_OK_AND_ASSIGN(const auto stream, first.Sorted());
    std::vector<KeyRecord> group;
    auto next = expected.begin();
    while (true) {
      OG_ASSERT_OK(stream->NextGroup(&group));
      if (group.empty()) {
        break;
      }
      ASSERT_NE(next, expected.end());
      ASSERT_EQ(group.front().hash, next->first);
      std::vector<uint64_t> numbers;
      for (const KeyRecord& record : group) {
        numbers.push_back(record.number);
      }
      ASSERT_EQ(numbers, next->second);
      ++next;
    }
    EXPECT_EQ(next, expected.end());
  }
  OG_ASSERT_OK(space.RemoveAll());
  OG_ASSERT_OK_AND_ASSIGN(const auto left, store::ListAll(*memory, ""));
  EXPECT_TRUE(left.empty());
}

TEST(KeySorter, KeepsDuplicatesAndCutsLongRunsIntoObjects) {
  const auto memory = std::make_shared<store::MemoryStore>();
  SpillSpace space(memory, 1u << 20);
  KeySorter sorter(&space);
  constexpr uint64_t kRecords = 500000;  // 24 MB: two runs, three objects
  for (uint64_t i = 0; i < kRecords; ++i) {
    KeyRecord record;
    record.hash = HashOf(i / 2);
    record.number = i;
    OG_ASSERT_OK(sorter.Add(record));
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto stream, sorter.Sorted());
  std::vector<KeyRecord> group;
  uint64_t groups = 0;
  Hash128 last;
  while (true) {
    OG_ASSERT_OK(stream->NextGroup(&group));
    if (group.empty()) {
      break;
    }
    ASSERT_EQ(group.size(), 2u);
    ASSERT_LT(last, group[0].hash);
    ASSERT_EQ(group[0].number + 1, group[1].number);
    last = group[0].hash;
    ++groups;
  }
  EXPECT_EQ(groups, kRecords / 2);
  EXPECT_EQ(space.runs(), 2);
}

TEST(KeyStream, RefusesARunThatEndsWithinARecord) {
  const auto memory = std::make_shared<store::MemoryStore>();
  SpillSpace space(memory, 1u << 20);
  KeyIndex index(&space);
  OG_ASSERT_OK_AND_ASSIGN(KeyRecord * record, index.Upsert(HashOf(1)));
  record->flags = 1;
  OG_ASSERT_OK_AND_ASSIGN(auto unused, index.Sorted());
  OG_ASSERT_OK_AND_ASSIGN(const auto objects, store::ListAll(*memory, graph::kSpillPath));
  ASSERT_EQ(objects.size(), 1u);
  OG_ASSERT_OK(memory->Put(objects[0].path, store::BytesOf(std::string(70, 'x'))));
  OG_ASSERT_OK_AND_ASSIGN(const auto stream, index.Sorted());
  std::vector<KeyRecord> group;
  Status status;
  while (status.ok()) {
    status = stream->NextGroup(&group);
    if (group.empty()) {
      break;
    }
  }
  OG_EXPECT_ERROR(status, ErrorKind::kCorruption, "load.spill");
}

}  // namespace
}  // namespace omnigraph::write
