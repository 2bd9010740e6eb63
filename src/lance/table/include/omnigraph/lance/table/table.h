/// \file
/// One version of a table, opened for reading.
///
/// Start here: Table::Open, then Scan (scan.h), Take or CountRows. Writing: commit.h.
#pragma once

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/deletion.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/row_ids.h"
#include "omnigraph/lance/table/scan.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::lance {

class FileReader;
class TableCache;
class Table;

struct OpenOptions {
  /// Absent: the newest ordinary version. Detached numbers are fine.
  std::optional<uint64_t> version;
  /// How to find the newest version; writers list (C5).
  Look look = Look::kReader;
  /// The caller owns the graph whose guard flag (bit 62) this table may carry: it may write.
  bool passes_guard = false;
  /// Share file readers and deletion vectors with another version of the same table.
  std::shared_ptr<const Table> share_with;
};

/// A version of a table. Immutable (its caches are Thread-safe); held by shared_ptr.
class Table : public std::enable_shared_from_this<Table> {
 public:
  /// Open a version.
  ///
  /// Errors: kNotFound (`table.absent`, `table.no_version`), kUnsupported (reader flags, file
  ///         version), kCorruption, any kind from ObjectStore.
  /// Cost:   given a version, one get; else as ReadLatestManifest. No data file is touched.
  static Result<std::shared_ptr<const Table>> Open(TableLocation location,
                                                   const OpenOptions& options = {});
  /// The same from a manifest that was read or built already. No I/O.
  static Result<std::shared_ptr<const Table>> FromManifest(TableLocation location,
                                                           StoredManifest manifest,
                                                           const OpenOptions& options = {});
  ~Table();

  const TableLocation& location() const { return location_; }
  const Manifest& manifest() const { return stored_.manifest; }
  const StoredManifest& stored() const { return stored_; }
  uint64_t version() const { return manifest().version; }
  bool passes_guard() const { return passes_guard_; }
  const std::shared_ptr<arrow::Schema>& schema() const { return arrow_schema_; }
  const std::shared_ptr<const Schema>& lance_schema() const { return manifest().schema; }
  bool stable_row_ids() const { return manifest().stable_row_ids(); }
  /// Live rows, from the manifest alone.
  uint64_t CountRows() const { return manifest().live_rows(); }

  /// Read rows in scan order, deleted ones left out.
  ///
  /// Columns that no file holds read as null. The reader keeps this table alive; it is
  /// Thread-compatible.
  /// Errors: kInvalid (`scan.unknown_column`), later from the reader kCorruption, kUnsupported, any
  ///         kind from ObjectStore.
  Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(const ScanOptions& options = {}) const;

  /// Read rows by address, in the order given (repeats are fine). Columns by name; empty = all.
  ///
  /// Errors: kNotFound (`take.no_row`) for an address outside the table or of a deleted row.
  /// Cost:   reads only the pages that hold the rows.
  Result<std::shared_ptr<arrow::RecordBatch>> Take(std::span<const uint64_t> addresses,
                                                   const std::vector<std::string>& columns) const;

  /// Deleted rows of a fragment (cached).
  Result<DeletionVector> Deletions(uint64_t fragment_id) const;
  /// Row ids and versions of a fragment. Without stable row ids: ids are addresses, versions 0.
  Result<RowLineage> Lineage(uint64_t fragment_id) const;
  /// For each row id the address of its live row, or nullopt. Without stable row ids a row id is
  /// its address.
  ///
  /// Cost: deletion files of the fragments that hold the ids; O(fragments) the first time.
  Result<std::vector<std::optional<uint64_t>>> AddressesOfRowIds(
      std::span<const uint64_t> row_ids) const;
  /// For each address: true where it names a live row of this version.
  Result<std::vector<bool>> AreLive(std::span<const uint64_t> addresses) const;

  /// Index segments whose name is `name`.
  std::vector<const IndexMetadata*> IndexSegments(std::string_view name) const;

  /// An opened data file (cached). For the layers above that read files of their own making.
  Result<std::shared_ptr<const FileReader>> OpenDataFile(const DataFileRef& file) const;

 private:
  class RowIdIndex;

  Table(TableLocation location, StoredManifest stored, bool passes_guard,
        std::shared_ptr<TableCache> cache);
  Result<std::shared_ptr<const RowIdIndex>> RowIds() const;

  TableLocation location_;
  StoredManifest stored_;
  bool passes_guard_;
  std::shared_ptr<TableCache> cache_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  mutable runtime::Mutex mutex_;
  /// Made when first asked for.
  mutable std::shared_ptr<const RowIdIndex> row_ids_ OG_GUARDED_BY(mutex_);
};

}  // namespace omnigraph::lance
