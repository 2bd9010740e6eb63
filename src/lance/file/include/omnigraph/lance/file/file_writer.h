/// \file
/// Encodes record batches as one Lance data file of version 2.2, in memory. No store: the caller
/// puts the result.
///
/// Values are written plain (no bit packing, no compression), so encoding is copying. Which layout
/// a page gets is decided per page; the rules and the bytes are in docs/format/lance-file.md.
#pragma once

#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {

struct FileWriterOptions {
  /// Raw bytes of one column after which a page is cut. Larger pages mean fewer of them and more
  /// memory while writing; readers fetch chunks, not pages.
  int64_t page_bytes = 8 << 20;
  /// Most values of one chunk, rounded down to a power of two; at least 2, never more than 4,096.
  /// Smaller chunks: fewer bytes to read for one row, 20 more bytes per chunk. Pages are then cut
  /// where a chunk of so many rows ends.
  int64_t chunk_rows_max = 4096;
};

/// A finished file.
struct EncodedFile {
  /// The bytes, in order; buffers are shared and must not be changed.
  std::vector<std::shared_ptr<arrow::Buffer>> parts;
  uint64_t size = 0;
  int64_t rows = 0;
  /// Field id and file column of every leaf, as a manifest's data file entry lists them.
  std::vector<int32_t> field_ids;
  std::vector<int32_t> column_indices;
};

/// Builds one file. Single-owner; batches given to Write() are shared and must not be changed by
/// the caller.
class FileWriter {
 public:
  /// Errors: kUnsupported (`lance.schema.*`) for a type that cannot be stored.
  static Result<std::unique_ptr<FileWriter>> Make(Schema schema, FileWriterOptions options = {});
  ~FileWriter();

  /// Append rows. Columns are taken by position and must have the schema's types.
  ///
  /// Errors:  kInvalid: `lance.file.schema_mismatch` (types differ), `lance.file.null_in_required`
  /// (a null in a
  ///          field that is not nullable). After an error the writer is spent.
  /// Cost:    O(bytes); at most one page per column is buffered by reference, the rest is encoded.
  Status Write(const arrow::RecordBatch& batch);

  /// Rows written so far.
  int64_t rows() const;
  /// Raw bytes held by reference that are not encoded yet.
  int64_t buffered_bytes() const;
  /// Bytes of the pages encoded so far.
  int64_t encoded_bytes() const;

  /// Store a buffer beside the columns. The result is its number in the file; 0 is the schema, so
  /// the first is 1.
  int32_t AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer);
  /// Set an entry of the schema metadata that the file carries.
  void SetSchemaMetadata(std::string_view key, std::string_view value);

  /// Encode what is left and close the file. Call once.
  Result<EncodedFile> Finish();

 private:
  class Impl;
  explicit FileWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::lance
