/// \file
/// The manifest of a shard: its value, its bytes, and its numbered chain of versions (rules C5, P4,
/// S2). Who may claim or move what is shard.h's business. The page is docs/format/memwal.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/runtime/clock.h"

namespace omnigraph::lance {

/// Our protobuf field 1001 (S2): who made the newest claim. Official releases ignore it, and drop
/// it when they write.
struct OwnerMark {
  std::string claim_id;      ///< fresh for each claim; two claimants never write the same bytes
  std::string process_id;    ///< name of the heartbeat object below `__processes`
  std::string address;       ///< where clients reach the owner; may be empty
  std::string host_boot_id;  ///< with pid and start time: tells a host's own processes apart (S9)
  int64_t pid = 0;
  int64_t start_time = 0;
  bool operator==(const OwnerMark&) const = default;
};

/// A generation that some writer flushed. We list, keep and delist these; we never make them here.
struct SsTableEntry {
  uint64_t generation = 0;
  std::string path;  ///< folder below the shard
  std::optional<uint64_t> in_memory_bytes;
  std::optional<uint64_t> physical_rows;
  std::optional<uint64_t> primary_key_bytes;
  std::string unknown_fields;  ///< raw protobuf, kept through read-modify-write
  bool operator==(const SsTableEntry&) const = default;
};

/// Values of ShardManifest::status; every other one counts as active and is kept.
inline constexpr int kShardActive = 0;
inline constexpr int kShardSealed = 1;

/// One version of a shard's manifest. Value type.
struct ShardManifest {
  uint64_t version = 0;
  uint64_t writer_epoch = 0;
  uint64_t replay_after = 0;  ///< entries at or below are in the base or in a listed generation
  uint64_t last_seen = 0;     ///< a position that exists; a hint, never above the tip
  uint64_t current_generation = 0;
  std::vector<SsTableEntry> sstables;
  uint32_t spec_id = 0;
  Uuid shard_id;
  int status = kShardActive;
  bool has_row_id_reservations = false;  ///< such a shard is read, never written
  std::optional<OwnerMark> owner;
  std::string unknown_fields;  ///< raw protobuf, kept through read-modify-write

  bool sealed() const { return status == kShardSealed; }
  bool operator==(const ShardManifest&) const = default;
};

/// Deterministic protobuf bytes.
std::string EncodeShardManifest(const ShardManifest& manifest);

/// Errors: kCorruption (`memwal.manifest`) for bytes that are no manifest of this shard and
/// version.
Result<ShardManifest> DecodeShardManifest(std::string_view bytes, const Uuid& shard,
                                          uint64_t version, std::string_view object);

/// A manifest and the exact bytes that stand under its number.
struct StoredShardManifest {
  ShardManifest manifest;
  std::string bytes;
};

/// How hard a put tries to learn its own outcome (P4).
struct SettlePolicy {
  int tries = 8;                                            ///< puts and reads together
  runtime::Duration pause = std::chrono::milliseconds(20);  ///< before the second; doubles
  runtime::Duration pause_max = std::chrono::milliseconds(1000);
};

/// The numbered chain of one shard's manifests.
///
/// A walk from a number n counts only if n still stands with the same bytes at its end; a put at n
/// + 1 counts only if n does after its answer (C5). Any answer but a clear yes is settled by
/// reading (P4). Immutable, so Thread-safe. It keeps the store alive.
class ShardManifestChain {
 public:
  explicit ShardManifestChain(ShardLocation location, SettlePolicy policy = {});

  /// The newest version by a listing and a walk: a writer's first look (C5). Nothing: the shard has
  /// no manifest. Errors: kCorruption (`memwal.manifest`), any kind of ObjectStore.
  Result<std::optional<StoredShardManifest>> ReadNewestByListing() const;

  /// The newest version by the hint and a walk, by a listing where the hint fails: what readers
  /// use. Errors: as above.
  Result<std::optional<StoredShardManifest>> ReadNewest() const;

  /// The newest version by a walk from `known`, by a listing where that one was pruned.
  /// Errors: as above, and kCorruption (`memwal.manifest_chain`) if the chain is gone.
  Result<StoredShardManifest> ReadNewestFrom(const StoredShardManifest& known) const;

  /// Put `next` at base + 1 and settle it; nothing: another's stands there, or ours did not count
  /// and was taken away again (C5): read again. `base` is nothing for version 1.
  ///
  /// REQUIRES: next.version is base's + 1; next.owner, where set, is the caller's own.
  /// Errors: with effect unknown: any kind of ObjectStore, `store.sync_failed` among them (P3:
  /// retire). Cost:   one strict put, one read; the hint is written on success, its failure is
  /// ignored.
  Result<std::optional<StoredShardManifest>> PutNext(const std::optional<StoredShardManifest>& base,
                                                     const ShardManifest& next) const;

  /// Delete all but the newest `keep` versions: ascending, one by one, stopping at the first
  /// failure, and only after the hint was read back as naming a kept one (C5). Returns how many
  /// went. Cost: one listing.
  Result<int> Prune(const StoredShardManifest& newest, uint64_t keep) const;

  const ShardLocation& location() const { return location_; }

 private:
  Result<std::optional<StoredShardManifest>> Read(uint64_t version) const;
  Result<std::vector<uint64_t>> ListVersions() const;
  Result<std::optional<StoredShardManifest>> WalkFrom(StoredShardManifest from) const;
  std::optional<uint64_t> ReadHint() const;
  void WriteHint(uint64_t version) const;
  Result<bool> Stands(const StoredShardManifest& manifest) const;
  Result<bool> Counts(const std::optional<StoredShardManifest>& base,
                      const StoredShardManifest& ours) const;

  ShardLocation location_;
  SettlePolicy policy_;
};

}  // namespace omnigraph::lance
