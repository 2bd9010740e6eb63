#include "query_text.h"

#include "input.h"

namespace omnigraph::cli {
namespace {

constexpr size_t kTextLimit = size_t{4} << 20;

}  // namespace

Result<std::string> QueryText(const QueryArguments& arguments) {
  if (!arguments.file.empty() && !arguments.text.empty()) {
    return Invalid("cli.two_queries", "give the query by --query FILE or by -e TEXT, not by both");
  }
  if (!arguments.text.empty()) {
    return arguments.text;
  }
  if (arguments.file.empty()) {
    return Invalid("cli.no_query", "which query? Give --query FILE, or -e TEXT");
  }
  return ReadTextFile(arguments.file, kTextLimit);
}

Result<std::string> QueryParams(const QueryArguments& arguments) {
  if (!arguments.params_file.empty()) {
    return ReadTextFile(arguments.params_file, kTextLimit);
  }
  return arguments.params;
}

}  // namespace omnigraph::cli
