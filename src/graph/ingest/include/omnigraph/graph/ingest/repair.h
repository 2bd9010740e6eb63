/// \file
/// The operator's way out when the last entry of a log is not whole (S7).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/runtime/clock.h"

namespace omnigraph::graph {

struct LogRepair {
  uint64_t position = 0;  ///< of the entry that a sentinel replaced
  std::string copy;       ///< object that keeps its bytes
};

/// Replace the torn last entry in the log of `type`, after making sure that no living process owns
/// the shard (which takes up to `takeover_after` where the owner's host is another).
///
/// Errors: kNotFound (`ingest.no_log`), kFenced (`ingest.not_owner`) while an owner lives,
///         kInvalid (`memwal.not_torn`), kCorruption (`memwal.entry_torn`) where its rows may have
///         been acknowledged and `accept_loss` is false; any of the store.
Result<LogRepair> RepairLog(Graph& graph, std::string_view type, bool accept_loss,
                            runtime::Duration takeover_after = std::chrono::seconds(15));

}  // namespace omnigraph::graph
