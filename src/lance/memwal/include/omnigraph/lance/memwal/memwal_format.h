/// \file
/// Names and constants of the MemWAL layout: folders, file names, metadata keys, limits. The page
/// is docs/format/memwal.md. Pure functions; no I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "omnigraph/base/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Folder of the shards below a table.
inline constexpr std::string_view kMemWalFolder = "_mem_wal";
/// Name of the pseudo index in the base manifest.
inline constexpr std::string_view kMemWalIndexName = "__lance_mem_wal";
/// Column that every entry of ours carries last: bool, not null, true for a delete.
inline constexpr std::string_view kTombstoneColumn = "_tombstone";
/// Schema metadata of every entry: the writer's epoch in decimal.
inline constexpr std::string_view kWriterEpochKey = "writer_epoch";
/// Schema metadata of a sentinel: "true".
inline constexpr std::string_view kFenceSentinelKey = "fence_sentinel";
/// Schema metadata of a sentinel of ours: JSON {v, process, address}.
inline constexpr std::string_view kOurSentinelKey = "omnigraph.sentinel";
/// Message metadata of a data entry of ours: JSON, see EntryMark.
inline constexpr std::string_view kEntryMarkKey = "omnigraph.entry";
/// Message metadata of a data entry of ours: xxHash64 of the mark's JSON and the body, 16 hex
/// digits.
inline constexpr std::string_view kEntrySumKey = "omnigraph.sum";
/// Schema metadata of entries by Lance 14: decimal generation of the memtable.
inline constexpr std::string_view kGenerationKey = "generation";
/// Field metadata of entries by Lance 13 and 14.
inline constexpr std::string_view kFieldIdKey = "lance:field_id";

/// Most rows of one entry. Official memtables take 100,000 rows by default.
inline constexpr int64_t kEntryRowsMax = 65536;
/// Most bytes of one entry of more than one row.
inline constexpr int64_t kEntryBytesMax = int64_t{16} << 20;

/// `number` as 64 characters 0/1, least significant bit first.
std::string FormatBits(uint64_t number);
/// Exactly 64 characters 0/1, else nothing (the official parser is lax).
std::optional<uint64_t> ParseBits(std::string_view text);
/// The position of a file name `<bits>.arrow`; nothing for any other name, `.tmp.` left-overs
/// included.
std::optional<uint64_t> ParseLogEntryName(std::string_view name);
/// The version of a file name `<bits>.binpb`; nothing for any other name.
std::optional<uint64_t> ParseShardManifestName(std::string_view name);

/// The shard id that official writers use for an unsharded table.
Uuid UnshardedShardId();
/// The shard id that official writers use for bucket `bucket` of a bucketed table.
Uuid BucketShardId(uint32_t bucket);

/// Where one shard stands. Value type. `folder` is relative to the store's root, without a trailing
/// slash.
struct ShardLocation {
  std::shared_ptr<store::ObjectStore> store;
  std::string folder;
  Uuid id;

  /// `<mem_wal_folder>/<id>`, where `mem_wal_folder` is `<table>/_mem_wal` or a branch's folder
  /// (B2).
  static ShardLocation In(std::shared_ptr<store::ObjectStore> store,
                          std::string_view mem_wal_folder, const Uuid& id);

  std::string EntryFolder() const;
  std::string EntryPath(uint64_t position) const;
  /// Where the bytes of a torn entry are kept that was replaced.
  std::string TornPath(uint64_t position) const;
  std::string ManifestFolder() const;
  std::string ManifestPath(uint64_t version) const;
  std::string HintPath() const;
};

}  // namespace omnigraph::lance
