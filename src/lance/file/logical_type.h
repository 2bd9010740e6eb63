/// \file
/// Spelling of Arrow types as Lance `logical_type` strings, and back.
#pragma once

#include <arrow/type.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
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

/// Types nested in one logical type without being fields, at most.
inline constexpr int kTypeDepthMax = 16;
/// Widest value of fixed width: 256 MiB, so that its bits are an int, and products with a count of
/// rows that a buffer can hold do not overflow.
inline constexpr int64_t kValueBitsMax = std::numeric_limits<int32_t>::max();
/// Bits of one value, items of fixed-size lists counted together; nullopt where values have no
/// fixed width, or one above kValueBitsMax.
std::optional<int64_t> FixedBits(const arrow::DataType& type);

}  // namespace omnigraph::lance
