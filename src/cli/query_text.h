/// \file
/// The text and the parameters of a query, from files or from the command line.
#pragma once

#include <string>

#include "omnigraph/base/status.h"
#include "options.h"

namespace omnigraph::cli {

/// Errors: kInvalid (`cli.no_query`, `cli.two_queries`), those of ReadTextFile.
Result<std::string> QueryText(const QueryArguments& arguments);
Result<std::string> QueryParams(const QueryArguments& arguments);

}  // namespace omnigraph::cli
