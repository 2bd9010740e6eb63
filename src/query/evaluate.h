/// \file
/// Expressions over columns, by Arrow's compute kernels. Nulls follow three-valued logic.
#pragma once

#include <arrow/api.h>
#include <arrow/datum.h>

#include <functional>
#include <memory>

#include "columns.h"
#include "omnigraph/query/params.h"
#include "omnigraph/query/plan.h"

namespace omnigraph::query {

/// What the leaves of an expression stand for.
struct Leaves {
  /// The values of a column of a variable, one per row.
  std::function<Result<Column>(int variable, const std::string& column)> column;
  const Parameters* params = nullptr;
  std::shared_ptr<arrow::Scalar> now;
  int64_t rows = 0;
};

/// The value of an expression without aggregates and entities: an array of `rows` values, or one
/// scalar for all of them.
Result<arrow::Datum> Evaluate(const BoundExpr& expr, const Leaves& leaves);

/// The same as an array.
Result<Column> EvaluateColumn(const BoundExpr& expr, const Leaves& leaves);

/// True where a condition holds; unknown counts as false. An array without nulls.
Result<std::shared_ptr<arrow::BooleanArray>> EvaluateMask(const BoundExpr& condition,
                                                          const Leaves& leaves);

}  // namespace omnigraph::query
