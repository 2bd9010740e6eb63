/// \file
/// Columns of one fragment: which data file holds which leaf, and reading them side by side.
/// Private to this layer.
#pragma once

#include <arrow/array.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// A top-level column to read.
struct ColumnTarget {
  std::shared_ptr<arrow::Field> field;
  std::vector<int32_t> leaf_ids;
};

/// Resolve names against a table's schema; absent = all columns.
/// Errors: kInvalid (`scan.unknown_column`).
Result<std::vector<ColumnTarget>> ResolveColumns(
    const Table& table, const std::optional<std::vector<std::string>>& names);

/// Reads columns of one fragment. Immutable once made, Thread-safe; must not outlive its table.
class FragmentReader {
 public:
  /// Open the files that hold the columns. `targets` must outlive this.
  ///
  /// Errors: kCorruption (`fragment.*`), kUnsupported (`fragment.*`), as FileReader::Open.
  static Result<FragmentReader> Make(const Table& table, const Fragment& fragment,
                                     const std::vector<ColumnTarget>& targets);

  /// Rows [offset, offset + count), one array per target.
  Result<arrow::ArrayVector> ReadRange(int64_t offset, int64_t count) const;
  /// Rows by ascending offset.
  Result<arrow::ArrayVector> Take(std::span<const uint64_t> offsets) const;

  /// Bytes of the opened files per row, for choosing how many rows to read at once; 0 = no file.
  uint64_t bytes_per_row() const;

 private:
  struct Part {
    std::shared_ptr<const FileReader> file;
    std::vector<ColumnRequest> requests;
    std::vector<size_t> positions;  // of the requests among the targets
  };

  template <typename ReadPart>
  Result<arrow::ArrayVector> Read(int64_t rows, const ReadPart& read) const;

  const std::vector<ColumnTarget>* targets_ = nullptr;
  std::vector<Part> parts_;
  uint64_t rows_ = 0;
};

}  // namespace omnigraph::lance
