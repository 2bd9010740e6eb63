/// \file
/// Request targets, taken apart.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::server {

enum class Endpoint : uint8_t { kHealth, kGraphs, kIngest, kFold, kIngestStatus, kQuery };

/// Where a request goes. Value type.
struct Route {
  Endpoint endpoint = Endpoint::kHealth;
  std::string graph;  ///< empty for kHealth and kGraphs
  std::map<std::string, std::string> parameters;

  /// A parameter's value, or `otherwise` where it was not given.
  std::string Parameter(const std::string& name, const std::string& otherwise) const;
};

/// Errors: kNotFound (`http.no_route`), kInvalid (`http.method`, `http.bad_target`,
/// `http.unknown_parameter`).
Result<Route> ParseRoute(std::string_view method, std::string_view target);

}  // namespace omnigraph::server
