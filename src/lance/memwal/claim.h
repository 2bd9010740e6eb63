/// \file
/// Taking a shard over (S1 to S3, S6, S7, S9): everything between "nobody of us owns it" and an
/// open log.
#pragma once

#include <cstdint>

#include "omnigraph/lance/memwal/shard.h"

namespace omnigraph::lance {

/// A shard that this process has claimed and replayed.
struct ClaimedShard {
  StoredShardManifest manifest;  ///< the newest version, of our epoch
  OwnerMark mark;
  uint64_t next_position = 1;  ///< the first position above our sentinel
  /// `replay_after` when we came: generations listed then end there, or one later (their cursor may
  /// be one too low).
  uint64_t foreign_cursor = 0;
  int64_t sentinel_put_us = 0;  ///< by the store's clock
  LogCollector collector;
};

/// Claim and replay; see ShardWriter::Claim.
Result<ClaimedShard> ClaimShard(const ShardLocation& location, const ClaimOptions& options,
                                const EntryVisitor& replay);

}  // namespace omnigraph::lance
