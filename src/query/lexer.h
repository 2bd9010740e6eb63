/// \file
/// Tokens of `.gq` text. Private to the parser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/query/ast.h"

namespace omnigraph::query {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,      ///< text: the name
    kVariable,  ///< text: without `$`
    kMark,      ///< `@name`; text: without `@`
    kString,    ///< text: decoded
    kInteger,   ///< text: digits
    kFloat,     ///< text: digits `.` digits
    kSymbol     ///< text: one of the operators and brackets
  };

  Kind kind = Kind::kEnd;
  std::string text;
  Position at;

  bool IsSymbol(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
  bool IsName(std::string_view name) const { return kind == Kind::kName && text == name; }
  /// What an error message calls it.
  std::string Describe() const;
};

/// Split a text; the last token is kEnd.
///
/// Errors: kInvalid (`query.syntax`, `query.encoding`, `query.too_large`) with line and column.
Result<std::vector<Token>> Tokenize(std::string_view text, std::string_view source);

/// The error of a place in a text.
Status SyntaxError(std::string_view source, Position at, std::string message);

}  // namespace omnigraph::query
