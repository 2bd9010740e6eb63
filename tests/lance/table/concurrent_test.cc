// Many writers at once, and long runs over a store that fails: what was acknowledged is there,
// once.
#include <random>
#include <set>

#include "omnigraph/lance/table/commit.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/counting_store.h"
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

/// Refuses one put of a manifest in eight for good, throttles some, and says so.
class RefusingStore : public store::CountingStore {
 public:
  RefusingStore(std::shared_ptr<store::ObjectStore> base, uint64_t seed, uint64_t throttled_of_8)
      : CountingStore(std::move(base)), chance_(seed), throttled_of_8_(throttled_of_8) {}
  Status PutIfAbsent(std::string_view path, const store::Bytes& bytes,
                     store::PutStrength strength) override {
    if (path.find("_versions/") != std::string_view::npos) {
      const uint64_t draw = chance_() % 8;
      if (draw == 0) {
        return chance_() % 2 == 0 ? Exhausted("store.full", "no space left")
                                  : Invalid("store.permission_denied", "not yours");
      }
      if (draw <= throttled_of_8_) {
        return Unavailable("store.throttled", "come again");
      }
    }
    return CountingStore::PutIfAbsent(path, bytes, strength);
  }

 private:
  std::mt19937_64 chance_;
  const uint64_t throttled_of_8_;
};

/// What a caller was told about the rows that it appended one by one.
struct Told {
  std::set<int64_t> acked;
  std::set<int64_t> unknown;
  std::set<int64_t> refused;
};

Told AppendOneByOne(const TableLocation& location, int64_t rows) {
  Told told;
  for (int64_t n = 0; n < rows; ++n) {
    auto table = Table::Open(location, {.look = Look::kWriter});
    if (!table.ok()) {
      continue;
    }
    const auto change = AppendChange(**table, n, 1);
    if (!change.ok()) {
      continue;
    }
    const auto committed = CommitOrdinary(*table, *change);
    const ErrorDetail* detail = GetErrorDetail(committed.status());
    const bool unknown = detail != nullptr && detail->effect_unknown();
    (committed.ok() ? told.acked : unknown ? told.unknown : told.refused).insert(n);
  }
  return told;
}

void ExpectTrue(const Told& told, const TableLocation& calm) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(calm, {.look = Look::kWriter}));
  const std::vector<int64_t> rows = Numbers(*table);
  const std::set<int64_t> found(rows.begin(), rows.end());
  EXPECT_EQ(found.size(), rows.size()) << "a row stands twice";
  for (const int64_t n : told.acked) {
    EXPECT_TRUE(found.contains(n)) << n << " was acknowledged";
  }
  for (const int64_t n : found) {
    EXPECT_TRUE(told.acked.contains(n) || told.unknown.contains(n))
        << n << " was refused, but is there";
  }
}

/// Seeds of a plan.
class FailingStore : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { OG_ASSERT_OK(CreateTable(calm_, SmallSchema())); }
  uint64_t seed() const { return static_cast<uint64_t>(GetParam()); }

  const std::shared_ptr<store::ObjectStore> memory_ = std::make_shared<store::MemoryStore>();
  const TableLocation calm_{memory_, "t.lance"};
};

TEST_P(FailingStore, EveryOutcomeIsToldTruly) {
  // Appends against a store that loses one call in ten, before, after or long after its effect.
  store::FaultPlan plan;
  plan.seed = seed();
  plan.fail_before_ppm = plan.fail_after_ppm = plan.late_effect_ppm = 33'000;
  const auto faulty = std::make_shared<store::FaultyStore>(memory_, plan);
  const Told told = AppendOneByOne({faulty, "t.lance"}, 60);
  faulty->ReleaseLate();
  ExpectTrue(told, calm_);
  EXPECT_GT(told.acked.size(), 20u);
}

TEST_P(FailingStore, EveryOutcomeIsToldTruly_WhereLostAnswersMeetRefusals) {
  store::FaultPlan plan;
  plan.seed = seed();
  plan.fail_before_ppm = plan.fail_after_ppm = 20'000;
  plan.late_effect_ppm = 150'000;
  plan.late_calls_max = 40;
  plan.path_contains = "_versions/";
  const auto faulty = std::make_shared<store::FaultyStore>(
      std::make_shared<RefusingStore>(memory_, seed(), 1), plan);
  const Told told = AppendOneByOne({faulty, "t.lance"}, 60);
  faulty->ReleaseLate();
  ExpectTrue(told, calm_);
  EXPECT_GT(told.acked.size(), 10u);
}

TEST_P(FailingStore, EveryOutcomeIsToldTruly_NothingIsUnknownWhereEveryAnswerCame) {
  const auto refusing = std::make_shared<RefusingStore>(memory_, seed(), 5);
  const Told told = AppendOneByOne({refusing, "t.lance"}, 60);
  ExpectTrue(told, calm_);
  EXPECT_TRUE(told.unknown.empty());
  EXPECT_FALSE(told.refused.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, FailingStore, ::testing::Range(1, 26));

}  // namespace
}  // namespace omnigraph::lance
