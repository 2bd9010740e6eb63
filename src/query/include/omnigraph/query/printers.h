/// \file
/// Results as text: a table for people, JSON, JSON lines and CSV for programs, blocks of keys and
/// values. Shapes: docs/query.md, "Output".
#pragma once

#include <string>
#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/query/result.h"

namespace omnigraph::query {

enum class OutputFormat : uint8_t { kTable, kJson, kJsonl, kCsv, kKv };

/// `table`, `json`, `jsonl`, `csv` or `kv`.
/// Errors: kInvalid (`query.output_format`).
Result<OutputFormat> ParseOutputFormat(std::string_view name);

struct PrintOptions {
  /// Characters of a column of a table beyond which a cell is cut.
  int table_column_width_max = 80;
};

/// The text of a result, with a newline at its end.
Result<std::string> FormatResult(const QueryResult& result, OutputFormat format,
                                 const PrintOptions& options = {});

}  // namespace omnigraph::query
