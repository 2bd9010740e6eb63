/// \file
/// Values of a query's parameters, from JSON or made by the caller.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/query/plan.h"

namespace omnigraph::query {

/// One scalar per parameter of a BoundQuery, in its order and of its type.
using Parameters = std::vector<std::shared_ptr<arrow::Scalar>>;

/// Read the values of a query's parameters from one JSON object.
///
/// A nullable parameter may be left out. Unknown members are ignored. I64 and U64 take numbers or
/// decimal strings, Date and DateTime ISO strings, U64 nothing above 2^63 - 1.
///
/// Shape:  `json` is an object; empty text counts as `{}`.
/// Errors: kInvalid (`query.params_json`, `query.param_missing`, `query.param_null`,
///         `query.param_type`); the place names the parameter.
Result<Parameters> ParseParameters(const BoundQuery& query, std::string_view json);

}  // namespace omnigraph::query
