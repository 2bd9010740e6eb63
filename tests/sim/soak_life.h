/// \file
/// What one simulated process of a soak run does from its start to its end or its death.
#pragma once

#include <memory>

#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/store/object_store.h"
#include "soak_world.h"

namespace omnigraph::soak {

/// What the processes of a run do beside streaming, and with which settings.
struct LifePlan {
  bool loads = true;
  bool folds = true;       ///< by hand, beside those of the background
  bool leaves = true;      ///< a clean stop now and then
  uint64_t pause_ms = 20;  ///< mean, between two actions
  graph::IngestOptions ingest;
};

/// A server: opens the graph, streams random rows, folds, loads, looks. Returns when the world
/// stops or the process wants to start anew.
void RunServer(World& world, const LifePlan& plan, int slot,
               const std::shared_ptr<store::ObjectStore>& store);
/// A process that owns nothing and folds from the logs (W3).
void RunFolder(World& world, const LifePlan& plan,
               const std::shared_ptr<store::ObjectStore>& store);

}  // namespace omnigraph::soak
