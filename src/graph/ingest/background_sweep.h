/// \file
/// The sweep (C6) beside the folds of a process: rarely, in a thread of its own, and only while it
/// runs.
#pragma once

#include <atomic>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/thread.h"

namespace omnigraph::graph {

/// AfterFold() and Stop() are called by one thread at a time; borrows the graph.
class BackgroundSweep {
 public:
  explicit BackgroundSweep(Graph* graph) : graph_(*graph) {}
  ~BackgroundSweep() { Stop(); }

  /// Start a pass where one is due. What fails is due again a day later.
  /// Cost: nothing, but one head in an hour.
  void AfterFold();
  /// End a pass that has run for two seconds, and wait for its thread.
  void Stop();

 private:
  Graph& graph_;
  runtime::Duration look_again_{0};
  std::atomic<bool> running_{false};
  std::atomic<bool> stopped_{false};
  runtime::Thread thread_;
};

}  // namespace omnigraph::graph
