#include "route.h"

#include <array>
#include <boost/url.hpp>
#include <set>
#include <vector>

namespace omnigraph::server {
namespace {

struct Pattern {
  std::string_view method;
  bool in_graph;                  ///< below /graphs/{graph}
  std::vector<std::string> path;  ///< segments, without /graphs/{graph}
  Endpoint endpoint;
  std::set<std::string> parameters;
};

const std::array<Pattern, 6>& Patterns() {
  static const std::array<Pattern, 6> patterns = {{
      {"GET", false, {"healthz"}, Endpoint::kHealth, {}},
      {"GET", false, {"graphs"}, Endpoint::kGraphs, {}},
      {"POST", true, {"ingest"}, Endpoint::kIngest, {"on_error", "fold"}},
      {"POST", true, {"ingest", "fold"}, Endpoint::kFold, {}},
      {"GET", true, {"ingest", "status"}, Endpoint::kIngestStatus, {}},
      {"POST", true, {"query"}, Endpoint::kQuery, {"format"}},
  }};
  return patterns;
}

Status CheckParameters(const Pattern& pattern, const Route& route) {
  for (const auto& [name, value] : route.parameters) {
    if (!pattern.parameters.contains(name)) {
      return Invalid("http.unknown_parameter", "this route has no parameter '" + name + "'");
    }
  }
  return Status::OK();
}

}  // namespace

std::string Route::Parameter(const std::string& name, const std::string& otherwise) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

Result<Route> ParseRoute(std::string_view method, std::string_view target) {
  const auto parsed = boost::urls::parse_origin_form(target);
  if (!parsed) {
    return Invalid("http.bad_target", "the request target is not a path");
  }
  Route route;
  std::vector<std::string> path;
  for (const std::string segment : parsed->segments()) {
    path.push_back(segment);
  }
  for (const auto parameter : parsed->params()) {
    // A lone '?' is an empty query, not a parameter without a name.
    if (!parameter.key.empty() || parameter.has_value) {
      route.parameters[parameter.key] = parameter.value;
    }
  }
  const bool in_graph = path.size() > 2 && path[0] == "graphs";
  if (in_graph) {
    route.graph = path[1];
    path.erase(path.begin(), path.begin() + 2);
  }
  bool path_known = false;
  for (const Pattern& pattern : Patterns()) {
    if (pattern.in_graph != in_graph || pattern.path != path) {
      continue;
    }
    path_known = true;
    if (pattern.method == method) {
      route.endpoint = pattern.endpoint;
      OG_RETURN_NOT_OK(CheckParameters(pattern, route));
      return route;
    }
  }
  if (path_known) {
    return Invalid("http.method", "this route does not take " + std::string(method));
  }
  return NotFound("http.no_route", "there is nothing at " + std::string(target) +
                                       "; routes: GET /healthz, GET /graphs, POST "
                                       "/graphs/{graph}/ingest, POST .../ingest/fold, GET "
                                       ".../ingest/status, POST .../query");
}

}  // namespace omnigraph::server
