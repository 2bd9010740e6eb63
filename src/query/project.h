/// \file
/// From rows of variables to the rows of the result: grouping, order, limit, columns.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "omnigraph/base/status.h"
#include "session.h"

namespace omnigraph::query {

/// The result's table: one column for each of BoundQuery::columns, rows ordered and limited.
Result<std::shared_ptr<arrow::Table>> Project(Session* session, const Relation& relation,
                                              std::optional<uint64_t> limit);

/// The values of an expression over a relation; an entity is a struct of its properties.
Result<Column> MakeColumn(Session* session, const BoundExpr& expr, const Relation& relation);

/// Group and aggregate (aggregate.cc): columns and hidden columns of the query, in that order.
Result<arrow::ArrayVector> AggregateRows(Session* session, const Relation& relation);

/// One key of a sort.
struct SortColumn {
  Column values;
  bool descending = false;
};

/// Positions of the first `limit` rows in order (order.cc). Nulls are least: first ascending, last
/// descending. Rows alike in all keys come in any order.
Result<Positions> SortRows(const std::vector<SortColumn>& keys, int64_t rows,
                           std::optional<uint64_t> limit);

}  // namespace omnigraph::query
