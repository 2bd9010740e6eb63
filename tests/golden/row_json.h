/// \file
/// Rows as JSON text, for comparing with what official readers printed.
#pragma once

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <string>

namespace omnigraph::testing {

/// Two ways to spell a value.
enum class JsonStyle {
  /// Exact: floats as their bits in hex, binary in base64, temporal values and decimals as unscaled
  /// integers, maps as
  /// arrays of pairs. What tests/interop/judge.py prints.
  kExact,
  /// As the official JavaScript client prints: temporal values in milliseconds, binary as an object
  /// of bytes.
  kJavaScript,
};

/// One value. REQUIRES: a type that a Lance table can have.
std::string JsonOfValue(const arrow::Array& array, int64_t row, JsonStyle style);

/// The columns [first, first + count) of a row as members of an object.
std::string JsonOfRow(const arrow::RecordBatch& batch, int64_t row, int first, int count,
                      JsonStyle style);

/// A JSON string, non-ASCII escaped as \uXXXX.
std::string JsonString(std::string_view text);

}  // namespace omnigraph::testing
