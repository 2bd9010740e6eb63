/// \file
/// Sets of 128-bit key hashes in bounded memory: a hash table that spills sorted runs into the
/// store and is then read back in order. Bulk load checks all of an input with these.
///
/// Runs are objects below `_spill/<ulid>/`, unreferenced by anything; a load removes its own at the
/// end, and the sweep takes what a killed one left, by age. Two different keys share a hash with
/// probability 2^-128 per pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/hash.h"
#include "omnigraph/base/status.h"

namespace omnigraph::store {
class ObjectStore;
}  // namespace omnigraph::store

namespace omnigraph::write {

/// One key and what a check knows about it; the members' meaning is the check's own.
struct KeyRecord {
  Hash128 hash;
  int64_t line = 0;
  int64_t other_line = 0;
  uint64_t number = 0;
  uint32_t text = 0;
  uint32_t flags = 0;  ///< 0 only in an empty slot
};
static_assert(sizeof(KeyRecord) == 48);

class KeySorter;
class KeyIndex;

/// The memory that all sets of one load share, and the folder of their runs. Single-owner.
class SpillSpace {
 public:
  /// `memory_bytes` bounds the sets together; a little more is used while one is sorted.
  SpillSpace(std::shared_ptr<store::ObjectStore> store, size_t memory_bytes);
  ~SpillSpace();

  /// Delete all runs. Call once, at the end; sets must not be read afterwards.
  Status RemoveAll();

  int64_t runs() const { return runs_; }
  size_t used_bytes() const { return used_; }

 private:
  friend class KeySorter;
  friend class KeyIndex;
  friend class KeyStream;

  /// Spill the largest sets until `more` bytes fit, but never `asking` itself.
  Status MakeRoom(size_t more, const KeyIndex* asking);
  /// Put records that are sorted. Errors: any of the store.
  Result<std::vector<std::string>> PutRun(const std::vector<KeyRecord>& records);

  std::shared_ptr<store::ObjectStore> store_;
  size_t limit_;
  size_t used_ = 0;
  std::string folder_;  ///< empty until the first run
  int64_t runs_ = 0;
  std::vector<std::string> objects_;
  std::vector<KeyIndex*> indexes_;
};

/// Records of several sorted runs in one order. Single-owner.
class KeyStream {
 public:
  ~KeyStream();

  /// All records of the next hash, in the order in which their runs were made; empty at the end.
  /// Errors: any of the store; kCorruption (`load.spill`).
  Status NextGroup(std::vector<KeyRecord>* group);

 private:
  friend class KeySorter;
  struct Run;
  KeyStream(const SpillSpace& space, const std::vector<std::vector<std::string>>& runs);
  /// Move a run to its next record; false at its end.
  Result<bool> Advance(Run* run);

  store::ObjectStore& store_;
  std::vector<std::unique_ptr<Run>> runs_;
  bool started_ = false;
};

/// Records in, the same in order of hash out; duplicates are kept. Single-owner.
class KeySorter {
 public:
  explicit KeySorter(SpillSpace* space) : space_(space) {}

  /// Errors: any of the store.
  Status Add(const KeyRecord& record);
  /// Sort `records`, put them as a run, and clear them.
  Status AddRun(std::vector<KeyRecord>* records);
  /// Read everything in order; may be called again. Errors: any of the store.
  Result<std::unique_ptr<KeyStream>> Sorted();

 private:
  SpillSpace* space_;
  std::vector<KeyRecord> pending_;
  std::vector<std::vector<std::string>> runs_;  ///< objects of each run
};

/// A hash table of records by hash. Single-owner.
class KeyIndex {
 public:
  explicit KeyIndex(SpillSpace* space);
  ~KeyIndex();
  KeyIndex(const KeyIndex&) = delete;
  KeyIndex& operator=(const KeyIndex&) = delete;

  /// The record of a hash in memory, a fresh one with flags 0 if there is none: the caller sets
  /// flags. Valid until the next call. After a spill earlier records of the hash stand in runs, so
  /// facts of one hash must be joined again from Sorted().
  /// Errors: any of the store.
  Result<KeyRecord*> Upsert(const Hash128& hash);

  /// nullptr when there is none. REQUIRES: !spilled().
  KeyRecord* Find(const Hash128& hash);

  /// True if some records are no longer in memory.
  bool spilled() const { return spilled_; }
  bool empty() const { return count_ == 0 && !spilled_; }

  /// Visit all records, in no order. REQUIRES: !spilled().
  template <typename Visit>
  void ForEach(Visit visit) {
    OG_CHECK(!spilled_);
    for (KeyRecord& record : slots_) {
      if (record.flags != 0) {
        visit(record);
      }
    }
  }

  /// Everything in order of hash, after spilling what is in memory. May be called again.
  Result<std::unique_ptr<KeyStream>> Sorted();

 private:
  friend class SpillSpace;
  size_t bytes() const { return slots_.capacity() * sizeof(KeyRecord); }
  Status Grow();
  Status Spill();
  KeyRecord* Slot(const Hash128& hash);

  SpillSpace* space_;
  KeySorter sorter_;
  std::vector<KeyRecord> slots_;
  size_t count_ = 0;
  bool spilled_ = false;
};

}  // namespace omnigraph::write
