#include "lane.h"

#include <utility>

#include "enrol.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {

Lane::Lane(TableId table_id, std::string type_name, lance::ShardLocation location, Backlog* backlog)
    : table_id_(table_id),
      type_name_(std::move(type_name)),
      location_(std::move(location)),
      backlog_(backlog) {}

Lane::~Lane() {
  writer_.reset();
  runtime::MutexLock lock(mutex_);
  for (const Pending& pending : pending_) {
    backlog_->EntryGone(pending.rows, pending.bytes, pending.in_memory);
  }
}

Result<std::shared_ptr<Lane>> Lane::Claim(Graph& graph, const TableState& table,
                                          std::shared_ptr<lance::ProcessRegistry> registry,
                                          Backlog* backlog) {
  std::shared_ptr<Lane> lane(new Lane(table.id, table.name, ShardOf(graph, table), backlog));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> base, graph.OpenTable(table));
  lane->entry_schema_ = lance::EntrySchema(*base->schema());
  const auto folded = table.shards.find(lane->shard());
  {
    runtime::MutexLock lock(lane->mutex_);
    lane->folded_ = folded == table.shards.end() ? 0 : folded->second;
    lane->tip_ = lane->folded_;
  }
  lance::ClaimOptions options;
  options.registry = std::move(registry);
  options.published = lane->state().folded;
  options.on_entry = [raw = lane.get()](lance::LogEntry entry) { raw->OnEntry(std::move(entry)); };
  const lance::EntryVisitor replay = [raw = lane.get()](const lance::LogEntry& entry) {
    raw->OnEntry(entry);
    return Status::OK();
  };
  auto writer = lance::ShardWriter::Claim(lane->location_, std::move(options), replay);
  if (CodeOf(writer.status()) == "memwal.entry_torn") {
    return WithContext(writer.status(),
                       "the log of `" + table.name +
                           "` takes no rows until `omnigraph ingest repair` was run; reads go on");
  }
  OG_ASSIGN_OR_RETURN(lane->writer_, std::move(writer));
  return lane;
}

void Lane::OnEntry(lance::LogEntry entry) {
  const int64_t rows = entry.rows();
  const size_t bytes = static_cast<size_t>(entry.size_bytes);
  const bool in_memory = backlog_->MayKeep(bytes);
  if (!in_memory) {
    entry.batches.clear();  // W3: read back from the log
  }
  {
    runtime::MutexLock lock(mutex_);
    tip_ = std::max(tip_, entry.position);
    if (entry.is_sentinel || entry.position <= folded_) {
      return;  // nothing to fold in it
    }
    pending_.push_back(Pending{.entry = std::move(entry),
                               .rows = rows,
                               .bytes = bytes,
                               .in_memory = in_memory,
                               .since = runtime::MonotonicNow()});
    pending_rows_ += rows;
    pending_bytes_ += bytes;
  }
  backlog_->EntryAdded(rows, bytes, in_memory);
}

bool Lane::leads() const {
  if (!writer_->status().ok()) {
    return false;
  }
  runtime::MutexLock lock(mutex_);
  return !deposed_;
}

Status Lane::CheckLead() {
  const uint64_t tip = state().tip;
  OG_ASSIGN_OR_RETURN(const bool more, lance::LogReader(location_).Exists(tip + 1));
  if (!more) {
    return Status::OK();
  }
  // An entry that is on its way to OnEntry(), or another's: its claim came before it.
  OG_ASSIGN_OR_RETURN(const auto owner, lance::ReadOwnerInfo(location_));
  runtime::MutexLock lock(mutex_);
  deposed_ = deposed_ || !owner.has_value() || owner->epoch > writer_->epoch();
  return Status::OK();
}

LaneState Lane::state() const {
  return StateAbove(0);
}

LaneState Lane::StateAbove(uint64_t folded) const {
  runtime::MutexLock lock(mutex_);
  LaneState out;
  out.folded = folded_;
  out.tip = tip_;
  out.rows = pending_rows_;
  out.bytes = pending_bytes_;
  for (const Pending& pending : pending_) {
    if (pending.entry.position > folded) {
      out.oldest = pending.since;
      break;
    }
    out.rows -= pending.rows;
    out.bytes -= pending.bytes;
  }
  return out;
}

size_t Lane::BytesUpTo(uint64_t to) const {
  runtime::MutexLock lock(mutex_);
  size_t sum = 0;
  for (const Pending& pending : pending_) {
    sum += pending.entry.position <= to ? pending.bytes : 0;
  }
  return sum;
}

uint64_t Lane::Shorten(uint64_t to, size_t bytes_max) const {
  runtime::MutexLock lock(mutex_);
  size_t sum = 0;
  uint64_t last = 0;
  for (const Pending& pending : pending_) {
    if (pending.entry.position > to) {
      break;
    }
    sum += pending.bytes;
    if (last != 0 && sum > bytes_max) {
      return last;
    }
    last = pending.entry.position;
  }
  return to;
}

Result<std::vector<lance::LogEntry>> Lane::Entries(uint64_t to) const {
  std::vector<lance::LogEntry> out;
  std::vector<size_t> dropped;
  {
    runtime::MutexLock lock(mutex_);
    for (const Pending& pending : pending_) {
      if (pending.entry.position > to) {
        break;
      }
      if (!pending.in_memory) {
        dropped.push_back(out.size());
      }
      out.push_back(pending.entry);
    }
  }
  const lance::LogReader reader(location_);
  for (const size_t index : dropped) {
    OG_ASSIGN_OR_RETURN(out[index], reader.Read(out[index].position));
  }
  return out;
}

void Lane::Folded(uint64_t position) {
  std::vector<Pending> gone;
  {
    runtime::MutexLock lock(mutex_);
    folded_ = std::max(folded_, position);
    tip_ = std::max(tip_, position);
    while (!pending_.empty() && pending_.front().entry.position <= folded_) {
      pending_rows_ -= pending_.front().rows;
      pending_bytes_ -= pending_.front().bytes;
      gone.push_back(std::move(pending_.front()));
      pending_.pop_front();
    }
  }
  for (const Pending& pending : gone) {
    backlog_->EntryGone(pending.rows, pending.bytes, pending.in_memory);
  }
}

}  // namespace omnigraph::graph
