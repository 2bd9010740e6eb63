/// \file
/// A lane: one shard that this process owns, with its writer and the rows that are acked and not
/// folded yet (W3).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backlog.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/lance/memwal/process_registry.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// What a lane holds, for status and for cuts.
struct LaneState {
  uint64_t folded = 0;  ///< published position
  uint64_t tip = 0;     ///< last position that stands in the log
  int64_t rows = 0;
  size_t bytes = 0;
  runtime::Duration oldest{0};  ///< when the oldest pending entry came; 0: none
};

/// Thread-safe. Entries come in from the writer's thread, and leave when a fold that covers them is
/// published.
class Lane {
 public:
  /// Claim the shard of an enrolled table (S1 to S9) and replay its log.
  /// Errors: as lance::ShardWriter::Claim.
  static Result<std::shared_ptr<Lane>> Claim(Graph& graph, const TableState& table,
                                             std::shared_ptr<lance::ProcessRegistry> registry,
                                             Backlog* backlog);
  ~Lane();

  TableId table_id() const { return table_id_; }
  const std::string& type_name() const { return type_name_; }
  const Uuid& shard() const { return location_.id; }
  lance::ShardWriter& writer() { return *writer_; }
  /// Arrow schema of an entry: the table's own, then `_tombstone`.
  const std::shared_ptr<arrow::Schema>& entry_schema() const { return entry_schema_; }

  /// True while what this object knows of the log is the truth: the writer has not retired, and as
  /// far as CheckLead() saw nobody claimed the shard after it. Else cuts and status read the log.
  bool leads() const;
  /// Ask whether somebody else claimed the shard meanwhile: a deposed owner learns of it only at
  /// its next put, and until then takes its own last entry for the tip (F1).
  ///
  /// Errors: any of the store. Cost: one head while nobody else wrote.
  Status CheckLead();

  LaneState state() const;
  /// The same of what stands above `folded` only. Cost: the entries up to `folded`, mostly none.
  LaneState StateAbove(uint64_t folded) const;
  /// Bytes of the entries in (folded, to].
  size_t BytesUpTo(uint64_t to) const;
  /// The largest position up to `to` whose entries fit `bytes_max` together; at least one entry.
  uint64_t Shorten(uint64_t to, size_t bytes_max) const;
  /// The entries in (folded, to]; those that were dropped from memory are read back.
  /// Errors: kCorruption, any of the store.
  Result<std::vector<lance::LogEntry>> Entries(uint64_t to) const;
  /// A published position covers everything up to `position`: let go of it.
  void Folded(uint64_t position);

 private:
  struct Pending {
    lance::LogEntry entry;  ///< without batches when `in_memory` is false
    int64_t rows = 0;
    size_t bytes = 0;
    bool in_memory = true;
    runtime::Duration since{0};
  };

  Lane(TableId table_id, std::string type_name, lance::ShardLocation location, Backlog* backlog);
  void OnEntry(lance::LogEntry entry);

  const TableId table_id_;
  const std::string type_name_;
  const lance::ShardLocation location_;
  Backlog* const backlog_;
  std::shared_ptr<arrow::Schema> entry_schema_;
  mutable runtime::Mutex mutex_;
  uint64_t folded_ OG_GUARDED_BY(mutex_) = 0;
  uint64_t tip_ OG_GUARDED_BY(mutex_) = 0;
  bool deposed_ OG_GUARDED_BY(mutex_) = false;
  std::deque<Pending> pending_ OG_GUARDED_BY(mutex_);  ///< ascending by position
  int64_t pending_rows_ OG_GUARDED_BY(mutex_) = 0;     ///< of pending_
  size_t pending_bytes_ OG_GUARDED_BY(mutex_) = 0;
  std::unique_ptr<lance::ShardWriter> writer_;  ///< last: its thread calls OnEntry
};

}  // namespace omnigraph::graph
