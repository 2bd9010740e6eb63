/// \file
/// Streaming writer of data files: batches in, new fragments out.
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/location.h"

namespace omnigraph::lance {

class FileWriter;
class Table;

struct DataWriterOptions {
  /// A file is closed once it holds this much encoded data. Smaller: more fragments, less memory.
  uint64_t file_bytes_max = uint64_t{64} << 20;
  /// A file is closed once it holds this many rows.
  uint64_t file_rows_max = uint64_t{1} << 20;
};

/// Writes rows of one table into data files, one fragment per file. Thread-compatible.
///
/// Nothing refers to the files until a commit names the fragments; abandoned files are swept by
/// age.
class DataWriter {
 public:
  /// `schema` is the table's (Table::lance_schema()); it may be a subset of its columns.
  static Result<std::unique_ptr<DataWriter>> Make(TableLocation location,
                                                  std::shared_ptr<const Schema> schema,
                                                  const DataWriterOptions& options = {});
  ~DataWriter();

  /// Append rows. Columns by position; types and nullability as in the schema.
  ///
  /// Errors: kInvalid (`write.schema_mismatch`), any kind from ObjectStore.
  /// Cost:   O(batch bytes); a put whenever a file is full.
  Status Write(const arrow::RecordBatch& batch);

  /// Put the last file and return all fragments in row order. Call once.
  ///
  /// Every file is put (ordered strength, P2) when this returns OK. No rows: no fragments.
  Result<std::vector<NewFragment>> Finish();

  uint64_t rows() const { return rows_; }
  uint64_t bytes_written() const { return bytes_written_; }

 private:
  DataWriter(TableLocation location, std::shared_ptr<const Schema> schema,
             const DataWriterOptions& options);
  Status CloseFile();

  TableLocation location_;
  std::shared_ptr<const Schema> schema_;
  DataWriterOptions options_;
  std::unique_ptr<FileWriter> file_;
  uint64_t file_rows_ = 0;
  std::vector<NewFragment> fragments_;
  uint64_t rows_ = 0;
  uint64_t bytes_written_ = 0;
};

/// Write the live rows of some fragments into new ones that keep their row ids and versions, for a
/// Change with `removed_fragments` (compaction).
///
/// `more` rows (may be null) are put behind them as fresh ones, in the same files.
/// Errors: as Table::Scan and DataWriter.
Result<std::vector<NewFragment>> RewriteFragments(
    const Table& table, const std::vector<uint64_t>& fragment_ids,
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& more = {},
    const DataWriterOptions& options = {});

}  // namespace omnigraph::lance
