/// \file
/// What all sessions share: the graphs, the threads that may block, the stop flag.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "omnigraph/engine/engine.h"
#include "omnigraph/runtime/queue.h"

namespace omnigraph::server {

/// Thread-safe. The map of graphs is fixed once the server runs.
struct Shared {
  std::map<std::string, std::shared_ptr<engine::Engine>> graphs;
  /// Work that may take seconds (folds, the end of a stream); session threads never wait for it.
  runtime::BoundedQueue<std::function<void()>> blocking{1024};
  std::atomic<bool> stopping{false};

  /// Errors: kNotFound (`server.unknown_graph`), naming those that exist.
  Result<std::shared_ptr<engine::Engine>> FindGraph(const std::string& id) const;
};

}  // namespace omnigraph::server
