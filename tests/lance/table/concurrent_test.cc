// Many writers at once, and long runs over a store that fails: what was acknowledged is there,
// once.
#include <set>

#include "omnigraph/lance/table/commit.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/faulty_store.h"
#include "table_testing.h"

namespace omnigraph::lance {
namespace {

using namespace testing;

TEST(ConcurrentWriters, AppendsOfAllStandOnceInAChainWithoutGaps) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK(CreateTable(location, SmallSchema()));
  constexpr int kWriters = 4;
  constexpr int kCommits = 8;
  std::vector<runtime::Thread> threads;
  for (int writer = 0; writer < kWriters; ++writer) {
    threads.push_back(runtime::Thread::Start("writer", [&location, writer] {
      for (int i = 0; i < kCommits; ++i) {
        const int64_t first = 100 * writer + 2 * i;
        auto table = Table::Open(location);
        OG_CHECK_OK(table);
        const auto change = AppendChange(**table, first, 2);
        OG_CHECK_OK(change);
        OG_CHECK_OK(CommitOrdinary(*table, *change, {.attempts_max = 1000}));
      }
    }));
  }
  for (runtime::Thread& thread : threads) {
    thread.Join();
  }
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(location, {.look = Look::kWriter}));
  EXPECT_EQ(table->version(), 1u + kWriters * kCommits);
  std::vector<int64_t> expected;
  for (int writer = 0; writer < kWriters; ++writer) {
    const std::vector<int64_t> rows = Range(100 * writer, 100 * writer + 2 * kCommits);
    expected.insert(expected.end(), rows.begin(), rows.end());
  }
  std::vector<int64_t> found = Numbers(*table);
  std::ranges::sort(found);
  EXPECT_EQ(found, expected);
  for (uint64_t version = 1; version <= table->version(); ++version) {
    OG_EXPECT_OK(Table::Open(location, {.version = version}));
  }
  // Row ids are dense: every commit was numbered on the one before it.
  OG_ASSERT_OK_AND_ASSIGN(const auto ids, Rows(*table, {.columns = {{}}, .with_row_id = true}));
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
  EXPECT_EQ(table->manifest().next_row_id, ids.size());
}

class FailingStore : public ::testing::TestWithParam<int> {};

/// Upserts against a store that loses one call in ten, before, after or long after its effect.
TEST_P(FailingStore, EveryOutcomeIsToldTruly) {
  const auto memory = std::make_shared<store::MemoryStore>();
  const TableLocation calm{memory, "t.lance"};
  OG_ASSERT_OK(CreateTable(calm, SmallSchema()));
  store::FaultPlan plan;
  plan.seed = static_cast<uint64_t>(GetParam());
  plan.fail_before_ppm = plan.fail_after_ppm = plan.late_effect_ppm = 33'000;
  const auto faulty = std::make_shared<store::FaultyStore>(memory, plan);
  const TableLocation location{faulty, "t.lance"};
  std::set<int64_t> acked;
  std::set<int64_t> unknown;
  for (int64_t n = 0; n < 60; ++n) {
    auto table = Table::Open(location, {.look = Look::kWriter});
    if (!table.ok()) {
      continue;
    }
    const auto change = AppendChange(**table, n, 1);
    if (!change.ok()) {
      continue;
    }
    const auto committed = CommitOrdinary(*table, *change);
    if (committed.ok()) {
      acked.insert(n);
    } else if (const ErrorDetail* detail = GetErrorDetail(committed.status());
               detail != nullptr && detail->effect_unknown()) {
      unknown.insert(n);
    }
  }
  faulty->ReleaseLate();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(calm, {.look = Look::kWriter}));
  const std::vector<int64_t> rows = Numbers(*table);
  const std::set<int64_t> found(rows.begin(), rows.end());
  EXPECT_EQ(found.size(), rows.size()) << "a row stands twice";
  for (const int64_t n : acked) {
    EXPECT_TRUE(found.contains(n)) << n << " was acknowledged";
  }
  for (const int64_t n : found) {
    EXPECT_TRUE(acked.contains(n) || unknown.contains(n)) << n << " was refused, but is there";
  }
  EXPECT_GT(acked.size(), 20u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, FailingStore, ::testing::Range(1, 26));

}  // namespace
}  // namespace omnigraph::lance
