/// \file
/// The lexical level of `.pg`: a cursor over the text that skips space and comments, reads names,
/// numbers and strings, and makes errors with a place. Which words are legal where depends on the
/// grammar (enum members may begin with a digit), so there is no separate token stream.
#pragma once

#include <string>
#include <string_view>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/ast.h"

namespace omnigraph::schema {

bool IsUpper(char c);
bool IsLowerOrUnderscore(char c);
bool IsDigit(char c);
/// ASCII letter, digit or `_`.
bool IsWordChar(char c);

/// An error at a place of the schema text.
Status SchemaError(SourcePos pos, std::string_view code, std::string message,
                   std::string property = {});

/// Thread-compatible; borrows the text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  /// Skip white space and comments. Errors: `schema.unterminated` for an open comment.
  Status SkipSpace();

  bool AtEnd() const { return at_ >= text_.size(); }
  /// The next character; NUL at the end.
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool LooksAt(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  /// True if `word` stands here and ends here.
  bool LooksAtWord(std::string_view word) const;
  void Advance(size_t count);
  SourcePos pos() const { return {line_, static_cast<int64_t>(at_ - line_start_) + 1}; }

  /// Consume `c`, or fail with `schema.syntax`: "expected <what>, found ...".
  Status Expect(char c, std::string_view what);
  /// `expected <what>, found <what stands here>`.
  Status Unexpected(std::string_view what) const;
  /// What stands here, quoted, for messages.
  std::string Found() const;

  /// `[A-Z]...`; `what` names the place in the grammar.
  Result<std::string> ReadTypeName(std::string_view what);
  /// `[a-z_]...`
  Result<std::string> ReadName(std::string_view what);
  /// Digits; `schema.number` above 2^64 - 1.
  Result<uint64_t> ReadUnsigned(std::string_view what);
  /// A number with optional sign and fraction, where it ends before `..`.
  Result<Literal> ReadNumber(bool allow_sign);
  /// A string in double quotes, decoded.
  Result<Literal> ReadString();
  /// A run of letters, digits, `_` and `-`.
  Result<std::string> ReadEnumMember();

 private:
  /// The character here and the word characters behind it.
  std::string TakeWord();

  std::string_view text_;
  size_t at_ = 0;
  int64_t line_ = 1;
  size_t line_start_ = 0;
};

}  // namespace omnigraph::schema
