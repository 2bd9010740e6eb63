/// \file
/// The columns of one type's table within one query: read once, kept in the cache if there is one.
#pragma once

#include <arrow/api.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "omnigraph/query/cache.h"
#include "omnigraph/query/source.h"

namespace omnigraph::query {

/// A whole column, one array. Text above 2 GiB comes as large_utf8.
using Column = std::shared_ptr<arrow::Array>;

/// Rows by their place in a table.
using Positions = std::shared_ptr<arrow::Int32Array>;

/// Reads columns of a table on demand. Single-owner.
class TableColumns {
 public:
  /// Columns are kept in `cache`, which is borrowed, under names that start with `key`.
  TableColumns(std::shared_ptr<const TableSource> source, QueryCache* cache, std::string key);

  int64_t rows() const { return source_->rows(); }
  const std::string& key() const { return key_; }

  /// Read what is not held yet of these columns, in one scan.
  Status Load(const std::set<std::string>& names);
  /// Read columns in one scan without keeping them.
  Result<std::vector<Column>> Scan(const std::vector<std::string>& names) const;
  /// A whole column. Reads it if it is not held.
  Result<Column> Get(const std::string& name);
  /// Make ready for Take of these columns at these positions: reads only those rows where the table
  /// can and few are asked for, else whole columns in one scan.
  Status Prepare(const std::set<std::string>& names, const Positions& positions);
  /// Values of a column at some positions (any order, repeats are fine).
  Result<Column> Take(const std::string& name, const Positions& positions);
  /// The text of a column as codes into a dictionary of its distinct values; kept like a column.
  Result<std::shared_ptr<arrow::DictionaryArray>> Dictionary(const std::string& name);

 private:
  std::string KeyOf(const std::string& name) const;
  void Keep(const std::string& name, const Column& column);
  bool IsHeld(const std::string& name) const;
  Result<bool> TakeFew(const std::vector<std::string>& names, const Positions& positions);

  /// Columns at the positions of one Prepare.
  struct Few {
    Positions positions;
    std::map<std::string, Column> columns;
  };

  std::shared_ptr<const TableSource> source_;
  QueryCache* cache_;
  std::string key_;
  std::map<std::string, Column> columns_;
  Few few_;
};

/// One array of all chunks.
Result<Column> Combine(const arrow::ChunkedArray& chunks);

/// `values` at `positions`.
Result<Column> TakeValues(const Column& values, const std::shared_ptr<arrow::Array>& positions);

}  // namespace omnigraph::query
