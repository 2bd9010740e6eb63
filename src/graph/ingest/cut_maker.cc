#include "cut_maker.h"

#include <algorithm>
#include <utility>

#include "enrol.h"
#include "omnigraph/lance/memwal/log_reader.h"

namespace omnigraph::graph {
namespace {

/// One enrolled table's part of a cut in the making.
struct Part {
  const TableState* table = nullptr;
  Uuid shard;
  std::shared_ptr<Lane> lane;  ///< nullptr: another process's shard, or nobody's
  uint64_t from = 0;
  uint64_t to = 0;
  size_t bytes = 0;
  std::vector<lance::LogEntry> entries;  ///< of shards without a lane
  size_t data_entries = 0;               ///< of them; sentinels weigh nothing
};

/// Read a shard that is not ours up to its tip, or as far as the budget goes.
Status ReadLog(Graph& graph, size_t bytes_max, Part* part) {
  const lance::LogReader reader(ShardOf(graph, *part->table));
  bool full = false;
  const Result<lance::LogTail> tail =
      reader.ReadAfter(part->from, [&](const lance::LogEntry& entry) {
        if (part->data_entries > 0 && part->bytes > bytes_max) {
          full = true;
          return Cancelled("fold.cut_full", "the cut is full");
        }
        if (!entry.is_sentinel) {
          ++part->data_entries;
          part->bytes += static_cast<size_t>(entry.size_bytes);
        }
        part->to = entry.position;
        part->entries.push_back(entry);
        return Status::OK();
      });
  return full ? Status::OK() : tail.status();
}

Status FixPart(Graph& graph, size_t bytes_max, Part* part) {
  part->to = part->from;
  if (part->lane != nullptr) {
    OG_RETURN_NOT_OK(part->lane->CheckLead());
    if (!part->lane->leads() || part->lane->state().tip < part->from) {
      part->lane = nullptr;  // the log knows more than its former owner
    }
  }
  if (part->lane == nullptr) {
    return ReadLog(graph, bytes_max, part);
  }
  part->to = std::max(part->from, part->lane->state().tip);
  part->bytes = part->lane->BytesUpTo(part->to);
  return Status::OK();
}

size_t BytesOf(const std::vector<Part>& parts) {
  size_t sum = 0;
  for (const Part& part : parts) {
    sum += part.bytes;
  }
  return sum;
}

/// Cut a part down to a budget. One entry with rows stays: a cut of sentinels alone folds nothing,
/// and would look like the end of the log.
void Shorten(size_t bytes_max, Part* part) {
  if (part->bytes <= bytes_max) {
    return;
  }
  if (part->lane != nullptr) {
    part->to = part->lane->Shorten(part->to, bytes_max);
    part->bytes = part->lane->BytesUpTo(part->to);
    return;
  }
  while (part->data_entries > 1 && part->bytes > bytes_max) {
    if (!part->entries.back().is_sentinel) {
      --part->data_entries;
      part->bytes -= static_cast<size_t>(part->entries.back().size_bytes);
    }
    part->entries.pop_back();
    part->to = part->entries.back().position;
  }
}

/// Give every part its share; what a small one leaves goes to those after it.
void ShortenAll(size_t bytes_max, std::vector<Part>* parts) {
  size_t left = bytes_max;
  for (size_t i = 0; i < parts->size(); ++i) {
    const size_t share = left / (parts->size() - i);
    Shorten(share, &(*parts)[i]);
    left -= std::min(left, (*parts)[i].bytes);
  }
}

Status Take(std::vector<Part>* parts, Cut* cut) {
  for (Part& part : *parts) {
    if (part.to == part.from) {
      continue;
    }
    CutShard shard{
        .table_id = part.table->id, .shard = part.shard, .from = part.from, .to = part.to};
    if (part.lane != nullptr) {
      OG_ASSIGN_OR_RETURN(shard.entries, part.lane->Entries(part.to));
    } else {
      shard.entries = std::move(part.entries);
    }
    cut->shards.push_back(std::move(shard));
  }
  return Status::OK();
}

std::vector<Part> PartsOf(const Snapshot& snapshot, const LaneMap& lanes, TableKind kind) {
  std::vector<Part> out;
  for (const auto& [id, table] : snapshot.tables) {
    if (table.kind != kind) {
      continue;
    }
    const auto lane = lanes.find(id);
    for (const auto& [shard, position] : table.shards) {
      out.push_back(Part{.table = &table,
                         .shard = shard,
                         .lane = lane == lanes.end() ? nullptr : lane->second,
                         .from = position});
    }
  }
  return out;
}

}  // namespace

Result<Cut> MakeCut(Graph& graph, const Snapshot& snapshot, const LaneMap& lanes,
                    size_t bytes_max) {
  std::vector<Part> edges = PartsOf(snapshot, lanes, TableKind::kEdge);
  std::vector<Part> nodes = PartsOf(snapshot, lanes, TableKind::kNode);
  for (Part& part : edges) {
    OG_RETURN_NOT_OK(FixPart(graph, bytes_max, &part));
  }
  for (Part& part : nodes) {
    if (part.lane != nullptr) {
      // Rows admitted by now. A retired writer has nothing more to settle.
      (void)part.lane->writer().WaitSettled();
    }
    OG_RETURN_NOT_OK(FixPart(graph, bytes_max, &part));
  }
  Cut out;
  const size_t node_bytes = BytesOf(nodes);
  if (node_bytes > bytes_max) {
    ShortenAll(bytes_max, &nodes);  // node shards alone
    OG_RETURN_NOT_OK(Take(&nodes, &out));
    return out;
  }
  ShortenAll(bytes_max - node_bytes, &edges);
  OG_RETURN_NOT_OK(Take(&nodes, &out));
  OG_RETURN_NOT_OK(Take(&edges, &out));
  return out;
}

}  // namespace omnigraph::graph
