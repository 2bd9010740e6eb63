#include "claim.h"

#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/process.h"
#include "settle.h"

namespace omnigraph::lance {
namespace {

// Benign bumps (an owner or an official tailer moved a cursor) that one claim survives.
constexpr int kClaimRounds = 16;

using MaybeManifest = std::optional<StoredShardManifest>;

// One claim, step by step. Single-owner.
class Claimant {
 public:
  Claimant(const ShardLocation& location, const ClaimOptions& options)
      : location_(location),
        options_(options),
        chain_(location, options.settle),
        reader_(location) {}

  Result<ClaimedShard> Run(const EntryVisitor& replay) {
    mark_ = NewMark();
    OG_ASSIGN_OR_RETURN(StoredShardManifest claimed, PutClaim());
    epoch_ = claimed.manifest.writer_epoch;
    runtime::FailPoint("memwal.claim.after_manifest");
    OG_RETURN_NOT_OK(PutSentinels(claimed.manifest));
    runtime::FailPoint("memwal.claim.after_sentinel");
    OG_ASSIGN_OR_RETURN(claimed, LookAgain(claimed));

    ClaimedShard shard{.manifest = claimed,
                       .mark = mark_,
                       .next_position = sentinel_ + 1,
                       .foreign_cursor = claimed.manifest.replay_after,
                       .sentinel_put_us = 0,
                       .collector = LogCollector(location_)};
    OG_ASSIGN_OR_RETURN(const store::ObjectInfo info,
                        location_.store->Head(location_.EntryPath(sentinel_)));
    shard.sentinel_put_us = info.modified_us;
    OG_RETURN_NOT_OK(Replay(replay, &shard.collector));
    return shard;
  }

 private:
  OwnerMark NewMark() const {
    if (options_.registry != nullptr) {
      return options_.registry->NewMark();
    }
    const runtime::ProcessIdentity& self = runtime::CurrentProcess();
    return {.claim_id = runtime::NewUlid(),
            .process_id = self.id,
            .address = {},
            .host_boot_id = self.host_boot_id,
            .pid = self.pid,
            .start_time = self.start_time};
  }

  // S2: epoch + 1 with our claim id, put if absent, settled by reading.
  Result<StoredShardManifest> PutClaim() {
    uint64_t target_epoch = 0;
    for (int round = 0; round < kClaimRounds; ++round) {
      OG_ASSIGN_OR_RETURN(const MaybeManifest base, chain_.ReadNewestByListing());
      if (target_epoch != 0 && base.has_value() && base->manifest.writer_epoch >= target_epoch) {
        return NotOwner(base->manifest);
      }
      published_ = options_.published.value_or(base.has_value() ? base->manifest.replay_after : 0);
      OG_RETURN_NOT_OK(MayClaim(base));
      const Status log = CheckLog(base);
      if (CodeOf(log) == kLogHoleCode) {
        // A hole may be what the owner collected since `base` was read: then the manifest moved.
        OG_ASSIGN_OR_RETURN(const MaybeManifest again, chain_.ReadNewestByListing());
        if (again.has_value() && base.has_value() &&
            again->manifest.version != base->manifest.version) {
          continue;
        }
      }
      OG_RETURN_NOT_OK(log);
      if (base.has_value()) {  // P5
        const Status durable =
            location_.store->MakeDurable(location_.ManifestPath(base->manifest.version));
        if (IsNotFound(durable)) {
          continue;  // pruned: a newer one stands
        }
        OG_RETURN_NOT_OK(durable);
      }
      const ShardManifest next = NextManifest(base);
      target_epoch = next.writer_epoch;
      OG_ASSIGN_OR_RETURN(const MaybeManifest claimed, chain_.PutNext(base, next));
      if (claimed.has_value()) {
        return *claimed;
      }
    }
    return Unavailable("memwal.claim_contended",
                       fmt::format("claim shard {}: its manifest moved {} times meanwhile; retry",
                                   location_.id.ToString(), kClaimRounds),
                       {.object = location_.folder});
  }

  Status MayClaim(const MaybeManifest& base) const {
    if (!base.has_value()) {
      return Status::OK();
    }
    const ShardManifest& manifest = base->manifest;
    if (manifest.has_row_id_reservations) {
      return Unsupported("memwal.reservations",
                         "claim shard " + location_.id.ToString() +
                             ": it reserves row ids, which this release does not write",
                         {.object = location_.folder});
    }
    // Lance 9 to 11 leave the number out; the shard id already says which spec it is of.
    if (manifest.spec_id != 0 && manifest.spec_id != options_.spec_id) {
      return Invalid("memwal.spec",
                     fmt::format("claim shard {}: it belongs to sharding spec {}, not {}",
                                 location_.id.ToString(), manifest.spec_id, options_.spec_id),
                     {.object = location_.folder});
    }
    if (manifest.sealed() && !options_.reopen_sealed && !options_.seal) {
      return Unsupported("memwal.sealed",
                         "claim shard " + location_.id.ToString() + ": it is sealed",
                         {.object = location_.folder});
    }
    if (manifest.owner.has_value() && options_.registry != nullptr) {
      OG_ASSIGN_OR_RETURN(const OwnerState state, options_.registry->Judge(*manifest.owner));
      if (state == OwnerState::kAlive) {
        return NotOwner(manifest);
      }
    }
    return Status::OK();
  }

  Status NotOwner(const ShardManifest& manifest) const {
    const std::string address =
        manifest.owner.has_value() ? manifest.owner->address : std::string();
    const std::string process =
        manifest.owner.has_value() ? manifest.owner->process_id : "an official writer";
    return Fenced(
        "ingest.not_owner",
        fmt::format("claim shard {}: {} at '{}' owns it (epoch {}); send the request there",
                    location_.id.ToString(), process, address, manifest.writer_epoch),
        {.object = address});
  }

  // Before anything is written: a log with a hole (S6) or a torn last entry (S7) is not claimed.
  Status CheckLog(const MaybeManifest& base) const {
    const uint64_t replay_after = base.has_value() ? base->manifest.replay_after : 0;
    const uint64_t last_seen = base.has_value() ? base->manifest.last_seen : 0;
    for (uint64_t position = published_ + 1; position <= replay_after; ++position) {
      OG_ASSIGN_OR_RETURN(const bool exists, reader_.Exists(position));
      if (!exists) {
        return Hole(position, replay_after);
      }
    }
    OG_ASSIGN_OR_RETURN(uint64_t tip, reader_.FindTip(replay_after));
    OG_ASSIGN_OR_RETURN(const uint64_t listed, HighestListed());
    if (std::max(listed, last_seen) >= tip) {
      // A live owner may have appended between the walk and the listing.
      OG_ASSIGN_OR_RETURN(tip, reader_.FindTip(tip - 1));
    }
    if (std::max(listed, last_seen) >= tip) {
      return Hole(tip, std::max(listed, last_seen));
    }
    if (tip - 1 <= std::max(replay_after, published_)) {
      return Status::OK();
    }
    const Result<LogEntry> last = reader_.Read(tip - 1);
    return last.ok() || IsNotFound(last.status()) ? Status::OK() : last.status();
  }

  Status Hole(uint64_t absent, uint64_t present) const {
    return Corruption(kLogHoleCode,
                      fmt::format("claim shard {}: position {} of its log is absent, {} is not",
                                  location_.id.ToString(), absent, present),
                      location_.EntryPath(absent));
  }

  Result<uint64_t> HighestListed() const {
    OG_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> objects,
                        store::ListAll(*location_.store, location_.EntryFolder() + "/"));
    uint64_t highest = 0;
    for (const store::ObjectInfo& object : objects) {
      const std::string_view path = object.path;
      highest = std::max(highest, ParseLogEntryName(path.substr(path.rfind('/') + 1)).value_or(0));
    }
    return highest;
  }

  ShardManifest NextManifest(const MaybeManifest& base) const {
    ShardManifest next;
    if (base.has_value()) {
      next = base->manifest;
    } else {
      next.shard_id = location_.id;
      next.spec_id = options_.spec_id;
      next.current_generation = 1;
    }
    ++next.version;
    ++next.writer_epoch;
    next.owner = mark_;
    if (options_.seal) {
      next.status = kShardSealed;
    } else if (next.sealed()) {
      next.status = kShardActive;
    }
    return next;
  }

  // S1, S3, S6: at the first absent position above `replay_after`, and on until nothing absent is
  // at or below `published`. The entry below is made durable first (P5): an owner whose last put
  // failed or was cut off left it to read, but maybe not on the medium. All below it are durable,
  // by the answer that their owner had, or by the claimant of then.
  Status PutSentinels(const ShardManifest& claimed) {
    OG_ASSIGN_OR_RETURN(const EncodedEntry bytes,
                        EncodeSentinel(epoch_, mark_.process_id, mark_.address));
    OG_ASSIGN_OR_RETURN(uint64_t position, reader_.FindTip(claimed.replay_after));
    while (true) {
      if (position - 1 > claimed.replay_after && position - 1 != sentinel_) {
        OG_RETURN_NOT_OK(MakeEntryDurable(position - 1));
      }
      const std::string path = location_.EntryPath(position);
      OG_ASSIGN_OR_RETURN(const SettledPut put,
                          PutSettled(*location_.store, path, bytes.parts,
                                     store::PutStrength::kOrdered, options_.settle));
      if (put.ours) {
        sentinel_ = position;
        if (position >= published_) {
          return Status::OK();
        }
      } else {
        // The old owner was quicker: its entry is replayed. A higher epoch's entry: somebody
        // claimed after us.
        OG_ASSIGN_OR_RETURN(const LogEntry other, ParseEntry(put.other, position, path));
        if (other.epoch > epoch_) {
          return Overtaken(other.epoch);
        }
      }
      ++position;
    }
  }

  Status MakeEntryDurable(uint64_t position) const {
    const Status durable = location_.store->MakeDurable(location_.EntryPath(position));
    if (!IsNotFound(durable)) {
      return durable;
    }
    // Nobody collects above `replay_after` but a successor.
    return Corruption(kLogHoleCode,
                      fmt::format("claim shard {}: position {}, the last of its log, is gone since "
                                  "it was looked for",
                                  location_.id.ToString(), position),
                      location_.EntryPath(position));
  }

  Status Overtaken(uint64_t newest) const {
    return Fenced("memwal.overtaken",
                  fmt::format("claim shard {}: epoch {} came after our epoch {}",
                              location_.id.ToString(), newest, epoch_),
                  {.object = location_.folder});
  }

  // S3: the newest manifest once more, after the sentinel.
  Result<StoredShardManifest> LookAgain(const StoredShardManifest& claimed) const {
    OG_ASSIGN_OR_RETURN(StoredShardManifest newest, chain_.ReadNewestFrom(claimed));
    const bool other_mark =
        newest.manifest.owner.has_value() && newest.manifest.owner->claim_id != mark_.claim_id;
    if (newest.manifest.writer_epoch != epoch_ || other_mark) {
      return Overtaken(newest.manifest.writer_epoch);
    }
    return newest;
  }

  // S3: below our sentinel nothing may be of a higher epoch.
  Status Replay(const EntryVisitor& visit, LogCollector* collector) const {
    return reader_.ReadRange(published_, sentinel_, [&](const LogEntry& entry) -> Status {
      if (entry.epoch > epoch_) {
        return Overtaken(entry.epoch);
      }
      if (entry.is_sentinel) {
        collector->NoteSentinel(entry.position, entry.ours);
      } else {
        collector->NoteData(entry.position);
      }
      return visit ? visit(entry) : Status::OK();
    });
  }

  const ShardLocation& location_;
  const ClaimOptions& options_;
  ShardManifestChain chain_;
  LogReader reader_;
  OwnerMark mark_;
  uint64_t published_ = 0;
  uint64_t epoch_ = 0;
  uint64_t sentinel_ = 0;
};

}  // namespace

Result<ClaimedShard> ClaimShard(const ShardLocation& location, const ClaimOptions& options,
                                const EntryVisitor& replay) {
  return Claimant(location, options).Run(replay);
}

}  // namespace omnigraph::lance
