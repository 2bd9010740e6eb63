/// \file
/// Deleting log entries that a published position and `replay_after` both cover (S5). Any process
/// may do it; the owner knows what it wrote and needs no reads for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/runtime/clock.h"

namespace omnigraph::lance {

struct CollectResult {
  int64_t deleted = 0;
  int64_t kept_sentinels = 0;
  /// True: a sentinel that is not ours is younger than a day, so nothing was deleted.
  bool held_by_foreign_sentinel = false;
};

/// Deletes data entries strictly below a bound. All sentinels stay. Thread-compatible.
class LogCollector {
 public:
  explicit LogCollector(ShardLocation location);

  /// Tell it what stands at a position: the owner's knowledge, instead of reading the object.
  void NoteData(uint64_t position);
  void NoteSentinel(uint64_t position, bool ours);

  /// Delete the data entries strictly below `published` and `replay_after`.
  ///
  /// `store_now` is the present by the store's clock (microseconds since the Unix epoch), against
  /// which the age of a foreign sentinel is measured. Errors: kCorruption (`memwal.entry_torn`) for
  /// an object there that cannot be read, any kind of ObjectStore. Cost:   the first call lists the
  /// folder; later ones delete what is named, with no list and no read for noted positions.
  Result<CollectResult> Collect(uint64_t published, uint64_t replay_after, int64_t store_now_us);

 private:
  enum class Known : uint8_t { kData, kOurSentinel, kForeignSentinel };

  Status ListOnce();
  Result<Known> Learn(uint64_t position);
  Result<bool> HeldByForeign(int64_t store_now_us);

  ShardLocation location_;
  LogReader reader_;
  bool listed_ = false;
  std::map<uint64_t, std::optional<Known>>
      present_;  ///< positions that stand and may still be collected or must be kept
  std::map<uint64_t, int64_t> foreign_modified_us_;
};

}  // namespace omnigraph::lance
