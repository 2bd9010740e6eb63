/// \file
/// What a query gives: an Arrow table with the user's column names, and what it was run on.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

#include "omnigraph/query/plan.h"

namespace omnigraph::query {

/// A column of a result.
struct ResultColumn {
  std::string name;
  ValueType type;
};

/// On what a query ran, for the reader of its output.
struct ResultTarget {
  std::string branch;           ///< empty where a snapshot was named
  std::string snapshot;         ///< commit id that was asked for; else empty
  std::string graph_commit_id;  ///< the commit that was read; empty when unknown
};

/// Rows in their final order. Immutable.
///
/// INVARIANT: the table's columns match `columns` in number and order. An entity is a struct of
/// `@id`, for edges `@src` and `@dst`, and its properties.
struct QueryResult {
  /// Keeps alive what the types of `columns` point into.
  std::shared_ptr<const BoundQuery> query;
  ResultTarget target;
  std::vector<ResultColumn> columns;
  std::shared_ptr<arrow::Table> table;
};

}  // namespace omnigraph::query
