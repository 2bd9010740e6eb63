/// \file
/// The resolved form of a schema as one line of JSON: the object `_schemas/<hash>.json`. Normative:
/// docs/format/schema.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::schema {

/// Version of the resolved form that this build writes and reads.
inline constexpr int kSchemaJsonVersion = 1;

/// Deterministic: equal catalogs give equal bytes.
std::string CatalogToJson(const Catalog& catalog);

/// Read a stored pair back; `text` is the object `_schemas/<hash>.pg`.
///
/// Errors: kCorruption (`schema.stored`) when the JSON breaks its shape or does not belong to the
///         text; kUnsupported (`schema.stored_version`) for a newer version.
Result<std::shared_ptr<const Catalog>> CatalogFromJson(std::string_view json, std::string_view text,
                                                       std::string_view object);

}  // namespace omnigraph::schema
