/// \file
/// Deleting log entries that a published position and `replay_after` both cover (S5). Any process
/// may do it; the owner knows what it wrote and needs no reads for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/memwal/memwal_format.h"

namespace omnigraph::lance {

struct CollectResult {
  int64_t deleted = 0;
  /// True: a sentinel that is not ours is younger than a day, so nothing was deleted.
  bool held_by_foreign_sentinel = false;
};

/// Deletes data entries strictly below a bound. All sentinels stay. Thread-compatible.
///
/// The owner of a shard keeps one and notes what it replays and writes. Any other process makes one
/// for each collection: what came after the first listing is not seen.
class LogCollector {
 public:
  explicit LogCollector(ShardLocation location);

  /// Tell it what stands at a position: the owner's knowledge, instead of reading the object.
  void NoteData(uint64_t position);
  void NoteSentinel(uint64_t position, bool ours);

  /// Delete the data entries strictly below both `published` and `replay_after`, ascending.
  ///
  /// `store_now_us` is the present by the store's clock (microseconds since the Unix epoch),
  /// against which the age of a foreign sentinel is measured. Errors: kCorruption
  /// (`memwal.entry_torn`) for an object that is no entry, any kind of ObjectStore. Cost:   the
  /// first call lists the folder and reads what was not noted; later ones only delete.
  Result<CollectResult> Collect(uint64_t published, uint64_t replay_after, int64_t store_now_us);

 private:
  bool IsNoted(uint64_t position) const;
  Status ListOnce();
  Status ReadUnread();
  Result<bool> HeldByForeign(int64_t store_now_us);

  ShardLocation location_;
  LogReader reader_;
  bool listed_ = false;
  // INVARIANT: the four are disjoint. A position goes from unread_ into one of the others, and from
  // data_ into nothing.
  std::set<uint64_t> unread_;
  std::set<uint64_t> data_;
  std::set<uint64_t> our_sentinels_;
  std::map<uint64_t, std::optional<int64_t>>
      foreign_sentinels_;  ///< when it was put, by the store's clock
};

}  // namespace omnigraph::lance
