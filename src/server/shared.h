/// \file
/// What all sessions share: the graphs, the queues of work that may block, the stop flag.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "omnigraph/engine/engine.h"
#include "omnigraph/runtime/queue.h"

namespace omnigraph::server {

/// Work that waits for a thread that may block; session threads never do. Thread-safe.
using WorkQueue = runtime::BoundedQueue<std::function<void()>>;

/// Thread-safe. The map of graphs is fixed once the server runs.
struct Shared {
  std::map<std::string, std::shared_ptr<engine::Engine>> graphs;
  // One queue for each kind of work, with threads of its own: none waits behind another kind.
  WorkQueue folds{1024};
  WorkQueue queries{16};
  WorkQueue lookups{64};                ///< status: reads, which wait for no fold
  std::chrono::seconds stream_idle{0};  ///< ServerOptions
  std::atomic<bool> stopping{false};

  /// Errors: kNotFound (`server.unknown_graph`), naming those that exist.
  Result<std::shared_ptr<engine::Engine>> FindGraph(const std::string& id) const;
};

}  // namespace omnigraph::server
