/// \file
/// Physical columns of a type's table. Normative: docs/format/rows.md.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>

#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::schema {

/// Names of the system columns.
inline constexpr const char* kIdColumn = "id";
inline constexpr const char* kSrcColumn = "src";
inline constexpr const char* kDstColumn = "dst";
inline constexpr const char* kTombstoneColumn = "_tombstone";

/// The Arrow type of a property's column, without nullability.
std::shared_ptr<arrow::DataType> ArrowTypeOf(const PropertyType& type);

/// The schema of the type's table: `id`, for edges `src` and `dst`, then the properties in order of
/// id. A node's String key named `id` is the column `id` and has no column of its own. No metadata.
std::shared_ptr<arrow::Schema> ArrowSchemaOf(const TypeDef& type);

/// The same with `_tombstone` (bool, not null) last: the shape of admitted rows and log entries.
std::shared_ptr<arrow::Schema> ArrowLogSchemaOf(const TypeDef& type);

/// Column of a property in ArrowSchemaOf. REQUIRES: 0 <= property < type.properties.size().
int ColumnOf(const TypeDef& type, int property);

/// Column of a key or `@unique` member.
int ColumnOf(const TypeDef& type, const Member& member);

}  // namespace omnigraph::schema
