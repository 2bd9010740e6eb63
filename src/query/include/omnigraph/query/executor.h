/// \file
/// Runs a bound query on a snapshot. How: src/query/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/query/cache.h"
#include "omnigraph/query/params.h"
#include "omnigraph/query/plan.h"
#include "omnigraph/query/result.h"
#include "omnigraph/query/source.h"

namespace omnigraph::query {

/// What one execution is given. Units: microseconds since the Unix epoch.
struct ExecuteOptions {
  /// The one value of `now()`.
  int64_t now_us = 0;
  /// The most rows of variables that may be held at once; a cross join beyond it is refused.
  int64_t rows_max = int64_t{64} << 20;
  /// Kept between queries; nullptr: nothing is.
  QueryCache* cache = nullptr;
};

/// Run a query. Reads the columns that it needs and nothing else; runs on the calling thread.
///
/// Shape:  `parameters` as ParseParameters(*query, ...) makes them; `source` has the catalog of
///         `query`.
/// Errors: kExhausted (`query.too_many_rows`), any kind from the source.
Result<QueryResult> ExecuteQuery(const std::shared_ptr<const BoundQuery>& query,
                                 const Parameters& parameters, const GraphSource& source,
                                 const ExecuteOptions& options);

/// A text, which of its queries, and its parameters.
struct QueryRequest {
  std::string_view text;
  std::string_view name;         ///< empty: the only query of the text
  std::string_view params_json;  ///< empty: none
  std::string_view source_name;  ///< of the text, for errors; may be empty
};

/// Parse, bind and run in one.
/// Errors: those of ParseQueries, FindQuery, BindQuery, ParseParameters and ExecuteQuery.
Result<QueryResult> RunQuery(const QueryRequest& request, const GraphSource& source,
                             const ExecuteOptions& options);

}  // namespace omnigraph::query
