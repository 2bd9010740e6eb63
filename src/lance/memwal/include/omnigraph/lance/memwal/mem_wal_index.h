/// \file
/// The entry `__lance_mem_wal` of a base table's index section: what declares that a table has a
/// log, and how it is sharded. The page is docs/format/memwal.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/manifest.h"

namespace omnigraph::lance {

struct ShardingField {
  std::string field_id;
  std::vector<int32_t> source_ids;
  std::optional<std::string> transform;
  std::optional<std::string> expression;
  std::string result_type;
  std::map<std::string, std::string> parameters;
  std::string unknown_fields;
  bool operator==(const ShardingField&) const = default;
};

struct ShardingSpec {
  uint32_t spec_id = 0;
  std::vector<ShardingField> fields;
  std::string unknown_fields;
  bool operator==(const ShardingSpec&) const = default;
};

/// The details of the index entry. Value type.
struct MemWalIndexDetails {
  uint32_t num_shards = 0;
  std::vector<ShardingSpec> sharding_specs;
  std::vector<std::string> maintained_indexes;
  std::map<Uuid, uint64_t> compacted_generations;
  std::vector<std::string> index_catchup;  ///< raw protobuf, kept
  std::map<std::string, std::string> writer_defaults;
  std::optional<bool> maintain_all_indexes;
  std::string unknown_fields;  ///< raw protobuf of everything else, kept through read-modify-write
  bool operator==(const MemWalIndexDetails&) const = default;
};

/// One shard, an explicit (possibly empty) list of maintained indexes, field 12 = false: what
/// enrolment writes.
MemWalIndexDetails UnshardedDetails(std::vector<std::string> maintained_indexes,
                                    std::map<std::string, std::string> writer_defaults = {});

/// Deterministic protobuf bytes: the value of the index entry's details.
std::string EncodeMemWalDetails(const MemWalIndexDetails& details);

/// Errors: kCorruption (`memwal.index_details`).
Result<MemWalIndexDetails> ParseMemWalDetails(std::string_view bytes, std::string_view object);

/// Type URL of the details in the index entry.
inline constexpr std::string_view kMemWalDetailsTypeUrl = "/lance.table.MemWalIndexDetails";

/// The index entry for a CreateIndex change (change.h): no files, no fragment bitmap, index version
/// 0, a fresh uuid for every rewrite of the details. `dataset_version` is the version that the
/// change is based on.
IndexMetadata MakeMemWalIndex(const MemWalIndexDetails& details, uint64_t dataset_version);

/// The entry among a manifest's indexes; nullptr where the table has no log. Borrowed.
const IndexMetadata* FindMemWalIndex(const std::vector<IndexMetadata>& indices);

}  // namespace omnigraph::lance
