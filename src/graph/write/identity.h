/// \file
/// Ids from keys. Normative: docs/format/rows.md.
#pragma once

#include <string>

#include "staged_row.h"

namespace omnigraph::write {

/// Append the canonical text of a key member: strings as they are, numbers without exponent and
/// trailing zeros, dates as ISO 8601.
void AppendCanonical(const schema::PropertyType& type, const StagedValue& value, std::string* out);

/// The id that a key gives: the canonical text of a single member, a compact JSON array of strings
/// for several. REQUIRES: a keyed type, and every member has a value.
void DeriveId(const StagedRow& row, std::string* out);

}  // namespace omnigraph::write
