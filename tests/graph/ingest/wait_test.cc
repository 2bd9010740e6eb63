// Sessions that wait for their acks: Push() writes the entry in its own thread, or has it written.
#include <gtest/gtest.h>

#include <atomic>

#include "ingest_world.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using namespace testing;  // NOLINT: the builders of this folder

/// Fails the next put of a log entry with a status.
class FailingStore : public store::MemoryStore {
 public:
  void FailNextEntry(Status status) { next_ = std::move(status); }

  Status PutIfAbsent(std::string_view path, const store::Bytes& bytes,
                     store::PutStrength strength) override {
    if (path.find("/wal/") != std::string_view::npos) {
      ++entries;
      OG_RETURN_NOT_OK(std::exchange(next_, Status::OK()));
    }
    return MemoryStore::PutIfAbsent(path, bytes, strength);
  }

  std::atomic<int> entries{0};

 private:
  Status next_;
};

class WaitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK(Graph::Init(store_, kSchema, "tester"));
    process_ = StartOn(store_);
    session_ = Open(&acks_);
  }
  std::unique_ptr<IngestSession> Open(std::vector<AckEvent>* acks) {
    auto session = process_.ingest->OpenSession(
        {.actor = "tester", .wait_for_acks = true, .on_ack = [acks](const AckEvent& event) {
           acks->push_back(event);
           acks->back().lines = {};  // borrowed for the length of the call
         }});
    OG_CHECK_OK(session);
    return std::move(*session);
  }

  std::shared_ptr<FailingStore> store_ = std::make_shared<FailingStore>();
  Process process_;
  std::vector<AckEvent> acks_;
  std::unique_ptr<IngestSession> session_;
};

TEST_F(WaitTest, EachPushReturnsWithItsAck_InOrder_AtOnePutEach) {
  OG_ASSERT_OK(session_->Push(City("first")));
  ASSERT_EQ(acks_.size(), 1u);
  const int before = store_->entries;
  for (int i = 1; i <= 20; ++i) {
    OG_ASSERT_OK(session_->Push(City("c" + std::to_string(i))));
    ASSERT_EQ(acks_.size(), static_cast<size_t>(i) + 1);
    EXPECT_EQ(acks_.back().outcome, AckEvent::Outcome::kAcked);
    EXPECT_EQ(acks_.back().rows, 1);
    EXPECT_EQ(acks_.back().position, acks_.front().position + static_cast<uint64_t>(i));
  }
  EXPECT_EQ(store_->entries, before + 20);
  EXPECT_EQ(session_->Summary().acked, 21);
  process_.Fold();
  EXPECT_EQ(IdsOf(*process_.graph, "City").size(), 21u);
}

TEST_F(WaitTest, APushOfSeveralTypes_ReturnsWithAllAcks) {
  OG_ASSERT_OK(session_->Push(Person("ann") + City("ulm") + Edge("LivesIn", "ann", "ulm")));
  EXPECT_EQ(acks_.size(), 3u);
  EXPECT_EQ(session_->Summary().acked, 3);
}

TEST_F(WaitTest, WhenAPutSurelyFailed_PushSaysSo_AndTheNextOneWorks) {
  OG_ASSERT_OK(session_->Push(City("first")));
  store_->FailNextEntry(Exhausted("store.full", "the disk is full"));
  EXPECT_EQ(CodeOf(session_->Push(City("lost"))), "store.full");
  ASSERT_EQ(acks_.size(), 2u);
  EXPECT_EQ(acks_.back().outcome, AckEvent::Outcome::kFailed);
  EXPECT_EQ(CodeOf(acks_.back().status), "store.full");
  OG_EXPECT_OK(session_->Push(City("next")));
  EXPECT_EQ(acks_.back().position, acks_.front().position + 1);
  EXPECT_EQ(session_->Summary().failed, 1);
  process_.Fold();
  EXPECT_EQ(IdsOf(*process_.graph, "City"), (std::set<std::string>{"first", "next"}));
}

TEST_F(WaitTest, WhenASyncFailed_TheOutcomeIsUnknown_AndTheWriterRetires) {  // P3
  OG_ASSERT_OK(session_->Push(City("first")));
  store_->FailNextEntry(
      WithUnknownEffect(Unavailable("store.sync_failed", "the disk took nothing")));
  EXPECT_EQ(CodeOf(session_->Push(City("lost"))), "store.sync_failed");
  ASSERT_EQ(acks_.size(), 2u);
  EXPECT_EQ(acks_.back().outcome, AckEvent::Outcome::kUnknown);
  EXPECT_EQ(session_->Summary().unknown, 1);
  OG_EXPECT_OK(session_->Push(City("next")));  // by a new claim of the shard
  EXPECT_EQ(acks_.back().epoch, acks_.front().epoch + 1);
}

TEST_F(WaitTest, ManyAtOnce_EachIsAckedInItsOwnPush_AndSharesEntries) {
  constexpr int kCallers = 8;
  constexpr int kRows = 50;
  OG_ASSERT_OK(session_->Push(City("first")));
  std::vector<std::vector<AckEvent>> acks(kCallers);
  {
    std::vector<runtime::Thread> callers;
    for (int c = 0; c < kCallers; ++c) {
      callers.push_back(runtime::Thread::Start("caller", [&, c] {
        std::vector<AckEvent>& own = acks[static_cast<size_t>(c)];
        const std::unique_ptr<IngestSession> session = Open(&own);
        for (int i = 0; i < kRows; ++i) {
          OG_CHECK_OK(session->Push(City(std::to_string(c) + "-" + std::to_string(i))));
          OG_CHECK(own.size() == static_cast<size_t>(i) + 1);
        }
      }));
    }
  }
  std::map<uint64_t, int64_t> rows_at;
  for (const std::vector<AckEvent>& own : acks) {
    for (size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].outcome, AckEvent::Outcome::kAcked);
      EXPECT_TRUE(i == 0 || own[i].position > own[i - 1].position);
      rows_at[own[i].position] += own[i].rows;
    }
  }
  EXPECT_EQ(static_cast<size_t>(store_->entries.load()), rows_at.size() + 2);  // sentinel, first
  process_.Fold();
  EXPECT_EQ(IdsOf(*process_.graph, "City").size(), static_cast<size_t>(kCallers * kRows + 1));
}

}  // namespace
}  // namespace omnigraph::graph
