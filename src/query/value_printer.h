/// \file
/// Single values of a result as JSON and as plain text. Private to the printers.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <string>

namespace omnigraph::query {

/// Append a value as JSON. Dates are strings, numbers as wide as they are, what is not a number
/// null; nulls inside objects are left out.
void AppendJsonValue(const arrow::Array& array, int64_t row, std::string* out);

/// A value for people: text as it is, everything else as JSON, null as `null`.
std::string PlainValue(const arrow::Array& array, int64_t row);

}  // namespace omnigraph::query
