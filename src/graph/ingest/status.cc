#include "status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "enrol.h"
#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/manifest/promoter.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/process.h"

namespace omnigraph::graph {
namespace {

/// Looks at snapshot and logs until no fold came between them.
constexpr int kLooksMax = 8;

void FillFromLane(const Lane& lane, lance::ShardWriter& writer, ShardStatus* out) {
  const LaneState state = lane.StateAbove(out->folded_position);
  out->owned_here = writer.status().ok();
  out->owner = runtime::CurrentProcess().id;
  out->epoch = writer.epoch();
  out->tip_position = state.tip;
  out->replay_after = writer.replay_after();
  out->pending = static_cast<uint64_t>(state.rows);
  out->pending_bytes = state.bytes;
  out->last_error = writer.status().ok() ? "" : writer.status().ToString();
  if (state.oldest.count() > 0) {
    out->oldest_pending_s =
        std::chrono::duration<double>(runtime::MonotonicNow() - state.oldest).count();
  }
}

/// A shard that this process does not own: its manifest and the tail of its log.
Status FillFromLog(const lance::ShardLocation& location, ShardStatus* out) {
  OG_ASSIGN_OR_RETURN(const std::optional<lance::ShardOwnerInfo> info,
                      lance::ReadOwnerInfo(location));
  if (info.has_value()) {
    out->epoch = info->epoch;
    out->replay_after = info->replay_after;
    if (info->owner.has_value()) {
      out->owner = info->owner->process_id;
      out->address = info->owner->address;
    }
  }
  out->tip_position = out->folded_position;
  int64_t oldest_ms = 0;
  const Result<lance::LogTail> tail =
      lance::LogReader(location).ReadAfter(out->folded_position, [&](const lance::LogEntry& entry) {
        out->tip_position = entry.position;
        out->pending += static_cast<uint64_t>(entry.rows());
        out->pending_bytes += entry.rows() > 0 ? static_cast<uint64_t>(entry.size_bytes) : 0;
        if (oldest_ms == 0 && entry.mark.has_value()) {
          oldest_ms = entry.mark->at_ms;
        }
        return Status::OK();
      });
  if (!tail.ok()) {
    out->last_error = tail.status().ToString();
  } else if (tail->torn) {
    out->last_error = fmt::format("the entry at position {} is torn", tail->tip);
  }
  if (oldest_ms > 0) {
    const double age = static_cast<double>(runtime::WallNow().count()) / 1e6 -
                       static_cast<double>(oldest_ms) / 1e3;
    out->oldest_pending_s = std::max(age, 0.0);
  }
  return Status::OK();
}

}  // namespace

namespace {

/// True if no fold stands between two snapshots.
bool SamePositions(const Snapshot& a, const Snapshot& b) {
  return std::equal(a.tables.begin(), a.tables.end(), b.tables.begin(), b.tables.end(),
                    [](const auto& one, const auto& other) {
                      return one.first == other.first && one.second.shards == other.second.shards;
                    });
}

/// Counters of a snapshot, and what stands in memory and in the logs above its positions.
Status FillShards(Graph& graph, const Snapshot& snapshot, const LaneMap& lanes,
                  std::vector<ShardStatus>* out) {
  out->clear();
  for (const auto& [id, table] : snapshot.tables) {
    for (const auto& [shard, position] : table.shards) {
      ShardStatus status;
      status.kind = TableKindName(table.kind);
      status.type = table.name;
      status.table_id = id;
      status.shard = shard;
      status.folded_position = position;
      status.visible = table.visible;
      status.superseded = table.superseded;
      status.rejected = table.rejected;
      status.paused =
          std::binary_search(snapshot.paused.begin(), snapshot.paused.end(), table.name);
      const auto lane = lanes.find(id);
      if (lane != lanes.end() && lane->second->leads()) {
        FillFromLane(*lane->second, lane->second->writer(), &status);
      } else {
        OG_RETURN_NOT_OK(FillFromLog(ShardOf(graph, table), &status));
        const Status writer = lane == lanes.end() ? Status::OK() : lane->second->writer().status();
        if (!writer.ok() && status.last_error.empty()) {
          status.last_error = writer.ToString();
        }
      }
      status.acked = table.acked + status.pending;
      out->push_back(std::move(status));
    }
  }
  return Status::OK();
}

}  // namespace

Result<std::map<std::string, int64_t>> OpenRejects::Count(Graph& graph, const Snapshot& snapshot) {
  const TableState* table = snapshot.Rejects();
  const std::string path = table == nullptr ? std::string() : table->path();
  const uint64_t version = table == nullptr ? 0 : table->version;
  {
    runtime::MutexLock lock(mutex_);
    if (!path.empty() && path == path_ && version == version_) {
      return counts_;
    }
  }
  OG_ASSIGN_OR_RETURN(auto counts, CountRejects(graph, snapshot));
  runtime::MutexLock lock(mutex_);
  path_ = path;
  version_ = version;
  counts_ = counts;
  return counts;
}

Result<IngestStatus> StatusOf(Graph& graph, const LaneMap& lanes, OpenRejects* rejects) {
  OG_ASSIGN_OR_RETURN(SnapshotRef snapshot, graph.Refresh());
  IngestStatus out;
  for (int looks = 0; looks < kLooksMax; ++looks) {
    OG_RETURN_NOT_OK(FillShards(graph, *snapshot, lanes, &out.shards));
    OG_ASSIGN_OR_RETURN(const SnapshotRef newest, graph.Refresh());
    if (SamePositions(*snapshot, *newest)) {
      break;
    }
    snapshot = newest;  // B4: rows may have left a log before it was read
  }
  out.graph_id = snapshot->graph_id;
  out.branch = snapshot->branch;
  out.sequence = snapshot->sequence;
  OG_ASSIGN_OR_RETURN(out.open_rejects_by_code, rejects->Count(graph, *snapshot));
  if (snapshot->foreign_version != 0) {
    out.notes.push_back(
        fmt::format("an outside writer put version {} over the graph's {}: it is "
                    "stepped over, and the next commit goes above it",
                    snapshot->foreign_version, snapshot->sequence));
  }
  OG_ASSIGN_OR_RETURN(const std::vector<ForeignVersion> foreign,
                      FindForeignVersions(graph, *snapshot));
  for (const ForeignVersion& table : foreign) {
    out.notes.push_back(
        fmt::format("an outside writer put version {} of the table of {}: the graph does not read "
                    "it, and the next commit to that type goes over it",
                    table.version, table.type));
  }
  return out;
}

namespace {

IngestCounts CountBy(const Snapshot& snapshot, const LaneMap& lanes) {
  IngestCounts out;
  out.sequence = snapshot.sequence;
  for (const auto& [id, table] : snapshot.tables) {
    out.acked += table.acked;
    out.visible += table.visible;
    out.superseded += table.superseded;
    out.rejected += table.rejected;
    const auto lane = lanes.find(id);
    if (lane == lanes.end() || !lane->second->leads()) {
      continue;
    }
    const auto position = table.shards.find(lane->second->shard());
    const LaneState state =
        lane->second->StateAbove(position == table.shards.end() ? 0 : position->second);
    out.acked += static_cast<uint64_t>(state.rows);
    out.pending += static_cast<uint64_t>(state.rows);
    if (state.oldest.count() > 0) {
      const runtime::Duration age = runtime::MonotonicNow() - state.oldest;
      out.oldest_pending_s =
          std::max(out.oldest_pending_s, std::chrono::duration<double>(age).count());
    }
  }
  return out;
}

}  // namespace

IngestCounts CountsOf(const Graph& graph, const LaneMap& lanes) {
  SnapshotRef snapshot = graph.snapshot();
  for (int looks = 0;; ++looks) {
    const IngestCounts out = CountBy(*snapshot, lanes);
    const SnapshotRef newest = graph.snapshot();
    if (newest == snapshot || looks == kLooksMax) {
      return out;
    }
    snapshot = newest;  // B4: rows may have left a lane before it was asked
  }
}

}  // namespace omnigraph::graph
