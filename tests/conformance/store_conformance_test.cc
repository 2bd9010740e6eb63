// Every promise of ObjectStore, asked of every store (rules P1 to P4 as far as
// one process sees them).
#include "store_conformance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/store/simulated_disk.h"
#include "omnigraph/testing/status_matchers.h"
#include "omnigraph/testing/temp_folder.h"

namespace omnigraph::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

StoreUnderTest OverSimulatedDisk(SimulatedDiskOptions options) {
  auto disk = std::make_shared<SimulatedDisk>(options);
  return {LocalStore::Make(disk), disk};
}

std::vector<StoreFactory> Stores() {
  std::vector<StoreFactory> stores;
  stores.push_back(
      {"Memory", [] { return StoreUnderTest{std::make_shared<MemoryStore>(), nullptr}; }});
  stores.push_back({"CountingMemory", [] {
                      return StoreUnderTest{
                          std::make_shared<CountingStore>(std::make_shared<MemoryStore>()),
                          nullptr};
                    }});
  stores.push_back({"Local", [] {
                      auto folder = std::make_shared<testing::TempFolder>();
                      return StoreUnderTest{LocalStore::Open(folder->path() + "/root").ValueOrDie(),
                                            folder};
                    }});
  stores.push_back({"LocalWithoutOpenAhead", [] {
                      auto folder = std::make_shared<testing::TempFolder>();
                      LocalStoreOptions options;
                      options.open_ahead = 0;
                      options.folders_max = 1;
                      options.readers_max = 1;
                      return StoreUnderTest{LocalStore::Open(folder->path(), options).ValueOrDie(),
                                            folder};
                    }});
  stores.push_back({"SimulatedJournal", [] { return OverSimulatedDisk({}); }});
  stores.push_back(
      {"SimulatedNoJournal", [] { return OverSimulatedDisk({.model = DiskModel::kNoJournal}); }});
  stores.push_back(
      {"SimulatedNamedTemporaries", [] { return OverSimulatedDisk({.unnamed_files = false}); }});
  return stores;
}

class StoreConformance : public ::testing::TestWithParam<StoreFactory> {
 protected:
  void SetUp() override { under_test_ = GetParam().make(); }
  ObjectStore& store() { return *under_test_.store; }

  Status PutNew(std::string_view path, std::string text,
                PutStrength strength = PutStrength::kOrdered) {
    return store().PutIfAbsent(path, BytesOf(std::move(text)), strength);
  }
  std::string Text(std::string_view path) {
    auto buffer = store().Get(path);
    return buffer.ok() ? (*buffer)->ToString() : buffer.status().ToString();
  }
  std::vector<std::string> Names(std::string_view prefix, const ListOptions& options = {}) {
    std::vector<std::string> names;
    const ListPage page = store().List(prefix, options).ValueOrDie();
    for (const ObjectInfo& info : page.objects) {
      names.push_back(info.path);
    }
    return names;
  }

  StoreUnderTest under_test_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreConformance, ::testing::ValuesIn(Stores()),
                         [](const auto& one) { return one.param.name; });

TEST_P(StoreConformance, PutIfAbsent_ReadsBack) {
  for (const PutStrength strength : {PutStrength::kStrict, PutStrength::kOrdered}) {
    const std::string path = "a/b/" + std::to_string(static_cast<int>(strength));
    OG_ASSERT_OK(PutNew(path, "hello", strength));
    EXPECT_EQ(Text(path), "hello");
    OG_ASSERT_OK_AND_ASSIGN(const ObjectInfo info, store().Head(path));
    EXPECT_EQ(info.path, path);
    EXPECT_EQ(info.size, 5u);
    EXPECT_GT(info.modified_us, 1'000'000'000'000'000);
  }
}

TEST_P(StoreConformance, PutIfAbsent_NeverOverwrites) {
  OG_ASSERT_OK(PutNew("x", "first"));
  for (const PutStrength strength : {PutStrength::kStrict, PutStrength::kOrdered}) {
    OG_EXPECT_ERROR(PutNew("x", "second", strength), ErrorKind::kAlreadyExists,
                    "store.already_exists");
  }
  EXPECT_EQ(Text("x"), "first");
}

TEST_P(StoreConformance, PutIfAbsent_OneOfManyRacersWins) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = "race/" + std::to_string(round);
    std::atomic<int> winner{-1};
    std::atomic<int> wins{0};
    {
      std::vector<runtime::Thread> threads;
      for (int racer = 0; racer < 4; ++racer) {
        threads.push_back(runtime::Thread::Start("racer", [&, racer] {
          const Status status = PutNew(path, std::string(100, static_cast<char>('a' + racer)));
          if (status.ok()) {
            winner = racer;
            ++wins;
          } else {
            EXPECT_TRUE(IsAlreadyExists(status)) << status.ToString();
          }
        }));
      }
    }
    EXPECT_EQ(wins, 1);
    EXPECT_EQ(Text(path), std::string(100, static_cast<char>('a' + winner)));
  }
}

// P5: what reads back is made durable without a change that a reader could see, and nothing deleted
// comes back.
TEST_P(StoreConformance, MakeDurable_ChangesNothingToSee) {
  const std::string text(10'000, 'a');
  OG_ASSERT_OK(PutNew("f/x", text));
  OG_ASSERT_OK(store().MakeDurable("f/x"));
  OG_ASSERT_OK(store().MakeDurable("f/x"));
  EXPECT_EQ(Text("f/x"), text);
  EXPECT_THAT(Names(""), ElementsAre("f/x"));
  OG_EXPECT_ERROR(PutNew("f/x", "second"), ErrorKind::kAlreadyExists, "store.already_exists");
  OG_ASSERT_OK(store().Delete("f/x"));
  OG_EXPECT_ERROR(store().MakeDurable("f/x"), ErrorKind::kNotFound, "store.not_found");
  OG_EXPECT_ERROR(store().MakeDurable("g/y"), ErrorKind::kNotFound, "store.not_found");
  EXPECT_THAT(Names(""), ElementsAre());
}

TEST_P(StoreConformance, Put_ReplacesWhole) {
  OG_ASSERT_OK(store().Put("f/x", BytesOf(std::string(10'000, 'a'))));
  OG_ASSERT_OK(store().Put("f/x", BytesOf("b")));
  EXPECT_EQ(Text("f/x"), "b");
  EXPECT_THAT(Names(""), ElementsAre("f/x"));
}

TEST_P(StoreConformance, Put_IsSeenByReadersThatReadBefore) {
  OG_ASSERT_OK(store().Put("x", BytesOf("old")));
  const ByteRange range{0, 3};
  OG_ASSERT_OK_AND_ASSIGN(const auto before, store().GetRanges("x", std::span(&range, 1)));
  OG_ASSERT_OK(store().Put("x", BytesOf("new")));
  OG_ASSERT_OK_AND_ASSIGN(const auto after, store().GetRanges("x", std::span(&range, 1)));
  EXPECT_EQ(before[0]->ToString(), "old");
  EXPECT_EQ(after[0]->ToString(), "new");
  OG_ASSERT_OK(store().Delete("x"));
  OG_EXPECT_ERROR(store().GetRanges("x", std::span(&range, 1)), ErrorKind::kNotFound,
                  "store.not_found");
}

TEST_P(StoreConformance, ScatterList_IsWrittenInOrder) {
  Bytes bytes;
  std::string expected;
  for (int i = 0; i < 3'000; ++i) {
    const std::string part = i % 7 == 0 ? "" : "part" + std::to_string(i) + ";";
    expected += part;
    bytes.push_back(arrow::Buffer::FromString(part));
  }
  OG_ASSERT_OK(store().PutIfAbsent("many", bytes, PutStrength::kOrdered));
  EXPECT_EQ(Text("many"), expected);
}

TEST_P(StoreConformance, EmptyObject_IsAnObject) {
  OG_ASSERT_OK(store().PutIfAbsent("empty", {}, PutStrength::kStrict));
  OG_ASSERT_OK_AND_ASSIGN(const auto buffer, store().Get("empty"));
  EXPECT_EQ(buffer->size(), 0);
  OG_ASSERT_OK_AND_ASSIGN(const ObjectTail tail, store().GetTail("empty", 100));
  EXPECT_EQ(tail.object_size, 0u);
  EXPECT_EQ(tail.bytes->size(), 0);
}

TEST_P(StoreConformance, LargeObject_ReadsBack) {
  std::string text(5'000'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i * 31 + i / 4096);
  }
  OG_ASSERT_OK(PutNew("large", text));
  EXPECT_TRUE(Text("large") == text);
}

TEST_P(StoreConformance, GetRanges_NearFarOverlappingAndEmpty) {
  std::string text(300'000, '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i * 7 + i / 251);
  }
  OG_ASSERT_OK(PutNew("r", text));
  const std::vector<ByteRange> ranges{{299'999, 1},      {0, 10},    {5, 10},
                                      {20, 1'000},       {0, 0},     {300'000, 0},
                                      {150'000, 70'000}, {1'024, 4}, {0, 300'000}};
  OG_ASSERT_OK_AND_ASSIGN(const auto parts, store().GetRanges("r", ranges));
  ASSERT_EQ(parts.size(), ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_TRUE(parts[i]->ToString() == text.substr(ranges[i].offset, ranges[i].length)) << i;
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto none, store().GetRanges("r", {}));
  EXPECT_TRUE(none.empty());
}

TEST_P(StoreConformance, GetRanges_PastTheEnd_IsCorruption) {
  OG_ASSERT_OK(PutNew("r", "0123456789"));
  const ByteRange bad[] = {{5, 6}, {11, 0}, {UINT64_MAX, 1}, {1, UINT64_MAX}, {0, UINT64_MAX}};
  for (const ByteRange& range : bad) {
    OG_EXPECT_ERROR(store().GetRanges("r", std::span(&range, 1)), ErrorKind::kCorruption,
                    "store.short_object");
  }
}

TEST_P(StoreConformance, GetTail_GivesBytesAndSize) {
  OG_ASSERT_OK(PutNew("t", "0123456789"));
  OG_ASSERT_OK_AND_ASSIGN(const ObjectTail tail, store().GetTail("t", 4));
  EXPECT_EQ(tail.bytes->ToString(), "6789");
  EXPECT_EQ(tail.object_size, 10u);
  OG_ASSERT_OK_AND_ASSIGN(const ObjectTail all, store().GetTail("t", UINT64_MAX));
  EXPECT_EQ(all.bytes->ToString(), "0123456789");
}

TEST_P(StoreConformance, AbsentObject_IsNotFound) {
  OG_ASSERT_OK(PutNew("folder/x", "1"));
  const ByteRange range{0, 1};
  for (const char* path :
       {"absent", "folder/absent", "no/such/folder", "folder", "folder/x/below"}) {
    OG_EXPECT_ERROR(store().Get(path), ErrorKind::kNotFound, "store.not_found");
    OG_EXPECT_ERROR(store().Head(path), ErrorKind::kNotFound, "store.not_found");
    OG_EXPECT_ERROR(store().GetTail(path, 1), ErrorKind::kNotFound, "store.not_found");
    OG_EXPECT_ERROR(store().GetRanges(path, std::span(&range, 1)), ErrorKind::kNotFound,
                    "store.not_found");
    OG_EXPECT_OK(store().Delete(path));
  }
  EXPECT_EQ(Text("folder/x"), "1");
}

TEST_P(StoreConformance, NamesOfFoldersAndObjects_DoNotMix) {
  OG_ASSERT_OK(PutNew("a", "1"));
  OG_ASSERT_OK(PutNew("b/c", "2"));
  OG_EXPECT_ERROR(PutNew("a/x", "3"), ErrorKind::kInvalid, "store.not_a_folder");
  OG_EXPECT_ERROR(PutNew("a/x/y", "3"), ErrorKind::kInvalid, "store.not_a_folder");
  OG_EXPECT_ERROR(store().Put("a/x", BytesOf("3")), ErrorKind::kInvalid, "store.not_a_folder");
  OG_EXPECT_ERROR(PutNew("b", "3"), ErrorKind::kInvalid, "store.is_a_folder");
  OG_EXPECT_ERROR(store().Put("b", BytesOf("3")), ErrorKind::kInvalid, "store.is_a_folder");
  EXPECT_THAT(Names(""), ElementsAre("a", "b/c"));
}

TEST_P(StoreConformance, BadNames_AreRefusedEverywhere) {
  const std::vector<std::string> bad{"",
                                     "/abs",
                                     "a//b",
                                     "a/",
                                     "../x",
                                     "a/../b",
                                     "a/..",
                                     ".",
                                     "a/./b",
                                     std::string("a\0b", 3),
                                     std::string(1'025, 'x'),
                                     ".og-put-0.part",
                                     "a/.og-put-1.part"};
  const ByteRange range{0, 1};
  for (const std::string& path : bad) {
    OG_EXPECT_ERROR(PutNew(path, "1"), ErrorKind::kInvalid, "store.bad_path");
    OG_EXPECT_ERROR(store().Put(path, BytesOf("1")), ErrorKind::kInvalid, "store.bad_path");
    OG_EXPECT_ERROR(store().Get(path), ErrorKind::kInvalid, "store.bad_path");
    OG_EXPECT_ERROR(store().Head(path), ErrorKind::kInvalid, "store.bad_path");
    OG_EXPECT_ERROR(store().GetTail(path, 1), ErrorKind::kInvalid, "store.bad_path");
    OG_EXPECT_ERROR(store().GetRanges(path, std::span(&range, 1)), ErrorKind::kInvalid,
                    "store.bad_path");
    OG_EXPECT_ERROR(store().Delete(path), ErrorKind::kInvalid, "store.bad_path");
  }
  EXPECT_THAT(Names(""), IsEmpty());
  EXPECT_THAT(Names("../"), IsEmpty());
  EXPECT_THAT(Names("/"), IsEmpty());
}

TEST_P(StoreConformance, UnusualNames_AreKept) {
  const std::vector<std::string> names{" ",   "a b", "d1",   "x.manifest", "ü",
                                       "%2F", "=7e", "\x01", "a\\b"};
  for (const std::string& name : names) {
    OG_ASSERT_OK(PutNew("f/" + name, name));
  }
  for (const std::string& name : names) {
    EXPECT_EQ(Text("f/" + name), name);
  }
  EXPECT_EQ(ListAll(store(), "f/").ValueOrDie().size(), names.size());
}

TEST_P(StoreConformance, Delete_TakesTheNameAway) {
  OG_ASSERT_OK(PutNew("a/x", "1"));
  OG_ASSERT_OK(store().Delete("a/x"));
  OG_ASSERT_OK(store().Delete("a/x"));
  OG_EXPECT_ERROR(store().Get("a/x"), ErrorKind::kNotFound, "store.not_found");
  OG_ASSERT_OK(PutNew("a/x", "2"));
  EXPECT_EQ(Text("a/x"), "2");
}

TEST_P(StoreConformance, List_IsBytewiseAcrossFolders) {
  // '-' sorts before '/' and '0' behind it: a walk folder by folder would get
  // this wrong.
  for (const char* path : {"a/x", "a-b", "a0", "a/b/c", "b", "a.b/z", "Z"}) {
    OG_ASSERT_OK(PutNew(path, path));
  }
  EXPECT_THAT(Names(""), ElementsAre("Z", "a-b", "a.b/z", "a/b/c", "a/x", "a0", "b"));
  EXPECT_THAT(Names("a"), ElementsAre("a-b", "a.b/z", "a/b/c", "a/x", "a0"));
  EXPECT_THAT(Names("a/"), ElementsAre("a/b/c", "a/x"));
  EXPECT_THAT(Names("a/b"), ElementsAre("a/b/c"));
  EXPECT_THAT(Names("none/"), IsEmpty());
  EXPECT_THAT(Names("b/"), IsEmpty());
  EXPECT_THAT(Names("", {.start_after = "a/b"}), ElementsAre("a/b/c", "a/x", "a0", "b"));
  EXPECT_THAT(Names("", {.start_after = "a/b/c"}), ElementsAre("a/x", "a0", "b"));
  EXPECT_THAT(Names("a/", {.start_after = "b"}), IsEmpty());
  EXPECT_THAT(Names("a/", {.start_after = "A"}), ElementsAre("a/b/c", "a/x"));
}

TEST_P(StoreConformance, List_PagesMeetWithoutGapOrDouble) {
  std::vector<std::string> expected;
  for (int i = 0; i < 23; ++i) {
    const std::string path = (i % 2 == 0 ? "p/a/" : "p/b/") + std::to_string(100 + i);
    OG_ASSERT_OK(PutNew(path, "x"));
    expected.push_back(path);
  }
  std::sort(expected.begin(), expected.end());
  for (const size_t limit : {1, 2, 11, 12, 22, 23, 24}) {
    std::vector<std::string> seen;
    ListOptions options{.limit = limit};
    while (true) {
      OG_ASSERT_OK_AND_ASSIGN(const ListPage page, store().List("p/", options));
      EXPECT_LE(page.objects.size(), limit);
      for (const ObjectInfo& info : page.objects) {
        EXPECT_EQ(info.size, 1u);
        seen.push_back(info.path);
      }
      if (page.next.empty()) {
        break;
      }
      options.start_after = page.next;
    }
    EXPECT_EQ(seen, expected) << limit;
  }
}

TEST_P(StoreConformance, List_DelimitedRollsUp) {
  for (const char* path : {"r/a/1", "r/a/2", "r/b", "r/c/d/e", "r/c/f", "r/d"}) {
    OG_ASSERT_OK(PutNew(path, "x"));
  }
  ListOptions options{.delimited = true};
  OG_ASSERT_OK_AND_ASSIGN(const ListPage page, store().List("r/", options));
  EXPECT_THAT(page.common_prefixes, ElementsAre("r/a/", "r/c/"));
  ASSERT_EQ(page.objects.size(), 2u);
  EXPECT_EQ(page.objects[0].path, "r/b");
  EXPECT_EQ(page.objects[1].path, "r/d");
  options.limit = 1;
  std::vector<std::string> seen;
  while (true) {
    OG_ASSERT_OK_AND_ASSIGN(const ListPage one, store().List("r/", options));
    ASSERT_EQ(one.objects.size() + one.common_prefixes.size(), 1u);
    seen.push_back(one.objects.empty() ? one.common_prefixes[0] : one.objects[0].path);
    if (one.next.empty()) {
      break;
    }
    options.start_after = one.next;
  }
  EXPECT_THAT(seen, ElementsAre("r/a/", "r/b", "r/c/", "r/d"));
}

TEST_P(StoreConformance, Probe_IsPassedAndLeavesNothing) {
  OG_ASSERT_OK(ProbeStore(store()));
  EXPECT_THAT(Names(""), IsEmpty());
}

}  // namespace
}  // namespace omnigraph::store
