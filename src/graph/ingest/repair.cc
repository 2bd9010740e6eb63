#include "omnigraph/graph/ingest/repair.h"

#include <fmt/format.h>

#include <algorithm>

#include "enrol.h"
#include "omnigraph/lance/memwal/process_registry.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/clock.h"

namespace omnigraph::graph {
namespace {

constexpr runtime::Duration kLookAgain = std::chrono::milliseconds(500);

/// Wait until the owner counts as gone (S9).
Status WaitForNoOwner(const lance::ShardLocation& location, runtime::Duration takeover_after) {
  lance::ProcessRegistryOptions options;
  options.takeover_after = takeover_after;
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<lance::ProcessRegistry> registry,
                      lance::ProcessRegistry::Start(location.store, options));
  const runtime::Duration give_up = runtime::MonotonicNow() + takeover_after + 2 * kLookAgain;
  while (true) {
    OG_ASSIGN_OR_RETURN(const auto info, lance::ReadOwnerInfo(location));
    if (!info.has_value() || !info->owner.has_value()) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(const lance::OwnerState state, registry->Judge(*info->owner));
    if (state != lance::OwnerState::kAlive) {
      return Status::OK();
    }
    if (runtime::MonotonicNow() > give_up) {
      return Fenced("ingest.not_owner",
                    fmt::format("{} at '{}' owns this log and is alive; stop it first",
                                info->owner->process_id, info->owner->address),
                    {.object = info->owner->address});
    }
    runtime::SleepFor(kLookAgain);
  }
}

}  // namespace

Result<LogRepair> RepairLog(Graph& graph, std::string_view type, bool accept_loss,
                            runtime::Duration takeover_after) {
  OG_ASSIGN_OR_RETURN(const SnapshotRef snapshot, graph.Refresh());
  const auto found =
      std::find_if(snapshot->tables.begin(), snapshot->tables.end(), [&](const auto& entry) {
        return entry.second.name == type && entry.second.kind != TableKind::kRejects;
      });
  if (found == snapshot->tables.end() || !found->second.enrolled()) {
    return NotFound("ingest.no_log",
                    fmt::format("`{}` has no log here: nothing was streamed to it", type));
  }
  const lance::ShardLocation location = ShardOf(graph, found->second);
  OG_RETURN_NOT_OK(WaitForNoOwner(location, takeover_after));
  OG_ASSIGN_OR_RETURN(const uint64_t position, lance::ReplaceTornTail(location, accept_loss));
  return LogRepair{.position = position, .copy = location.TornPath(position)};
}

}  // namespace omnigraph::graph
