#include "cursor.h"

#include <charconv>

namespace omnigraph::schema {

bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool IsLowerOrUnderscore(char c) {
  return (c >= 'a' && c <= 'z') || c == '_';
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsWordChar(char c) {
  return IsUpper(c) || IsLowerOrUnderscore(c) || IsDigit(c);
}

Status SchemaError(SourcePos pos, std::string_view code, std::string message,
                   std::string property) {
  Place place;
  place.line = pos.line;
  place.column = pos.column;
  place.property = std::move(property);
  return Invalid(code, std::move(message), std::move(place));
}

void Cursor::Advance(size_t count) {
  for (size_t i = 0; i < count && at_ < text_.size(); ++i, ++at_) {
    if (text_[at_] == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
  }
}

Status Cursor::SkipSpace() {
  while (!AtEnd()) {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      Advance(1);
    } else if (c == '/' && Peek(1) == '/') {
      const size_t end = text_.find('\n', at_);
      Advance((end == std::string_view::npos ? text_.size() : end) - at_);
    } else if (c == '/' && Peek(1) == '*') {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) {
        return SchemaError(pos(), "schema.unterminated",
                           "this comment never ends; close it with */");
      }
      Advance(end + 2 - at_);
    } else if (c == '#') {
      return SchemaError(pos(), "schema.syntax", "'#' begins no comment; write // or /* */");
    } else {
      break;
    }
  }
  return Status::OK();
}

bool Cursor::LooksAtWord(std::string_view word) const {
  return LooksAt(word) && !IsWordChar(Peek(word.size()));
}

std::string Cursor::Found() const {
  if (AtEnd()) {
    return "the end of the text";
  }
  size_t size = 0;
  while (size < 40 && IsWordChar(Peek(size))) {
    ++size;
  }
  if (size == 0) {
    // One whole character, so that a message never holds half of one.
    size = 1;
    while (at_ + size < text_.size() && (static_cast<uint8_t>(text_[at_ + size]) & 0xc0) == 0x80) {
      ++size;
    }
    const auto byte = static_cast<uint8_t>(Peek());
    if (byte < 0x20 || byte == 0x7f) {
      return "the control character " + std::to_string(byte);
    }
  }
  return "'" + std::string(text_.substr(at_, size)) + "'";
}

Status Cursor::Unexpected(std::string_view what) const {
  return SchemaError(pos(), "schema.syntax",
                     "expected " + std::string(what) + ", found " + Found());
}

Status Cursor::Expect(char c, std::string_view what) {
  OG_RETURN_NOT_OK(SkipSpace());
  if (Peek() != c || AtEnd()) {
    return Unexpected(what);
  }
  Advance(1);
  return Status::OK();
}

std::string Cursor::TakeWord() {
  size_t size = 1;
  while (IsWordChar(Peek(size))) {
    ++size;
  }
  std::string word(text_.substr(at_, size));
  Advance(size);
  return word;
}

Result<std::string> Cursor::ReadTypeName(std::string_view what) {
  OG_RETURN_NOT_OK(SkipSpace());
  if (!IsUpper(Peek())) {
    return Unexpected(std::string(what) + " (an upper-case letter first)");
  }
  return TakeWord();
}

Result<std::string> Cursor::ReadName(std::string_view what) {
  OG_RETURN_NOT_OK(SkipSpace());
  if (!IsLowerOrUnderscore(Peek())) {
    return Unexpected(std::string(what) + " (a lower-case letter first)");
  }
  return TakeWord();
}

Result<uint64_t> Cursor::ReadUnsigned(std::string_view what) {
  OG_RETURN_NOT_OK(SkipSpace());
  if (!IsDigit(Peek())) {
    return Unexpected(what);
  }
  const SourcePos start = pos();
  size_t size = 0;
  while (IsDigit(Peek(size))) {
    ++size;
  }
  uint64_t value = 0;
  const char* first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, first + size, value);
  if (error != std::errc() || end != first + size) {
    return SchemaError(start, "schema.number", "this number is too large; the limit is 2^64 - 1");
  }
  Advance(size);
  return value;
}

Result<Literal> Cursor::ReadNumber(bool allow_sign) {
  OG_RETURN_NOT_OK(SkipSpace());
  Literal literal;
  literal.kind = Literal::Kind::kInteger;
  literal.pos = pos();
  size_t size = 0;
  if (Peek() == '-') {
    if (!allow_sign) {
      return SchemaError(pos(), "schema.syntax",
                         "negative numbers are written only as bounds of @range");
    }
    ++size;
  }
  const size_t digits = size;
  while (IsDigit(Peek(size))) {
    ++size;
  }
  if (size == digits) {
    return Unexpected("a number");
  }
  if (Peek(size) == '.' && IsDigit(Peek(size + 1))) {
    literal.kind = Literal::Kind::kFloat;
    ++size;
    while (IsDigit(Peek(size))) {
      ++size;
    }
  }
  literal.text = std::string(text_.substr(at_, size));
  Advance(size);
  return literal;
}

Result<Literal> Cursor::ReadString() {
  OG_RETURN_NOT_OK(SkipSpace());
  Literal literal;
  literal.kind = Literal::Kind::kString;
  literal.pos = pos();
  if (Peek() != '"') {
    return Unexpected("a string in double quotes");
  }
  Advance(1);
  while (true) {
    if (AtEnd()) {
      return SchemaError(literal.pos, "schema.unterminated",
                         "this string never ends; close it with a double quote");
    }
    const char c = Peek();
    if (c == '"') {
      Advance(1);
      return literal;
    }
    if (c != '\\') {
      literal.text.push_back(c);
      Advance(1);
      continue;
    }
    static constexpr std::string_view kEscapes = "\"\\nrt";
    static constexpr std::string_view kMeaning = "\"\\\n\r\t";
    const size_t which = Peek(1) == '\0' ? std::string_view::npos : kEscapes.find(Peek(1));
    if (which == std::string_view::npos) {
      return SchemaError(pos(), "schema.string_escape",
                         "unknown escape in a string; the escapes are \\\" \\\\ \\n \\r \\t");
    }
    literal.text.push_back(kMeaning[which]);
    Advance(2);
  }
}

Result<std::string> Cursor::ReadEnumMember() {
  OG_RETURN_NOT_OK(SkipSpace());
  size_t size = 0;
  while (IsWordChar(Peek(size)) || Peek(size) == '-') {
    ++size;
  }
  if (size == 0) {
    return Unexpected("an enum member (letters, digits, '_' and '-')");
  }
  std::string member(text_.substr(at_, size));
  Advance(size);
  return member;
}

}  // namespace omnigraph::schema
