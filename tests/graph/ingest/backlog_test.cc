// The gate of admission (G9) on the virtual clock: when it refuses, and when it asks for a fold.
#include "backlog.h"

#include <gtest/gtest.h>

#include "omnigraph/runtime/sim.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

constexpr std::chrono::hours kAge{1};

/// Runs `refuse` on a backlog of one row that is nowhere near due; how long the fold then waits.
runtime::Duration WaitAfter(const std::function<void(Backlog&)>& refuse) {
  runtime::Duration waited{0};
  const auto result = runtime::RunSimulation({}, [&](runtime::Simulator&) {
    Backlog backlog({.in_flight_bytes_max = 100,
                     .pending_bytes_max = 100,
                     .backlog_bytes_max = 1000,
                     .wait_max = std::chrono::seconds(2),
                     .fold_rows = 1000,
                     .fold_bytes = 1000,
                     .fold_age = kAge});
    const runtime::Duration start = runtime::MonotonicNow();
    backlog.EntryAdded(1, 60, true);
    refuse(backlog);
    EXPECT_TRUE(backlog.WaitForFold(runtime::Duration{0}));
    waited = runtime::MonotonicNow() - start;
  });
  EXPECT_TRUE(result.ok());
  return waited;
}

TEST(Backlog, WhenRowsWaitForTheirFold_ARefusalAsksForIt) {
  const runtime::Duration waited = WaitAfter([](Backlog& backlog) {
    OG_EXPECT_ERROR(backlog.Reserve(50), ErrorKind::kExhausted, "ingest.backpressure");
  });
  EXPECT_LT(waited, kAge);
}

// A fold frees nothing of what waits for its put; one more commit each second would only slow it.
TEST(Backlog, WhenRowsWaitForTheirPut_ARefusalAsksForNoFold) {
  const runtime::Duration waited = WaitAfter([](Backlog& backlog) {
    backlog.Add(90);
    OG_EXPECT_ERROR(backlog.Reserve(20), ErrorKind::kExhausted, "ingest.backpressure");
  });
  EXPECT_GE(waited, kAge);
}

/// Whether a row is admitted when folds began to fail, with so many rows pending, two hours ago.
Status ReserveAfterFailures(int64_t pending, bool cured) {
  Status out;
  const auto result = runtime::RunSimulation({}, [&](runtime::Simulator&) {
    Backlog backlog({.in_flight_bytes_max = 1000,
                     .pending_bytes_max = 1000,
                     .backlog_bytes_max = 1000,
                     .backlog_age_max = kAge});
    backlog.EntryAdded(pending, 100, true);
    backlog.NoteFold(false);
    OG_EXPECT_OK(backlog.Reserve(10));  // they have only begun to
    runtime::SleepFor(2 * kAge);
    backlog.NoteFold(false);  // the first failure counts
    if (cured) {
      backlog.NoteFold(true);
    }
    out = backlog.Reserve(10);
  });
  EXPECT_TRUE(result.ok());
  return out;
}

TEST(Backlog, WhenFoldsFailForTooLong_AdmissionRefuses) {
  const Status refused = ReserveAfterFailures(1, false);
  OG_EXPECT_ERROR(refused, ErrorKind::kExhausted, "ingest.backpressure");
  EXPECT_NE(refused.message().find("fold has failed for 7200 s"), std::string::npos);
  OG_EXPECT_OK(ReserveAfterFailures(1, true));
  OG_EXPECT_OK(ReserveAfterFailures(0, false));  // a failed fold of nothing holds nobody up
}

TEST(Backlog, WhenItIsStopped_AdmissionSaysThatTheProcessGoes) {
  Backlog backlog({});
  backlog.Stop();
  OG_EXPECT_ERROR(backlog.Reserve(1), ErrorKind::kUnavailable, "ingest.shutdown");
}

}  // namespace
}  // namespace omnigraph::graph
