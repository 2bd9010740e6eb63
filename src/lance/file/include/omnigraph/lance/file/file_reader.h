/// \file
/// Reads Lance data files of versions 2.1 and 2.2 from an object store, by row range or by row
/// numbers.
///
/// A reader knows nothing of tables: which columns make up a field is the caller's request (from a
/// manifest), or the file's own schema (index files). Bytes: docs/format/lance-file.md.
#pragma once

#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// One column to read: a field and where its leaves are.
struct ColumnRequest {
  /// Name and type of the result.
  std::shared_ptr<arrow::Field> field;
  /// File column of each leaf of the type, depth first (CountLeaves() of them). -1 = the file does
  /// not hold that leaf, it reads as null; at least one leaf of a nested field must be there.
  std::vector<int32_t> columns;
};

/// One open file. Immutable after Open() and Thread-safe, except that it remembers what it has
/// learned of where rows are in a page (bounded by the file's own metadata).
class FileReader {
 public:
  /// Read footer, schema and column metadata.
  ///
  /// Errors: kCorruption (`lance.file.*`, names the path), kUnsupported (`lance.file.version`), any
  /// kind from
  ///         ObjectStore.
  /// Cost:   one GetRanges of the last 64 KiB when `size` is known (else a Head first), a second
  /// one when the
  ///         metadata is longer.
  static Result<std::shared_ptr<const FileReader>> Open(
      std::shared_ptr<store::ObjectStore> store, std::string path,
      std::optional<uint64_t> size = std::nullopt);
  ~FileReader();

  int64_t rows() const;
  int32_t num_columns() const;
  /// Version of the file format as (major, minor).
  std::pair<uint16_t, uint16_t> version() const;
  /// The schema that the file carries. For a table's data file the manifest decides, not this.
  const Schema& schema() const;
  const std::string& path() const;
  uint64_t size() const;

  /// Number of global buffers, with the schema as number 0.
  int32_t num_global_buffers() const;
  /// Errors: kCorruption (`lance.file.global_buffer`) for a number out of range, any kind from
  /// ObjectStore.
  Result<std::shared_ptr<arrow::Buffer>> ReadGlobalBuffer(int32_t index) const;

  /// Requests for these top-level fields of the embedded schema; all of them when `names` is empty.
  /// Errors: kNotFound (`lance.schema.field`), kUnsupported and kCorruption as Schema::ToArrow().
  Result<std::vector<ColumnRequest>> RequestColumns(
      const std::vector<std::string>& names = {}) const;

  /// Rows [offset, offset + count) of these columns.
  ///
  /// Errors: kInvalid (`lance.file.range`) outside the file, kCorruption (`lance.file.*`, names the
  /// path),
  ///         kUnsupported (`lance.file.encoding`), kExhausted (`lance.file.too_large`: more than 2
  ///         GiB of one column of 32-bit offsets; read fewer rows), any kind from ObjectStore.
  /// Cost:   at most two GetRanges for all columns together; only the chunks that hold the rows are
  /// read.
  Result<std::shared_ptr<arrow::RecordBatch>> ReadRange(std::span<const ColumnRequest> columns,
                                                        int64_t offset, int64_t count) const;

  /// These rows, in the given order. REQUIRES: `row_offsets` strictly ascending, else kInvalid
  /// (`lance.file.range`). Errors and cost: as ReadRange().
  Result<std::shared_ptr<arrow::RecordBatch>> Take(std::span<const ColumnRequest> columns,
                                                   std::span<const uint64_t> row_offsets) const;

 private:
  struct Impl;
  explicit FileReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::lance
