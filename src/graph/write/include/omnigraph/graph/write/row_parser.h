/// \file
/// The one validator: a line of NDJSON becomes a checked row with an id, or a LineError.
///
/// Everything that can be known without the graph is checked here: JSON, envelope, types, values,
/// `@range`, `@check`, enum, required, identity. Endpoints, `@unique` and `@card` are not. Bulk
/// load, stream and mutations all pass through here. Rules: docs/format/rows.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/write/line_error.h"
#include "omnigraph/graph/write/line_reader.h"
#include "omnigraph/graph/write/type_rows.h"

namespace omnigraph::write {

/// The longest id (and so endpoint and key) in bytes.
inline constexpr size_t kMaxIdBytes = 4096;
/// The deepest nesting of a line, the line's own object counted.
inline constexpr int kMaxDepth = 64;

struct RowParserOptions {
  /// False: `"op":"delete"` is refused (bulk load).
  bool allow_delete = true;
  /// Makes ids that the input does not bring; runtime::NewUlid when empty.
  std::function<std::string()> mint_id;
};

/// What a line became.
struct AdmittedRow {
  int type_index = 0;
  int64_t row = 0;  ///< position in the type's TypeRows
  bool tombstone = false;
  bool minted = false;
};

/// Parses and checks lines against one catalog. Thread-compatible; make one per thread.
class RowParser {
 public:
  /// Errors: kInvalid (`schema.check_pattern`) when a `@check` pattern is no regular expression.
  static Result<std::unique_ptr<RowParser>> Make(std::shared_ptr<const schema::Catalog> catalog,
                                                 RowParserOptions options = {});
  ~RowParser();

  /// Check one line and append its row to `rows`, or change nothing and fill in `error`.
  ///
  /// Shape:  `line` as LineReader gives it (kLinePadding readable bytes behind the text).
  /// Cost:   O(line); no allocation per row once warm, but for a minted id.
  bool Parse(const Line& line, RowSet* rows, AdmittedRow* admitted, LineError* error);

  const schema::Catalog& catalog() const;

 private:
  class Impl;
  explicit RowParser(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Check that every `@check` pattern of a catalog compiles. Errors: kInvalid
/// (`schema.check_pattern`).
Status ValidatePatterns(const schema::Catalog& catalog);

}  // namespace omnigraph::write
