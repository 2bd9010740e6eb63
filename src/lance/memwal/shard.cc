#include "omnigraph/lance/memwal/shard.h"

#include <fmt/format.h>

#include <algorithm>

#include "claim.h"
#include "group_commit.h"
#include "omnigraph/runtime/fail_point.h"
#include "settle.h"

namespace omnigraph::lance {
namespace {

constexpr int kAdvanceRounds = 16;
// Versions of a shard's manifest that stay.
constexpr uint64_t kManifestsKept = 8;

Status StoppedStatus() {
  return Cancelled("memwal.stopped", "append to the log: its writer was stopped", {});
}

}  // namespace

// What stands behind a ShardWriter. Locks: `mutex_` guards what both the appending and the
// maintaining side touch; the two sides are each serial (the turn of GroupCommit; the
// `maintaining_` flag), so that no lock is held across I/O.
class ShardWriter::Impl {
 public:
  Impl(ShardLocation location, ClaimOptions options, ClaimedShard shard)
      : location_(std::move(location)),
        options_(std::move(options)),
        chain_(location_, options_.settle),
        mark_(std::move(shard.mark)),
        epoch_(shard.manifest.manifest.writer_epoch),
        foreign_cursor_(shard.foreign_cursor),
        sentinel_put_us_(shard.sentinel_put_us),
        claimed_at_(runtime::MonotonicNow()),
        encoder_(epoch_),
        next_position_(shard.next_position),
        manifest_(std::move(shard.manifest)),
        collector_(std::move(shard.collector)),
        commit_({.queue_bytes_max = options_.queue_bytes_max,
                 .entry_rows_max = options_.entry_rows_max,
                 .entry_bytes_max = options_.entry_bytes_max,
                 .shard = location_.id,
                 .on_entry = options_.on_entry},
                [this](EntryRows rows) { return WriteEntry(std::move(rows)); }) {}

  GroupCommit& commit() { return commit_; }
  uint64_t epoch() const { return epoch_; }
  const ShardLocation& location() const { return location_; }

  uint64_t last_position() const {
    runtime::MutexLock lock(mutex_);
    return next_position_ - 1;
  }

  uint64_t replay_after() const {
    runtime::MutexLock lock(mutex_);
    return manifest_.manifest.replay_after;
  }

  Status Advance(uint64_t position) {
    const MaintenanceTurn turn(this);
    if (position > last_position()) {
      return Invalid("memwal.replay_after",
                     fmt::format("move replay_after of shard {} to {}: its log ends at {}",
                                 location_.id.ToString(), position, last_position()),
                     {.object = location_.folder});
    }
    return ChangeManifest([&](const ShardManifest& newest, ShardManifest* next) {
      if (newest.replay_after >= position) {
        return false;
      }
      next->replay_after = position;
      // Generations of others are in the published position, whole, once it is one past their
      // cursor (it may be one low).
      if (position > foreign_cursor_) {
        next->sstables.clear();
      }
      return true;
    });
  }

  Status SealManifest() {
    const MaintenanceTurn turn(this);
    return ChangeManifest([&](const ShardManifest& newest, ShardManifest* next) {
      next->status = kShardSealed;
      return !newest.sealed();
    });
  }

  Result<CollectResult> Collect(uint64_t published) {
    const MaintenanceTurn turn(this);
    StoredShardManifest manifest;
    std::vector<std::pair<uint64_t, EntryKind>> written;
    {
      runtime::MutexLock lock(mutex_);
      manifest = manifest_;
      written.swap(written_);
    }
    for (const auto& [position, kind] : written) {
      if (kind == EntryKind::kData) {
        collector_.NoteData(position);
      } else {
        collector_.NoteSentinel(position, kind == EntryKind::kOurSentinel);
      }
    }
    const int64_t elapsed_us =
        std::chrono::duration_cast<std::chrono::microseconds>(runtime::MonotonicNow() - claimed_at_)
            .count();
    OG_ASSIGN_OR_RETURN(const CollectResult result,
                        collector_.Collect(published, manifest.manifest.replay_after,
                                           sentinel_put_us_ + elapsed_us));
    if (manifest.manifest.version >= manifests_pruned_at_ + kManifestsKept) {
      OG_RETURN_NOT_OK(chain_.Prune(manifest, kManifestsKept).status());
      manifests_pruned_at_ = manifest.manifest.version;
    }
    return result;
  }

 private:
  enum class EntryKind : uint8_t { kData, kOurSentinel, kForeignSentinel };

  // One maintaining call at a time, without a lock held across its I/O.
  class MaintenanceTurn {
   public:
    explicit MaintenanceTurn(Impl* impl) : impl_(impl) {
      runtime::MutexLock lock(impl_->mutex_);
      while (impl_->maintaining_) {
        impl_->maintained_.Wait(impl_->mutex_);
      }
      impl_->maintaining_ = true;
    }
    ~MaintenanceTurn() {
      runtime::MutexLock lock(impl_->mutex_);
      impl_->maintaining_ = false;
      impl_->maintained_.NotifyOne();
    }
    MaintenanceTurn(const MaintenanceTurn&) = delete;
    MaintenanceTurn& operator=(const MaintenanceTurn&) = delete;

   private:
    Impl* impl_;
  };

  Status FencedStatus(uint64_t newest) const {
    return Fenced("memwal.fenced",
                  fmt::format("write to shard {}: epoch {} owns it, ours is {}",
                              location_.id.ToString(), newest, epoch_),
                  {.object = location_.folder});
  }

  // The next version of the manifest under our epoch (S8); `change` answers false where there is
  // nothing to do.
  Status ChangeManifest(
      const std::function<bool(const ShardManifest& newest, ShardManifest* next)>& change) {
    for (int round = 0; round < kAdvanceRounds; ++round) {
      StoredShardManifest known;
      {
        runtime::MutexLock lock(mutex_);
        known = manifest_;
      }
      OG_ASSIGN_OR_RETURN(const StoredShardManifest newest, chain_.ReadNewestFrom(known));
      if (!IsOurs(newest.manifest)) {
        const Status fenced = FencedStatus(newest.manifest.writer_epoch);
        commit_.Retire(fenced);
        return fenced;
      }
      if (newest.manifest.version != known.manifest.version) {
        // A tailer's bump, or a put of ours that failed in a sync: durable before anything rests
        // on it (P5).
        const Status durable =
            location_.store->MakeDurable(location_.ManifestPath(newest.manifest.version));
        if (IsNotFound(durable)) {
          continue;
        }
        OG_RETURN_NOT_OK(durable);
      }
      ShardManifest next = newest.manifest;
      ++next.version;
      next.owner = mark_;
      next.last_seen = std::max(next.last_seen, last_position());
      if (!change(newest.manifest, &next)) {
        Remember(newest);
        return Status::OK();
      }
      OG_ASSIGN_OR_RETURN(const std::optional<StoredShardManifest> put,
                          chain_.PutNext(newest, next));
      if (put.has_value()) {
        Remember(*put);
        return Status::OK();
      }
    }
    return Unavailable("memwal.manifest_contended",
                       "change the manifest of shard " + location_.id.ToString() +
                           ": others moved it all the time; retry",
                       {.object = location_.folder});
  }

  // An official tailer's bump of our version has our epoch and no mark.
  bool IsOurs(const ShardManifest& newest) const {
    return newest.writer_epoch == epoch_ &&
           (!newest.owner.has_value() || newest.owner->claim_id == mark_.claim_id);
  }

  void Remember(const StoredShardManifest& newest) {
    runtime::MutexLock lock(mutex_);
    manifest_ = newest;
  }

  EntryOutcome Failed(const Status& status, bool retire) const {
    return {.status = status, .retire = retire, .entry = {}};
  }

  // S4: put at our position until it is settled. Called with the turn of the group commit.
  EntryOutcome WriteEntry(EntryRows rows) {
    EntryMark mark = std::move(rows.mark);
    mark.at_ms = runtime::WallNow().count() / 1000;
    const Result<EncodedEntry> encoded = encoder_.Encode(*rows.batch, mark);
    if (!encoded.ok()) {
      return Failed(encoded.status(), /*retire=*/false);
    }
    uint64_t doubt = 0;  // the first position at which a put of these rows went unanswered
    while (true) {
      const uint64_t position = last_position() + 1;
      const std::string path = location_.EntryPath(position);
      const Result<SettledPut> put = PutSettled(*location_.store, path, encoded->parts,
                                                store::PutStrength::kOrdered, options_.settle);
      if (!put.ok()) {
        const ErrorDetail* detail = GetErrorDetail(put.status());
        const bool settled = doubt == 0 || NeverCollected(doubt);
        return Failed(settled ? put.status() : WithUnknownEffect(put.status()),
                      /*retire=*/detail == nullptr || detail->effect_unknown());
      }
      if (put->ours) {
        runtime::FailPoint("memwal.append.after_put");
        Wrote(position, EntryKind::kData);
        return {.status = Status::OK(),
                .retire = false,
                .entry = {.position = position,
                          .epoch = epoch_,
                          .is_sentinel = false,
                          .ours = true,
                          .mark = std::move(mark),
                          .generation = std::nullopt,
                          .batches = {std::move(rows.batch)},
                          .size_bytes = encoded->size_bytes}};
      }
      doubt = put->doubtful && doubt == 0 ? position : doubt;
      const Result<LogEntry> other = ParseEntry(put->other, position, path);
      if (other.ok() && other->epoch < epoch_ && other->is_sentinel) {
        const Status durable = location_.store->MakeDurable(path);  // P5
        if (!durable.ok()) {
          return Failed(WithUnknownEffect(durable), /*retire=*/true);
        }
        Wrote(position, other->ours ? EntryKind::kOurSentinel : EntryKind::kForeignSentinel);
        continue;
      }
      return Failed(WhyLost(other, position, doubt), /*retire=*/true);
    }
  }

  // Another's bytes stand at our position. A higher epoch's: ours are surely not written, unless a
  // put of them went unanswered and that position may have been folded and collected since.
  // Anything else means two owners.
  Status WhyLost(const Result<LogEntry>& other, uint64_t position, uint64_t doubt) const {
    if (other.ok() && other->epoch > epoch_) {
      const Status fenced = FencedStatus(other->epoch);
      return doubt == 0 || NeverCollected(doubt) ? fenced : WithUnknownEffect(fenced);
    }
    const std::string what =
        other.ok() ? fmt::format("rows of epoch {}", other->epoch) : other.status().message();
    return WithUnknownEffect(
        Fenced("memwal.two_owners",
               fmt::format("write position {} of shard {} in epoch {}: {} stand there; claim again",
                           position, location_.id.ToString(), epoch_, what),
               {.object = location_.EntryPath(position)}));
  }

  // Collection stays strictly below `replay_after`, which only grows.
  bool NeverCollected(uint64_t position) const {
    StoredShardManifest known;
    {
      runtime::MutexLock lock(mutex_);
      known = manifest_;
    }
    const Result<StoredShardManifest> newest = chain_.ReadNewestFrom(known);
    return newest.ok() && newest->manifest.replay_after <= position;
  }

  void Wrote(uint64_t position, EntryKind kind) {
    runtime::MutexLock lock(mutex_);
    next_position_ = position + 1;
    written_.emplace_back(position, kind);
  }

  const ShardLocation location_;
  const ClaimOptions options_;
  const ShardManifestChain chain_;
  const OwnerMark mark_;
  const uint64_t epoch_;
  const uint64_t foreign_cursor_;
  const int64_t sentinel_put_us_;
  const runtime::Duration claimed_at_;

  // Of the turn of the group commit.
  EntryEncoder encoder_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar maintained_;
  bool maintaining_ OG_GUARDED_BY(mutex_) = false;
  uint64_t next_position_ OG_GUARDED_BY(mutex_);
  StoredShardManifest manifest_ OG_GUARDED_BY(mutex_);  // the newest that we know
  std::vector<std::pair<uint64_t, EntryKind>> written_
      OG_GUARDED_BY(mutex_);  // not yet told to the collector

  // Of the maintaining turn.
  LogCollector collector_;
  uint64_t manifests_pruned_at_ = 0;

  GroupCommit commit_;  // last: its thread uses the members above
};

ShardWriter::ShardWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ShardWriter::~ShardWriter() = default;

Result<std::unique_ptr<ShardWriter>> ShardWriter::Claim(ShardLocation location,
                                                        ClaimOptions options,
                                                        const EntryVisitor& replay) {
  OG_ASSIGN_OR_RETURN(ClaimedShard shard, ClaimShard(location, options, replay));
  const bool sealed = shard.manifest.manifest.sealed();
  auto impl = std::make_unique<Impl>(std::move(location), std::move(options), std::move(shard));
  if (sealed) {
    impl->commit().Retire(Unsupported(
        "memwal.sealed", "append to shard " + impl->location().id.ToString() + ": it is sealed",
        {.object = impl->location().folder}));
  }
  return std::unique_ptr<ShardWriter>(new ShardWriter(std::move(impl)));
}

Status ShardWriter::Append(AppendRequest request) {
  return impl_->commit().Append(std::move(request));
}

Result<Receipt> ShardWriter::AppendAndWait(AppendRequest request) {
  return impl_->commit().AppendAndWait(std::move(request));
}

Result<uint64_t> ShardWriter::WaitSettled() {
  impl_->commit().WaitDelivered();
  OG_RETURN_NOT_OK(impl_->commit().status());
  return impl_->last_position();
}

Status ShardWriter::AdvanceReplayAfter(uint64_t position) {
  return impl_->Advance(position);
}

Result<CollectResult> ShardWriter::Collect(uint64_t published) {
  return impl_->Collect(published);
}

Status ShardWriter::Seal() {
  impl_->commit().Stop(Unsupported("memwal.sealed",
                                   "append to shard " + location().id.ToString() + ": it is sealed",
                                   {.object = location().folder}));
  return impl_->SealManifest();
}

Status ShardWriter::Stop() {
  impl_->commit().Stop(StoppedStatus());
  const Status status = impl_->commit().status();
  return CodeOf(status) == "memwal.stopped" || CodeOf(status) == "memwal.sealed" ? Status::OK()
                                                                                 : status;
}

uint64_t ShardWriter::epoch() const {
  return impl_->epoch();
}

uint64_t ShardWriter::last_position() const {
  return impl_->last_position();
}

uint64_t ShardWriter::replay_after() const {
  return impl_->replay_after();
}

Status ShardWriter::status() const {
  return impl_->commit().status();
}

int64_t ShardWriter::queued_bytes() const {
  return impl_->commit().queued_bytes();
}

int64_t ShardWriter::queued_rows() const {
  return impl_->commit().queued_rows();
}

const ShardLocation& ShardWriter::location() const {
  return impl_->location();
}

Result<std::optional<ShardOwnerInfo>> ReadOwnerInfo(const ShardLocation& location) {
  OG_ASSIGN_OR_RETURN(const std::optional<StoredShardManifest> newest,
                      ShardManifestChain(location).ReadNewest());
  if (!newest.has_value()) {
    return std::nullopt;
  }
  const ShardManifest& manifest = newest->manifest;
  return ShardOwnerInfo{.epoch = manifest.writer_epoch,
                        .replay_after = manifest.replay_after,
                        .manifest_version = manifest.version,
                        .sealed = manifest.sealed(),
                        .owner = manifest.owner};
}

}  // namespace omnigraph::lance
