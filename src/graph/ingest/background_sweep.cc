#include "background_sweep.h"

#include "omnigraph/graph/manifest/sweeper.h"

namespace omnigraph::graph {
namespace {

constexpr runtime::Duration kLookEvery = std::chrono::hours(1);
/// A short-lived process should not break off each day's pass.
constexpr runtime::Duration kPassAtLeast = std::chrono::seconds(2);

}  // namespace

void BackgroundSweep::AfterFold() {
  const runtime::Duration now = runtime::MonotonicNow();
  if (now < look_again_ || running_.load()) {
    return;
  }
  look_again_ = now + kLookEvery;
  const Result<bool> turn = TakeSweepTurn(graph_);
  if (!turn.ok() || !*turn) {
    return;
  }
  running_ = true;
  thread_ = runtime::Thread::Start("sweep", [this, now] {
    SweepOptions options;
    options.stop = [this, now] {
      return stopped_.load() && runtime::MonotonicNow() - now > kPassAtLeast;
    };
    (void)Sweep(graph_, options);
    running_ = false;
  });
}

void BackgroundSweep::Stop() {
  stopped_ = true;
  if (thread_.joinable()) {
    thread_.Join();
  }
}

}  // namespace omnigraph::graph
