// Runs tests/query/cases/*.case (readable text of schema, rows, queries and what they give) and the
// examples of docs/query.md.
//
// A file has the sections `--- schema`, `--- data` (load lines) and then, for each case, `--- case
// <name>` with the query below it, optionally `--- params` and `--- format <name>`, and `---
// expect` (the output; of a table without its first line) or `--- error <code> <line>:<column>`.
// Without `order` in the query the rows of a table compare in any order. `#` starts a comment line
// outside of queries.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "memory_graph.h"
#include "omnigraph/graph/schema/value_text.h"
#include "omnigraph/query/executor.h"
#include "omnigraph/query/printers.h"
#include "omnigraph/testing/status_matchers.h"
#include "real_graph.h"

namespace omnigraph::query {
namespace {

struct Case {
  std::string file;
  std::string name;
  std::string schema;
  std::string data;
  std::string query;
  std::string params;
  std::string format = "table";
  std::string expected;
  std::string error;  ///< `<code> <line>:<column>`
};

std::ostream& operator<<(std::ostream& out, const Case& one) {
  return out << one.file << ": " << one.name;
}

bool StartsWith(const std::string& line, const std::string& word, std::string* rest) {
  const std::string start = "--- " + word;
  if (!line.starts_with(start)) {
    return false;
  }
  *rest = line.size() > start.size() ? line.substr(start.size() + 1) : "";
  return true;
}

std::vector<Case> ReadFile(const std::filesystem::path& path) {
  std::vector<Case> cases;
  Case common;
  common.file = path.filename().string();
  std::string* section = nullptr;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::string rest;
    if (StartsWith(line, "schema", &rest)) {
      section = &common.schema;
    } else if (StartsWith(line, "data", &rest)) {
      section = &common.data;
    } else if (StartsWith(line, "case", &rest)) {
      cases.push_back(common);
      cases.back().name = rest;
      section = &cases.back().query;
    } else if (StartsWith(line, "params", &rest)) {
      section = &cases.back().params;
    } else if (StartsWith(line, "format", &rest)) {
      cases.back().format = rest;
    } else if (StartsWith(line, "expect", &rest)) {
      section = &cases.back().expected;
    } else if (StartsWith(line, "error", &rest)) {
      cases.back().error = rest;
      section = nullptr;
    } else if (section != nullptr && !line.starts_with("#")) {
      *section += line + "\n";
    }
  }
  return cases;
}

/// The examples of docs/query.md: a `gq` block, perhaps a `params` block, and a `text` block each.
std::vector<Case> ReadExamples() {
  std::vector<Case> cases;
  Case common;
  common.file = "query_md";
  std::string language;
  std::string block;
  std::ifstream in(OMNIGRAPH_SOURCE_DIR "/docs/query.md");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("```")) {
      block += line + "\n";
      continue;
    }
    if (language == "pg") {
      common.schema = block;
    } else if (language == "ndjson") {
      common.data = block;
    } else if (language == "gq") {
      cases.push_back(common);
      cases.back().query = block;
      cases.back().name = "example";
    } else if (language == "params") {
      cases.back().params = block;
    } else if (language == "text") {
      cases.back().expected = block;
    }
    language = line.substr(3);
    block.clear();
  }
  return cases;
}

std::vector<Case> ReadAll() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(OMNIGRAPH_SOURCE_DIR "/tests/query/cases")) {
    if (entry.path().extension() == ".case") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> all = ReadExamples();
  for (const auto& path : paths) {
    const std::vector<Case> cases = ReadFile(path);
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

std::string Comparable(const Case& one, const std::string& text, bool is_actual) {
  std::vector<std::string> lines = LinesOf(text);
  if (one.format == "table") {
    if (is_actual && !lines.empty()) {
      lines.erase(lines.begin());
    }
    if (one.query.find("order") == std::string::npos && lines.size() > 2) {
      std::sort(lines.begin() + 2, lines.end());
    }
  }
  std::string joined;
  for (const std::string& line : lines) {
    joined += line + "\n";
  }
  return joined;
}

std::string PlaceOf(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  if (detail == nullptr) {
    return status.ToString();
  }
  return detail->code() + " " + std::to_string(detail->place().line) + ":" +
         std::to_string(detail->place().column);
}

class QueryCases : public ::testing::TestWithParam<Case> {};

/// Runs a case cold with nothing kept, cold with a cache, and warm.
void RunCase(const Case& one, const GraphSource& source) {
  ExecuteOptions options;
  options.now_us = *schema::ParseDateTime("2026-11-30T12:00:00.500Z") * 1000;
  QueryCache cache;
  for (QueryCache* kept : {static_cast<QueryCache*>(nullptr), &cache, &cache}) {
    options.cache = kept;
    auto result = RunQuery({one.query, "", one.params, ""}, source, options);
    if (!one.error.empty()) {
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(PlaceOf(result.status()), one.error) << result.status().ToString();
      continue;
    }
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    OG_ASSERT_OK_AND_ASSIGN(const OutputFormat format, ParseOutputFormat(one.format));
    result->target.branch = "main";
    OG_ASSERT_OK_AND_ASSIGN(const std::string text, FormatResult(*result, format));
    EXPECT_EQ(Comparable(one, text, true), Comparable(one, one.expected, false));
  }
}

TEST_P(QueryCases, GiveWhatTheySay) {
  const Case& one = GetParam();
  OG_ASSERT_OK_AND_ASSIGN(const auto memory,
                          testing::MakeMemoryGraph(one.schema, one.data, one.file));
  {
    SCOPED_TRACE("tables in memory");
    RunCase(one, *memory);
  }
  SCOPED_TRACE("Lance tables of a snapshot");
  OG_ASSERT_OK_AND_ASSIGN(const auto real, testing::MakeRealGraph(*memory));
  RunCase(one, *real);
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.file.substr(0, info.param.file.find('.')) + "_" + info.param.name;
  for (char& c : name) {
    if (isalnum(static_cast<unsigned char>(c)) == 0) {
      c = '_';
    }
  }
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(All, QueryCases, ::testing::ValuesIn(ReadAll()), NameOf);

}  // namespace
}  // namespace omnigraph::query
