/// \file
/// The transaction of a version: what its writer did to the version it read. Others need it to
/// decide whether their own change can stand beside it (commit.h); the manifest alone says what the
/// table holds.
///
/// Format: docs/format/lance-table.md, Transactions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/lance/table/manifest.h"

namespace omnigraph::lance {

/// The operation of a transaction; the numbers are the format's.
enum class Operation : uint8_t {
  kNone = 0,
  kAppend = 100,
  kDelete = 101,
  kOverwrite = 102,
  kCreateIndex = 103,
  kRewrite = 104,
  kMerge = 105,
  kRestore = 106,
  kReserveFragments = 107,
  kUpdate = 108,
  kProject = 109,
  kUpdateConfig = 110,
  kDataReplacement = 111,
  kUpdateMemWalState = 112,
  kClone = 113,
  kUpdateBases = 114,
  kDataOverlay = 115,
  kFragmentReuse = 116,
};

/// Snake-case name for messages.
std::string_view OperationName(Operation operation);

/// Keys to set or remove in one of a table's maps.
struct MapUpdate {
  std::map<std::string, std::optional<std::string>> entries;
  bool replace = false;
  bool operator==(const MapUpdate&) const = default;
};

/// Fragments rewritten together.
struct RewriteGroup {
  std::vector<Fragment> old_fragments;
  std::vector<Fragment> new_fragments;
  bool operator==(const RewriteGroup&) const = default;
};

/// A transaction. Only the members that the operation names are used. Value type.
struct Transaction {
  uint64_t read_version = 0;
  std::string uuid;  ///< hyphenated text
  std::string tag;
  std::map<std::string, std::string> properties;
  Operation operation = Operation::kNone;

  std::vector<Fragment> new_fragments;               ///< Append, Overwrite, Update; Merge: all
  std::vector<Fragment> updated_fragments;           ///< Delete, Update
  std::vector<uint64_t> removed_fragment_ids;        ///< Delete, Update
  std::string predicate;                             ///< Delete
  std::shared_ptr<const Schema> schema;              ///< Overwrite, Merge
  std::map<std::string, std::string> config;         ///< Overwrite
  std::vector<IndexMetadata> new_indices;            ///< CreateIndex
  std::vector<IndexMetadata> removed_indices;        ///< CreateIndex
  std::vector<RewriteGroup> groups;                  ///< Rewrite
  uint64_t restored_version = 0;                     ///< Restore
  uint32_t reserved_fragments = 0;                   ///< ReserveFragments
  std::vector<uint32_t> modified_fields;             ///< Update that rewrites columns
  std::vector<uint32_t> bitmap_fields;               ///< Update: fields whose indexes keep coverage
  uint32_t update_mode = 0;                          ///< Update: 0 rows, 1 columns
  std::optional<std::string> inserted_rows;          ///< Update: serialized key filter
  std::optional<MapUpdate> config_updates;           ///< UpdateConfig
  std::optional<MapUpdate> table_metadata_updates;   ///< UpdateConfig
  std::optional<MapUpdate> schema_metadata_updates;  ///< UpdateConfig
  bool has_field_metadata_updates = false;           ///< UpdateConfig
};

/// Serialize. Operations beyond kUpdateConfig, and kProject, are only read.
/// REQUIRES: an operation that we write.
std::string EncodeTransaction(const Transaction& transaction);
/// Errors: kCorruption (`transaction.*`).
Result<Transaction> DecodeTransaction(std::string_view bytes, std::string_view object);

/// The transaction that made a version: inline, else from its file; nullopt where it has none.
///
/// Errors: kCorruption, any kind from ObjectStore.
/// Cost:   nothing, or one get.
Result<std::optional<Transaction>> ReadTransaction(const TableLocation& location,
                                                   const Manifest& manifest);

}  // namespace omnigraph::lance
