/// \file
/// A change to a table, independent of the version that it will make: what a writer hands to
/// commit.h.
///
/// A change names new data files (already put) and old rows by address; it can be built on its base
/// or, after Rebase, on a newer version, without writing its data again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/row_ids.h"

namespace omnigraph::lance {

/// A row address: fragment id in the high 32 bits, physical row offset in the low 32.
constexpr uint64_t MakeRowAddress(uint64_t fragment_id, uint64_t offset) {
  return fragment_id << 32 | offset;
}
constexpr uint32_t FragmentOfAddress(uint64_t address) {
  return static_cast<uint32_t>(address >> 32);
}
constexpr uint32_t OffsetOfAddress(uint64_t address) {
  return static_cast<uint32_t>(address);
}

/// A fragment whose files are put but that has no id yet. Value type.
struct NewFragment {
  std::vector<DataFileRef> files;
  uint64_t rows = 0;
  /// Lineage of the first `kept->row_ids.rows()` rows, for rows that are only moved (compaction);
  /// the rows after them are fresh. Absent: all rows are fresh.
  std::optional<RowLineage> kept;
};

/// Which Lance operation the transaction of a change is. A change of the schema is always a Merge.
enum class ChangeKind : uint8_t {
  kAuto,          ///< derived from what the change holds
  kAppend,        ///< only added fragments
  kDelete,        ///< only deleted rows and removed fragments
  kUpdate,        ///< any mix of added, deleted and removed
  kRewrite,       ///< removed fragments, and added ones that hold the same rows
  kOverwrite,     ///< the added fragments are all there is
  kCreateIndex,   ///< only indexes
  kUpdateConfig,  ///< only config or table metadata
  kRestore,       ///< whatever the content: it stands for `restored_version`
};

/// See the file comment. Value type.
struct Change {
  ChangeKind kind = ChangeKind::kAuto;

  std::vector<NewFragment> added;
  /// Rows to delete; ascending, no repeats, none deleted in the base.
  std::vector<uint64_t> deleted_addresses;
  /// Fragments to drop whole, by id; ascending.
  std::vector<uint64_t> removed_fragments;

  std::vector<IndexMetadata> new_indices;
  std::vector<Uuid> removed_indices;

  /// Keys of `table_metadata` to set (value) or to remove (nullopt).
  std::map<std::string, std::optional<std::string>> table_metadata;
  /// The given keys are all there is afterwards.
  bool replace_table_metadata = false;
  /// Keys of `config` to set or to remove.
  std::map<std::string, std::optional<std::string>> config;
  /// A new schema whose fields keep the ids of the old ones (rename, added or dropped columns).
  std::shared_ptr<const Schema> schema;

  /// Created and updated version of the fresh rows; absent = the number of the version made.
  /// Graph tables give their publish counter.
  std::optional<uint64_t> row_version;
  /// For kRestore: the version whose content this is.
  uint64_t restored_version = 0;
  /// Free-form facts that ride in the transaction.
  std::map<std::string, std::string> transaction_properties;
  /// Lower bounds of the new counters (C4: content re-listed over a foreign version).
  std::optional<uint32_t> max_fragment_id_floor;
  uint64_t next_row_id_floor = 0;

  bool empty() const;
  /// `kind`, or what the content amounts to.
  ChangeKind effective_kind() const;
};

}  // namespace omnigraph::lance
