/// \file
/// The schema of the fault cases, and a small door: text in, rows and errors out.
#pragma once

#include <arrow/api.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/graph/write/line_reader.h"
#include "omnigraph/graph/write/row_parser.h"
#include "omnigraph/graph/write/type_rows.h"

namespace omnigraph::write {

inline constexpr std::string_view kCaseSchema = R"(
node Person {
  slug: String @key  name: String?  age: I32?  big: I64?  score: F64?  born: Date?  seen: DateTime?
  ok: Bool?  tags: [String]?  vec: Vector(3)?  email: String? @unique
}
node City { slug: String @key }
edge Knows: Person -> Person
edge LivesIn: Person -> City @card(0..1)
)";

inline std::shared_ptr<const schema::Catalog> CatalogOf(std::string_view text) {
  auto catalog =
      schema::CompileSchema(text, nullptr, [next = uint64_t{1}]() mutable { return next++; });
  OG_CHECK_OK(catalog);
  return *catalog;
}

/// Parses whole texts in one schema.
class Door {
 public:
  explicit Door(std::string_view schema_text = kCaseSchema, RowParserOptions options = {})
      : catalog_(CatalogOf(schema_text)), rows_(catalog_) {
    auto parser = RowParser::Make(catalog_, std::move(options));
    OG_CHECK_OK(parser);
    parser_ = std::move(parser).ValueUnsafe();
  }

  /// Feed `text` in chunks; 0 = at once.
  void Take(std::string_view text, size_t chunk = 0, size_t max_line = kMaxLineBytes) {
    LineReader reader(max_line);
    Line line;
    const auto drain = [&] {
      while (reader.Next(&line)) {
        TakeLine(line);
      }
    };
    for (size_t at = 0; at < text.size(); at += chunk == 0 ? text.size() : chunk) {
      // A copy of its own, so that a sanitizer sees every byte read beyond it.
      const std::string piece(text.substr(at, chunk == 0 ? text.npos : chunk));
      reader.Feed(piece);
      drain();
    }
    reader.Finish();
    drain();
    lines = reader.lines();
    blank = reader.blank_lines();
  }

  void TakeLine(const Line& line) {
    AdmittedRow row;
    LineError error;
    if (parser_->Parse(line, &rows_, &row, &error)) {
      admitted.push_back(row);
    } else {
      errors.push_back(error);
    }
  }

  /// One line; the code of its refusal, or empty.
  std::string CodeOfLine(std::string_view text) {
    errors.clear();
    Take(text);
    return errors.empty() ? "" : errors.front().code;
  }

  RowBatch Batch(std::string_view type, bool edge = false) {
    const schema::TypeDef* def = edge ? catalog_->FindEdge(type) : catalog_->FindNode(type);
    OG_CHECK(def != nullptr);
    auto batch = rows_.at(catalog_->IndexOf(*def)).Finish();
    OG_CHECK_OK(batch);
    OG_CHECK_OK(batch->batch->ValidateFull());
    return *batch;
  }

  /// Export lines of all rows, in catalog order; empties the rows.
  std::string Export() {
    std::string out;
    for (const schema::TypeDef& type : catalog_->types()) {
      auto batch = rows_.at(catalog_->IndexOf(type)).Finish();
      OG_CHECK_OK(batch);
      OG_CHECK_OK(batch->batch->ValidateFull());
      OG_CHECK_OK(AppendExportLines(type, *batch->batch, &out));
    }
    return out;
  }

  const schema::Catalog& catalog() const { return *catalog_; }
  RowSet& rows() { return rows_; }

  std::vector<AdmittedRow> admitted;
  std::vector<LineError> errors;
  int64_t lines = 0;
  int64_t blank = 0;

 private:
  std::shared_ptr<const schema::Catalog> catalog_;
  RowSet rows_;
  std::unique_ptr<RowParser> parser_;
};

/// A column of a batch as its own array class.
template <typename Array>
const Array& Column(const RowBatch& batch, const std::string& name) {
  const auto column = batch.batch->GetColumnByName(name);
  OG_CHECK(column != nullptr);
  return static_cast<const Array&>(*column);
}

/// `{"type":"Person","data":{"slug":"p1",<members>}}`
inline std::string Person(const std::string& members) {
  return R"({"type":"Person","data":{"slug":"p1")" + (members.empty() ? "" : "," + members) + "}}";
}

}  // namespace omnigraph::write
