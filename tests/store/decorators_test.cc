// The counting and the fault-injecting decorator, and the opening of stores by URI.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"
#include "omnigraph/testing/temp_folder.h"

namespace omnigraph::store {
namespace {

using ::testing::ElementsAre;

Status PutNew(ObjectStore& store, std::string_view path, std::string text) {
  return store.PutIfAbsent(path, BytesOf(std::move(text)), PutStrength::kOrdered);
}

TEST(SameBytes, ComparesThePartsAsOneObject) {
  const auto whole = arrow::Buffer::FromString("abcdef");
  const auto part = [](const char* text) { return arrow::Buffer::FromString(text); };
  EXPECT_TRUE(SameBytes({part("abc"), part(""), part("def")}, *whole));
  EXPECT_TRUE(SameBytes({}, *part("")));
  EXPECT_FALSE(SameBytes({part("abc"), part("dex")}, *whole));
  EXPECT_FALSE(SameBytes({part("abc")}, *whole));
  EXPECT_FALSE(SameBytes({part("abcdef"), part("g")}, *whole));
}

TEST(CountingStore, CountsCallsBytesItemsAndFailures) {
  CountingStore store(std::make_shared<MemoryStore>());
  OG_ASSERT_OK(PutNew(store, "a", "12345"));
  EXPECT_TRUE(IsAlreadyExists(PutNew(store, "a", "12345")));
  OG_ASSERT_OK(store.Put("b", BytesOf("123")));
  OG_ASSERT_OK(store.Get("a").status());
  const ByteRange ranges[] = {{0, 1}, {2, 2}};
  OG_ASSERT_OK(store.GetRanges("a", ranges).status());
  OG_ASSERT_OK(store.GetTail("a", 4).status());
  OG_ASSERT_OK(store.Head("a").status());
  OG_ASSERT_OK(store.List("").status());
  OG_ASSERT_OK(store.Delete("a"));
  EXPECT_TRUE(IsNotFound(store.Get("a").status()));
  const StoreCounts counts = store.counts();
  EXPECT_EQ(counts.put_if_absent, (OpCount{2, 1, 10, 2}));
  EXPECT_EQ(counts.put, (OpCount{1, 0, 3, 1}));
  EXPECT_EQ(counts.get, (OpCount{2, 1, 5, 2}));
  EXPECT_EQ(counts.get_ranges, (OpCount{1, 0, 3, 2}));
  EXPECT_EQ(counts.get_tail, (OpCount{1, 0, 4, 1}));
  EXPECT_EQ(counts.head, (OpCount{1, 0, 0, 1}));
  EXPECT_EQ(counts.list, (OpCount{1, 0, 0, 2}));
  EXPECT_EQ(counts.erase, (OpCount{1, 0, 0, 1}));
  EXPECT_EQ(counts.calls(), 10u);
  EXPECT_EQ(counts.put_bytes(), 13u);
  EXPECT_EQ(counts.read_bytes(), 12u);
  EXPECT_EQ(store.Reset(), counts);
  EXPECT_EQ(store.counts(), StoreCounts{});
  EXPECT_EQ(store.counts().ToString(), "nothing");
}

TEST(CountingStore, TraceKeepsTheNewestCalls) {
  CountingStore store(std::make_shared<MemoryStore>());
  store.KeepTrace(2);
  OG_ASSERT_OK(PutNew(store, "a", "1"));
  OG_ASSERT_OK(PutNew(store, "b", "22"));
  EXPECT_TRUE(IsNotFound(store.Head("c").status()));
  const std::vector<StoreCall> calls = store.TakeTrace();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "put_if_absent");
  EXPECT_EQ(calls[0].path, "b");
  EXPECT_EQ(calls[0].bytes, 2u);
  EXPECT_TRUE(calls[0].ok);
  EXPECT_EQ(calls[1].op, "head");
  EXPECT_FALSE(calls[1].ok);
}

class ArmedFaults : public ::testing::Test {
 protected:
  ArmedFaults() : base_(std::make_shared<MemoryStore>()), store_(base_, FaultPlan{}) {}

  void Arm(StoreOp op, StoreFault fault, uint32_t skip = 0) { store_.Arm({op, fault, "x", skip}); }

  std::shared_ptr<MemoryStore> base_;
  FaultyStore store_;
};

TEST_F(ArmedFaults, FailBefore_HasNoEffectAndSaysUnknown) {
  Arm(StoreOp::kPutIfAbsent, StoreFault::kFailBefore);
  OG_ASSERT_OK(PutNew(store_, "other", "1"));
  const Status status = PutNew(store_, "x", "1");
  OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "store.unavailable");
  EXPECT_TRUE(GetErrorDetail(status)->effect_unknown());
  EXPECT_TRUE(IsNotFound(base_->Get("x").status()));
  OG_ASSERT_OK(PutNew(store_, "x", "1"));
}

TEST_F(ArmedFaults, FailAfter_HasItsEffect) {
  Arm(StoreOp::kPutIfAbsent, StoreFault::kFailAfter, 1);
  OG_ASSERT_OK(PutNew(store_, "x0", "1"));
  const Status status = PutNew(store_, "x1", "1");
  OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "store.unavailable");
  EXPECT_TRUE(GetErrorDetail(status)->effect_unknown());
  OG_ASSERT_OK(base_->Get("x1").status());
}

// P4: why a put is settled by reading, and not by reading once.
TEST_F(ArmedFaults, LateEffect_ComesAfterOthers) {
  Arm(StoreOp::kPutIfAbsent, StoreFault::kLateEffect);
  EXPECT_TRUE(GetErrorDetail(PutNew(store_, "x", "late"))->effect_unknown());
  EXPECT_EQ(store_.late_waiting(), 1u);
  EXPECT_TRUE(IsNotFound(base_->Get("x").status()));
  for (int i = 0; i < 8; ++i) {
    OG_ASSERT_OK(store_.Head("none").ok() ? Status::OK() : Status::OK());
  }
  EXPECT_EQ(store_.late_waiting(), 0u);
  OG_ASSERT_OK_AND_ASSIGN(const auto bytes, base_->Get("x"));
  EXPECT_EQ(bytes->ToString(), "late");
}

TEST_F(ArmedFaults, LateEffect_OfAPutIfAbsentThatLost_IsNone) {
  Arm(StoreOp::kPutIfAbsent, StoreFault::kLateEffect);
  EXPECT_FALSE(PutNew(store_, "x", "late").ok());
  OG_ASSERT_OK(base_->PutIfAbsent("x", BytesOf("first"), PutStrength::kStrict));
  store_.ReleaseLate();
  OG_ASSERT_OK_AND_ASSIGN(const auto bytes, base_->Get("x"));
  EXPECT_EQ(bytes->ToString(), "first");
}

TEST_F(ArmedFaults, Throttled_HasNoEffectAndSaysSo) {
  Arm(StoreOp::kPut, StoreFault::kThrottled);
  const Status status = store_.Put("x", BytesOf("1"));
  OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "store.throttled");
  EXPECT_FALSE(GetErrorDetail(status)->effect_unknown());
  EXPECT_TRUE(IsNotFound(base_->Get("x").status()));
}

TEST_F(ArmedFaults, ReadsAreCutShortOrFlipped) {
  OG_ASSERT_OK(PutNew(store_, "x", "0123456789"));
  Arm(StoreOp::kGet, StoreFault::kShortRead);
  OG_ASSERT_OK_AND_ASSIGN(auto bytes, store_.Get("x"));
  EXPECT_LT(bytes->size(), 10);
  Arm(StoreOp::kGetTail, StoreFault::kFlippedBit);
  OG_ASSERT_OK_AND_ASSIGN(const ObjectTail tail, store_.GetTail("x", 10));
  EXPECT_EQ(tail.bytes->size(), 10);
  EXPECT_NE(tail.bytes->ToString(), "0123456789");
  const ByteRange range{0, 10};
  Arm(StoreOp::kGetRanges, StoreFault::kShortRead);
  OG_ASSERT_OK_AND_ASSIGN(const auto parts, store_.GetRanges("x", std::span(&range, 1)));
  EXPECT_LT(parts[0]->size(), 10);
  OG_ASSERT_OK_AND_ASSIGN(bytes, store_.Get("x"));
  EXPECT_EQ(bytes->ToString(), "0123456789");
  Arm(StoreOp::kList, StoreFault::kFailBefore);
  OG_EXPECT_ERROR(store_.List("x"), ErrorKind::kUnavailable, "store.unavailable");
  EXPECT_EQ(store_.records().size(), 4u);
}

std::vector<std::string> RunPlan(uint64_t seed) {
  FaultPlan plan;
  plan.seed = seed;
  plan.fail_before_ppm = plan.fail_after_ppm = plan.late_effect_ppm = 100'000;
  plan.throttled_ppm = plan.short_read_ppm = plan.flipped_bit_ppm = plan.slow_ppm = 100'000;
  plan.slow_max = std::chrono::microseconds(10);
  auto base = std::make_shared<MemoryStore>();
  FaultyStore store(base, plan);
  std::vector<std::string> trace;
  for (int i = 0; i < 200; ++i) {
    const std::string path = "p/" + std::to_string(i % 40);
    trace.push_back(PutNew(store, path, std::string(100, static_cast<char>(i))).ToString());
    const auto bytes = store.Get(path);
    trace.push_back(bytes.ok() ? (*bytes)->ToString() : bytes.status().ToString());
  }
  for (const FaultRecord& record : store.records()) {
    trace.push_back(record.path + std::to_string(static_cast<int>(record.fault)));
  }
  return trace;
}

TEST(FaultyStore, SamePlan_SameRun) {
  EXPECT_EQ(RunPlan(7), RunPlan(7));
  EXPECT_NE(RunPlan(7), RunPlan(8));
}

TEST(OpenStore, PathsAndFileUris_NameTheSameFolder) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto by_path, OpenStore(folder.path() + "/a b"));
  OG_ASSERT_OK(PutNew(*by_path, "x", "1"));
  for (const std::string& uri :
       {"file:" + folder.path() + "/a b", "file://" + folder.path() + "/a%20b",
        "file://localhost" + folder.path() + "/a%20b"}) {
    OG_ASSERT_OK_AND_ASSIGN(const auto store, OpenStore(uri));
    OG_ASSERT_OK_AND_ASSIGN(const auto bytes, store->Get("x"));
    EXPECT_EQ(bytes->ToString(), "1");
  }
}

TEST(OpenStore, MemoryIsNewEachTime) {
  OG_ASSERT_OK_AND_ASSIGN(const auto first, OpenStore("memory:"));
  OG_ASSERT_OK(PutNew(*first, "x", "1"));
  OG_ASSERT_OK_AND_ASSIGN(const auto second, OpenStore("memory:"));
  EXPECT_TRUE(IsNotFound(second->Get("x").status()));
}

TEST(OpenStore, OtherSchemes_AreRefusedByName) {
  for (const char* uri : {"s3://bucket/x", "gs://b", "az://c/x", "http://host/x"}) {
    const auto store = OpenStore(uri);
    OG_EXPECT_ERROR(store, ErrorKind::kUnsupported, "store.unsupported_scheme");
    EXPECT_THAT(store.status().message(), ::testing::HasSubstr("memory:"));
  }
  for (const char* uri : {"", "file:", "file://host/x", "file://x", "file:///%zz", "file:///%4"}) {
    OG_EXPECT_ERROR(OpenStore(uri), ErrorKind::kInvalid, "store.bad_uri");
  }
}

TEST(ProbeStore, TellsOfABrokenStore) {
  auto faulty = std::make_shared<FaultyStore>(std::make_shared<MemoryStore>(), FaultPlan{});
  faulty->Arm({StoreOp::kGet, StoreFault::kFlippedBit, "__probe", 0});
  OG_EXPECT_ERROR(ProbeStore(*faulty), ErrorKind::kUnsupported, "store.probe_failed");
  const testing::TempFolder folder;
  OG_ASSERT_OK(ProbeStore(folder.path() + "/graph"));
}

}  // namespace
}  // namespace omnigraph::store
