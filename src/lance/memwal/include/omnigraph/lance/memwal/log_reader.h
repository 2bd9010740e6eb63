/// \file
/// Reading a shard's log without owning it: the tail above a position, by any process (W3). It
/// never writes.
#pragma once

#include <cstdint>
#include <functional>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/entry.h"
#include "omnigraph/lance/memwal/memwal_format.h"

namespace omnigraph::lance {

/// Called once per entry, in position order. A failure ends the read with that failure.
using EntryVisitor = std::function<Status(const LogEntry&)>;

/// Where a read of the tail ended.
struct LogTail {
  /// The first absent position: everything below was visited.
  uint64_t tip = 1;
  /// The last entry is not whole (S7); it stands at `tip` and was not visited.
  bool torn = false;
};

/// Reads entries of one shard. Thread-safe: holds no state but its location.
class LogReader {
 public:
  explicit LogReader(ShardLocation location) : location_(std::move(location)) {}

  /// Visit the entries at `after` + 1, + 2, ... until the first absent position.
  ///
  /// A last entry that is not whole ends the read with `torn` (reads stay up).
  /// Errors: kCorruption (`memwal.entry_torn`) for an entry that is not whole and not last, the
  /// visitor's, any of ObjectStore. Cost:   one get per entry and one more.
  Result<LogTail> ReadAfter(uint64_t after, const EntryVisitor& visit) const;

  /// The same, up to `last` at most. A position at or below `last` that is absent is kCorruption
  /// (`memwal.log_hole`).
  Status ReadRange(uint64_t after, uint64_t last, const EntryVisitor& visit) const;

  /// The entry at one position.
  /// Errors: kNotFound (`store.not_found`), kCorruption (`memwal.entry_torn`).
  Result<LogEntry> Read(uint64_t position) const;

  /// True if an object stands there, whole or not.
  Result<bool> Exists(uint64_t position) const;

  /// The first absent position above `after`, by walking (S1).
  Result<uint64_t> FindTip(uint64_t after) const;

  const ShardLocation& location() const { return location_; }

 private:
  ShardLocation location_;
};

}  // namespace omnigraph::lance
