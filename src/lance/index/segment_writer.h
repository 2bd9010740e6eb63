/// \file
/// Writes the two files of a BTREE segment from rows that come in order. Private.
#pragma once

#include <arrow/array.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/lance/index/btree.h"

namespace omnigraph::lance {

/// Rows of a segment in memory: keys and row ids of equal length.
struct KeyRows {
  std::shared_ptr<arrow::StringArray> keys;
  std::shared_ptr<arrow::UInt64Array> row_ids;
};

/// Encodes in memory, puts at the end. Single-owner.
class SegmentWriter {
 public:
  static Result<std::unique_ptr<SegmentWriter>> Make(uint32_t page_rows);

  /// Rows whose keys follow all before them. REQUIRES: ascending keys, no nulls.
  Status Write(const KeyRows& rows);
  int64_t rows() const { return rows_; }

  /// Put both files and describe them. Errors: any kind from ObjectStore.
  Result<IndexMetadata> Finish(const TableLocation& location, const BTreeCoverage& coverage);

 private:
  explicit SegmentWriter(uint32_t page_rows) : page_rows_(page_rows) {}
  Result<EncodedFile> EncodeLookup();

  const int64_t page_rows_;
  int64_t rows_ = 0;
  std::unique_ptr<FileWriter> data_;
  std::vector<std::string> mins_;
  std::vector<std::string> maxes_;  // of full pages, and `last_key_` for the one that is open
  std::string last_key_;
  std::vector<uint64_t> hashes_;
};

}  // namespace omnigraph::lance
