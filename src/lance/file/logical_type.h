/// \file
/// Spelling of Arrow types as Lance `logical_type` strings, and back.
#pragma once

#include <arrow/type.h>

#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// The spelling of `type`. Errors: kUnsupported (`lance.schema.type`).
Result<std::string> LogicalTypeOf(const arrow::DataType& type);

/// The type of a field without children. Errors: kUnsupported (`lance.schema.logical_type`), also
/// for nested types.
Result<std::shared_ptr<arrow::DataType>> LeafTypeOf(std::string_view logical_type);

/// True for types whose children are fields of their own (struct, list, map).
bool HasChildFields(const arrow::DataType& type);

}  // namespace omnigraph::lance
