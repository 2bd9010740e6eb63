#include "omnigraph/query/printers.h"

#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "columns.h"
#include "omnigraph/graph/schema/value_text.h"
#include "value_printer.h"

namespace omnigraph::query {
namespace {

using schema::AppendJsonString;

/// A result with each column as one array.
struct Rows {
  const QueryResult* result = nullptr;
  arrow::ArrayVector columns;
  int64_t count = 0;
};

Result<Rows> RowsOf(const QueryResult& result) {
  Rows rows;
  rows.result = &result;
  rows.count = result.table->num_rows();
  for (const auto& chunks : result.table->columns()) {
    OG_ASSIGN_OR_RETURN(Column column, Combine(*chunks));
    rows.columns.push_back(std::move(column));
  }
  return rows;
}

std::string Quoted(std::string_view text) {
  std::string out;
  AppendJsonString(text, &out);
  return out;
}

std::string TargetJson(const ResultTarget& target) {
  std::string out = "{";
  if (!target.branch.empty()) {
    out += "\"branch\": " + Quoted(target.branch);
  }
  if (!target.snapshot.empty()) {
    out += (target.branch.empty() ? "" : ", ") + ("\"snapshot\": " + Quoted(target.snapshot));
  }
  return out + "}";
}

std::string ColumnsJson(const QueryResult& result) {
  std::string out = "[";
  for (const ResultColumn& column : result.columns) {
    out += (out.size() > 1 ? ", " : "") + Quoted(column.name);
  }
  return out + "]";
}

/// One row as an object; nulls are left out.
void AppendRow(const Rows& rows, int64_t row, std::string* out) {
  out->push_back('{');
  bool first = true;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    if (rows.columns[i]->IsNull(row)) {
      continue;
    }
    if (!first) {
      out->append(", ");
    }
    first = false;
    AppendJsonString(rows.result->columns[i].name, out);
    out->append(": ");
    AppendJsonValue(*rows.columns[i], row, out);
  }
  out->push_back('}');
}

std::string FormatJson(const Rows& rows) {
  const QueryResult& result = *rows.result;
  std::string out = fmt::format(
      "{{\n  \"query_name\": {},\n  \"target\": {},\n  \"row_count\": {},\n  \"columns\": {},\n"
      "  \"rows\": [",
      Quoted(result.query->name), TargetJson(result.target), rows.count, ColumnsJson(result));
  for (int64_t row = 0; row < rows.count; ++row) {
    out += row == 0 ? "\n    " : ",\n    ";
    AppendRow(rows, row, &out);
  }
  out += rows.count > 0 ? "\n  ]" : "]";
  if (!result.target.graph_commit_id.empty()) {
    out += ",\n  \"graph_commit_id\": " + Quoted(result.target.graph_commit_id);
  }
  return out + "\n}\n";
}

std::string FormatJsonl(const Rows& rows) {
  const QueryResult& result = *rows.result;
  std::string out = fmt::format(
      "{{\"kind\": \"metadata\", \"query_name\": {}, \"target\": {}, \"row_count\": {}, "
      "\"columns\": {}",
      Quoted(result.query->name), TargetJson(result.target), rows.count, ColumnsJson(result));
  if (!result.target.graph_commit_id.empty()) {
    out += ", \"graph_commit_id\": " + Quoted(result.target.graph_commit_id);
  }
  out += "}\n";
  for (int64_t row = 0; row < rows.count; ++row) {
    AppendRow(rows, row, &out);
    out.push_back('\n');
  }
  return out;
}

/// A field of CSV (RFC 4180). Null is an empty field, an empty text a quoted one.
void AppendCsvField(std::string_view text, std::string* out) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out->append(text);
    return;
  }
  out->push_back('"');
  for (const char c : text) {
    if (c == '"') {
      out->push_back('"');
    }
    out->push_back(c);
  }
  out->push_back('"');
}

std::string FormatCsv(const Rows& rows) {
  std::string out;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    out += i > 0 ? "," : "";
    AppendCsvField(rows.result->columns[i].name, &out);
  }
  out.push_back('\n');
  for (int64_t row = 0; row < rows.count; ++row) {
    for (size_t i = 0; i < rows.columns.size(); ++i) {
      out += i > 0 ? "," : "";
      if (rows.columns[i]->IsValid(row)) {
        AppendCsvField(PlainValue(*rows.columns[i], row), &out);
      }
    }
    out.push_back('\n');
  }
  return out;
}

/// Text on one line: control characters become visible, as they would break lines and terminals.
std::string OneLine(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      out.push_back(c);
    }
  }
  return out;
}

std::string FormatKv(const Rows& rows) {
  size_t width = 0;
  for (const ResultColumn& column : rows.result->columns) {
    width = std::max(width, column.name.size());
  }
  std::string out;
  for (int64_t row = 0; row < rows.count; ++row) {
    out += row > 0 ? "\n" : "";
    for (size_t i = 0; i < rows.columns.size(); ++i) {
      const std::string value = OneLine(PlainValue(*rows.columns[i], row));
      out += fmt::format("{:<{}} {}\n", rows.result->columns[i].name + ":", width + 1, value);
    }
  }
  return out;
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// Characters (code points) of UTF-8 text.
size_t WidthOf(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

/// At most `width` characters; what is cut ends in an ellipsis.
std::string Cut(const std::string& text, size_t width) {
  if (WidthOf(text) <= width) {
    return text;
  }
  size_t end = 0;
  for (size_t left = width - 1; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && left-- == 0) {
      break;
    }
  }
  return text.substr(0, end) + "…";
}

std::string Sentence(const Rows& rows) {
  const ResultTarget& target = rows.result->target;
  std::string out = fmt::format("{} {}", rows.count, rows.count == 1 ? "row" : "rows");
  if (!target.snapshot.empty()) {
    out += " from snapshot " + target.snapshot;
  } else if (!target.branch.empty()) {
    out += " from branch " + target.branch;
  }
  return out + ", query " + rows.result->query->name + "\n";
}

std::string FormatTable(const Rows& rows, const PrintOptions& options) {
  const auto width_max = static_cast<size_t>(std::max(options.table_column_width_max, 2));
  std::vector<std::vector<std::string>> cells(rows.columns.size());
  std::vector<size_t> widths(rows.columns.size());
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    cells[i].push_back(Cut(OneLine(rows.result->columns[i].name), width_max));
    for (int64_t row = 0; row < rows.count; ++row) {
      cells[i].push_back(Cut(OneLine(PlainValue(*rows.columns[i], row)), width_max));
    }
    for (const std::string& cell : cells[i]) {
      widths[i] = std::max(widths[i], WidthOf(cell));
    }
  }
  std::string out = Sentence(rows);
  for (size_t line = 0; line <= static_cast<size_t>(rows.count); ++line) {
    std::string text;
    std::string rule;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string& cell = cells[i][line];
      text += (i > 0 ? " | " : "") + cell + std::string(widths[i] - WidthOf(cell), ' ');
      rule += (i > 0 ? "-+-" : "") + std::string(widths[i], '-');
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    if (line == 0) {
      out += rule + "\n";
    }
  }
  return out;
}

}  // namespace

Result<OutputFormat> ParseOutputFormat(std::string_view name) {
  constexpr std::pair<std::string_view, OutputFormat> kFormats[] = {{"table", OutputFormat::kTable},
                                                                    {"json", OutputFormat::kJson},
                                                                    {"jsonl", OutputFormat::kJsonl},
                                                                    {"csv", OutputFormat::kCsv},
                                                                    {"kv", OutputFormat::kKv}};
  for (const auto& [known, format] : kFormats) {
    if (known == name) {
      return format;
    }
  }
  return Invalid(
      "query.output_format",
      fmt::format("unknown output format `{}`; there are table, json, jsonl, csv and kv", name));
}

Result<std::string> FormatResult(const QueryResult& result, OutputFormat format,
                                 const PrintOptions& options) {
  OG_ASSIGN_OR_RETURN(const Rows rows, RowsOf(result));
  switch (format) {
    case OutputFormat::kTable:
      return FormatTable(rows, options);
    case OutputFormat::kJson:
      return FormatJson(rows);
    case OutputFormat::kJsonl:
      return FormatJsonl(rows);
    case OutputFormat::kCsv:
      return FormatCsv(rows);
    case OutputFormat::kKv:
      return FormatKv(rows);
  }
  return Internal("query.output_format", "no such format");
}

}  // namespace omnigraph::query
