#include "omnigraph/query/executor.h"

#include <arrow/compute/initialize.h>
#include <fmt/format.h>

#include "match.h"
#include "omnigraph/query/parser.h"
#include "project.h"

namespace omnigraph::query {
namespace {

/// The limit of this execution; a parameter may not be negative.
Result<std::optional<uint64_t>> LimitOf(const BoundQuery& query, const Parameters& parameters) {
  if (query.limit_param < 0) {
    return query.limit;
  }
  const auto& value = parameters[static_cast<size_t>(query.limit_param)];
  OG_ASSIGN_OR_RETURN(const auto wide, value->CastTo(arrow::int64()));
  const int64_t limit = static_cast<const arrow::Int64Scalar&>(*wide).value;
  if (limit < 0) {
    return Invalid("query.param_type", fmt::format("`limit` is {}; it is 0 or more", limit),
                   {.object = query.source,
                    .property = query.params[static_cast<size_t>(query.limit_param)].name});
  }
  return std::optional<uint64_t>(static_cast<uint64_t>(limit));
}

}  // namespace

Result<QueryResult> ExecuteQuery(const std::shared_ptr<const BoundQuery>& query,
                                 const Parameters& parameters, const GraphSource& source,
                                 const ExecuteOptions& options) {
  OG_RETURN_NOT_OK(arrow::compute::Initialize());
  OG_CHECK(parameters.size() == query->params.size());
  OG_ASSIGN_OR_RETURN(const std::optional<uint64_t> limit, LimitOf(*query, parameters));
  Session session(*query, parameters, source, options);
  OG_ASSIGN_OR_RETURN(const Relation relation, ExecuteMatch(&session));
  QueryResult result;
  result.query = query;
  for (const BoundColumn& column : query->columns) {
    result.columns.push_back({column.name, column.expr.type});
  }
  OG_ASSIGN_OR_RETURN(result.table, Project(&session, relation, limit));
  return result;
}

Result<QueryResult> RunQuery(const QueryRequest& request, const GraphSource& source,
                             const ExecuteOptions& options) {
  OG_ASSIGN_OR_RETURN(const QueryFile file, ParseQueries(request.text, request.source_name));
  OG_ASSIGN_OR_RETURN(const QueryDecl* decl, FindQuery(file, request.name));
  OG_ASSIGN_OR_RETURN(const auto query, BindQuery(source.catalog(), file, *decl));
  OG_ASSIGN_OR_RETURN(const Parameters parameters, ParseParameters(*query, request.params_json));
  return ExecuteQuery(query, parameters, source, options);
}

}  // namespace omnigraph::query
