/// \file
/// Owning a shard: claim, replay, append with group commit, moving `replay_after`, collection (S1
/// to S9). Tail reading by others is log_reader.h. The protocol is docs/protocols/log.md; the bytes
/// are docs/format/memwal.md.
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/collector.h"
#include "omnigraph/lance/memwal/entry.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/lance/memwal/process_registry.h"
#include "omnigraph/lance/memwal/shard_manifest.h"

namespace omnigraph::lance {

/// Code of the kCorruption that says that an entry is missing (S6). A caller of Claim() whose
/// published position may be old looks for a newer one before it believes it.
inline constexpr std::string_view kLogHoleCode = "memwal.log_hole";

/// Proof that rows are durable: they stand in entry (shard, epoch, position) from row `first_row`
/// on.
struct Receipt {
  Uuid shard;
  uint64_t epoch = 0;
  uint64_t position = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
};

/// Called exactly once per accepted append: a receipt, or an error.
///
/// kFenced (`memwal.fenced`): surely not written, another process owns the shard. kCancelled
/// (`memwal.stopped`): surely not written. Any error with `effect_unknown`: may stand in the log
/// (G3). Runs on the thread that wrote the entry, in log order, with no lock held; it must not
/// block and must not call back into a wait on the same shard.
using AppendCallback = std::function<void(const Result<Receipt>&)>;

/// Rows that one client sent, to be appended together into one entry.
struct AppendRequest {
  /// Base columns with the base's schema metadata, fields and nullability, then `_tombstone`; 1 to
  /// kEntryRowsMax rows and at most kEntryBytesMax bytes (a single row may be larger). Use one
  /// schema object for many requests: it is compared by pointer first.
  std::shared_ptr<arrow::RecordBatch> batch;
  std::string schema_hash;     ///< EntryMark::schema
  std::vector<EntryRun> runs;  ///< in row order; their rows add up to the batch's
  AppendCallback on_settled;   ///< may be empty
};

struct ClaimOptions {
  /// Heartbeats (S9). Null: the library used alone, every owner may be replaced at once.
  std::shared_ptr<ProcessRegistry> registry;
  /// The newest published position of this shard: replay starts above it, the sentinel stands above
  /// it (S6). Nothing: the library used alone, `replay_after` of the manifest counts.
  std::optional<uint64_t> published;
  /// Sharding spec of the shard's manifest; an existing one with another spec is refused.
  /// One without a number (Lance 9 to 11 leave it out) is accepted and kept.
  uint32_t spec_id = 1;
  /// True: a claim undoes a seal (the snapshot says that the type streams). False: a sealed
  /// shard is refused.
  bool reopen_sealed = false;
  /// True: seal in the manifest put of the claim; the shard then only replays.
  bool seal = false;
  /// Called once per entry that became durable, in position order, before the callbacks of its
  /// appends. The rows are the entry's whole batch: what the owner keeps in memory for the fold
  /// (W3).
  std::function<void(LogEntry)> on_entry;
  /// Appends queued above this are refused with kExhausted (`memwal.queue_full`).
  int64_t queue_bytes_max = int64_t{64} << 20;
  int64_t entry_rows_max = kEntryRowsMax;
  int64_t entry_bytes_max = kEntryBytesMax;
  /// How hard a put tries to learn its own outcome before the writer retires with effect unknown.
  SettlePolicy settle;
};

/// Who owns a shard, for status surfaces (G14). Read without a claim.
struct ShardOwnerInfo {
  uint64_t epoch = 0;
  uint64_t replay_after = 0;
  uint64_t manifest_version = 0;
  bool sealed = false;
  std::optional<OwnerMark> owner;  ///< nothing: an official writer, or nobody yet
};

/// Nothing: the shard has no manifest. Errors: any kind of ObjectStore, kCorruption.
Result<std::optional<ShardOwnerInfo>> ReadOwnerInfo(const ShardLocation& location);

/// The one writer of a shard, from claim to retirement. Thread-safe.
///
/// INVARIANT: one put in flight; a position is bound to its bytes until that put is settled (S4);
/// nothing is acked after an unsettled put; a retired writer never writes again.
class ShardWriter {
 public:
  /// Claim the shard and replay its log above `options.published`.
  ///
  /// Steps: judge the owner (S9), refuse a torn tail (S7), put the manifest of epoch + 1 with a
  /// claim id and settle it (S2), walk to the tip and put a sentinel there (S1, S3, S6), read the
  /// newest manifest again (S3), visit the entries above `published` in order, sentinels included.
  /// Errors: kFenced (`ingest.not_owner`; Place.object is the owner's address), kFenced
  /// (`memwal.overtaken`),
  ///         kCorruption (`memwal.entry_torn`, `memwal.log_hole`), kUnsupported (`memwal.sealed`,
  ///         `memwal.reservations`), kInvalid (`memwal.spec`), the visitor's, any kind of
  ///         ObjectStore.
  /// Cost:   one listing of the manifests, two puts, a walk over the log above `replay_after`.
  static Result<std::unique_ptr<ShardWriter>> Claim(ShardLocation location, ClaimOptions options,
                                                    const EntryVisitor& replay);
  /// Cancels what is queued; waits for the put in flight.
  ~ShardWriter();

  /// Queue rows; the shard's thread writes them. Never waits for the store.
  ///
  /// Group commit is adaptive: an idle log is written at once; while a put is in flight, rows
  /// gather into the next entry. OK: the callback will run exactly once. Errors (the callback will
  /// not run): kInvalid (`memwal.batch`), kExhausted
  /// (`memwal.queue_full`), or the reason of retirement (kFenced `memwal.fenced`, ...).
  Status Append(AppendRequest request);

  /// Append and wait until settled. On an idle shard the put runs in the calling thread, without a
  /// switch; the caller may also come to write other callers' rows. `on_settled` runs as well,
  /// where set. Errors: those of Append and of AppendCallback.
  Result<Receipt> AppendAndWait(AppendRequest request);

  /// Wait until all rows queued before this call are settled. Returns the last settled position.
  /// Errors: the reason of retirement.
  Result<uint64_t> WaitSettled();

  /// Move `replay_after` forward to a published position whose tables are promoted (S8). A lower or
  /// equal one is OK and does nothing. Delists generations of others once it is one past their
  /// cursor. Errors: kInvalid (`memwal.replay_after`) above the last position, kFenced, any kind of
  /// ObjectStore.
  Status AdvanceReplayAfter(uint64_t position);

  /// Delete folded entries (S5) and old manifests (C5).
  /// Errors: any kind of ObjectStore, kCorruption.
  Result<CollectResult> Collect(uint64_t published);

  /// Seal: one manifest put with status SEALED; then this writer is stopped.
  Status Seal();

  /// Settle what is queued, then stop. Idempotent. Returns the reason of retirement, if there was
  /// one.
  Status Stop();

  /// Epoch of this claim.
  uint64_t epoch() const;
  /// The last position that stands in the log as this owner knows it, sentinels included.
  uint64_t last_position() const;
  uint64_t replay_after() const;
  /// OK while rows are accepted; else why not.
  Status status() const;
  /// Bytes and rows that wait for a put.
  int64_t queued_bytes() const;
  int64_t queued_rows() const;
  const ShardLocation& location() const;

 private:
  class Impl;
  explicit ShardWriter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// The operator's command of S7: replace a last entry that is not whole by a sentinel, and keep a
/// copy of its bytes at `<shard>/torn/<bits>`. Returns the position. REQUIRES: no owner is alive.
///
/// Under a foreign epoch (that of the newest sentinel below it) such an entry was never whole. One
/// of ours was either never acked (a failed sync or, on a disk without a journal, a power cut in
/// the middle of its put) or was acked and damaged since; the bytes do not tell which, so that
/// `accept_loss` must say that rows may be lost.
///
/// Errors: kInvalid (`memwal.not_torn`) if the last entry is whole, kCorruption
/// (`memwal.entry_torn`) for one of ours without `accept_loss`.
Result<uint64_t> ReplaceTornTail(const ShardLocation& location, bool accept_loss = false);

}  // namespace omnigraph::lance
