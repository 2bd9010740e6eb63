/// \file
/// Where rows come from: one immutable snapshot of a graph's tables, seen as columns.
///
/// The executor knows tables only by these two interfaces. Over a graph they are implemented by
/// the engine on a snapshot; in memory by MemorySource (memory_source.h).
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::query {

/// The visible rows of one type. Immutable and Thread-safe.
///
/// INVARIANT: every Scan gives the same rows in the same order; a row's place in it is its
/// position.
class TableSource {
 public:
  virtual ~TableSource() = default;

  /// Names these rows and their order for ever, such as a table's path and version. Columns are
  /// cached under it; empty: never cached.
  virtual std::string identity() const = 0;

  /// Number of rows. Cost: no I/O.
  virtual int64_t rows() const = 0;

  /// All rows of some columns, in the order asked for.
  ///
  /// Shape:  column names and types as schema::ArrowSchemaOf.
  /// Errors: any kind from the store; kCorruption.
  virtual Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns) const = 0;

  /// Rows at some positions, in that order; nullopt where this is no cheaper than a Scan.
  ///
  /// Shape:  `positions` are ascending, each once, below rows().
  virtual Result<std::optional<std::shared_ptr<arrow::Table>>> Take(
      const std::vector<int64_t>& positions, const std::vector<std::string>& columns) const {
    (void)positions;
    (void)columns;
    return std::optional<std::shared_ptr<arrow::Table>>();
  }
};

/// One snapshot of a graph. Immutable and Thread-safe.
class GraphSource {
 public:
  virtual ~GraphSource() = default;

  virtual std::shared_ptr<const schema::Catalog> catalog() const = 0;

  /// The table of a type of catalog().
  virtual Result<std::shared_ptr<const TableSource>> Open(const schema::TypeDef& type) const = 0;
};

}  // namespace omnigraph::query
