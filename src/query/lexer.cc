#include "lexer.h"

#include <fmt/format.h>
#include <simdjson.h>

#include "omnigraph/query/parser.h"

namespace omnigraph::query {
namespace {

bool IsNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsNameChar(char c) {
  return IsNameStart(c) || IsDigit(c);
}

/// One pass over a text. Single-owner.
class Lexer {
 public:
  Lexer(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Result<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      OG_RETURN_NOT_OK(SkipBlanks());
      OG_ASSIGN_OR_RETURN(Token token, Next());
      const bool last = token.kind == Token::Kind::kEnd;
      tokens.push_back(std::move(token));
      if (last) {
        return tokens;
      }
    }
  }

 private:
  bool AtEnd() const { return offset_ >= text_.size(); }
  char Peek(size_t ahead = 0) const {
    return offset_ + ahead < text_.size() ? text_[offset_ + ahead] : '\0';
  }

  void Advance() {
    if (text_[offset_] == '\n') {
      ++at_.line;
      at_.column = 1;
    } else {
      ++at_.column;
    }
    ++offset_;
  }

  Status SkipBlanks() {
    while (!AtEnd()) {
      const char c = Peek();
      if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        Advance();
      } else if (c == '/' && Peek(1) == '/') {
        while (!AtEnd() && Peek() != '\n') {
          Advance();
        }
      } else if (c == '/' && Peek(1) == '*') {
        OG_RETURN_NOT_OK(SkipBlockComment());
      } else {
        break;
      }
    }
    return Status::OK();
  }

  Status SkipBlockComment() {
    const Position start = at_;
    Advance();
    Advance();
    while (!AtEnd()) {
      if (Peek() == '*' && Peek(1) == '/') {
        Advance();
        Advance();
        return Status::OK();
      }
      Advance();
    }
    return SyntaxError(source_, start, "comment is not closed; add `*/`");
  }

  Result<Token> Next() {
    Token token;
    token.at = at_;
    if (AtEnd()) {
      return token;
    }
    const char c = Peek();
    if (IsNameStart(c)) {
      token.kind = Token::Kind::kName;
      token.text = TakeName();
    } else if (IsDigit(c)) {
      TakeNumber(&token);
    } else if (c == '$' || c == '@') {
      token.kind = c == '$' ? Token::Kind::kVariable : Token::Kind::kMark;
      Advance();
      if (!IsNameStart(Peek())) {
        return SyntaxError(source_, token.at,
                           fmt::format("`{}` needs a name right after it, such as `{}`", c,
                                       c == '$' ? "$p" : "@id"));
      }
      token.text = TakeName();
    } else if (c == '"') {
      OG_RETURN_NOT_OK(TakeString(&token));
    } else {
      OG_RETURN_NOT_OK(TakeSymbol(&token));
    }
    return token;
  }

  std::string TakeName() {
    const size_t start = offset_;
    while (IsNameChar(Peek())) {
      Advance();
    }
    return std::string(text_.substr(start, offset_ - start));
  }

  void TakeNumber(Token* token) {
    const size_t start = offset_;
    token->kind = Token::Kind::kInteger;
    while (IsDigit(Peek())) {
      Advance();
    }
    if (Peek() == '.' && IsDigit(Peek(1))) {
      token->kind = Token::Kind::kFloat;
      Advance();
      while (IsDigit(Peek())) {
        Advance();
      }
    }
    token->text = std::string(text_.substr(start, offset_ - start));
  }

  Status TakeString(Token* token) {
    token->kind = Token::Kind::kString;
    Advance();
    while (!AtEnd() && Peek() != '"') {
      if (Peek() == '\\') {
        const Position at = at_;
        Advance();
        const char escape = Peek();
        constexpr std::string_view kFrom = "\"\\nrt";
        constexpr std::string_view kTo = "\"\\\n\r\t";
        const size_t which = kFrom.find(escape);
        if (AtEnd() || which == std::string_view::npos) {
          return SyntaxError(source_, at,
                             "unknown escape in a string; use \\\" \\\\ \\n \\r or \\t");
        }
        token->text.push_back(kTo[which]);
      } else {
        token->text.push_back(Peek());
      }
      Advance();
    }
    if (AtEnd()) {
      return SyntaxError(source_, token->at, "string is not closed; add `\"`");
    }
    Advance();
    return Status::OK();
  }

  Status TakeSymbol(Token* token) {
    static constexpr std::string_view kTwo[] = {">=", "<=", "!="};
    static constexpr std::string_view kOne = "{}()[]<>=:,.;?-";
    token->kind = Token::Kind::kSymbol;
    const std::string_view rest = text_.substr(offset_);
    for (const std::string_view symbol : kTwo) {
      if (rest.starts_with(symbol)) {
        token->text = symbol;
        Advance();
        Advance();
        return Status::OK();
      }
    }
    const char c = Peek();
    if (kOne.find(c) != std::string_view::npos) {
      token->text = std::string(1, c);
      Advance();
      return Status::OK();
    }
    if (c == '#') {
      return SyntaxError(source_, at_, "`#` does not start a comment; use `//`");
    }
    if (c == '\'') {
      return SyntaxError(source_, at_, "strings stand in double quotes");
    }
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      return SyntaxError(source_, at_,
                         fmt::format("byte 0x{:02x} is not allowed outside strings and comments",
                                     static_cast<unsigned>(static_cast<unsigned char>(c))));
    }
    return SyntaxError(source_, at_, fmt::format("unexpected character `{}`", c));
  }

  std::string_view text_;
  std::string_view source_;
  size_t offset_ = 0;
  Position at_;
};

/// Line and column of the first byte that breaks UTF-8.
Position FindBadUtf8(std::string_view text) {
  Position at;
  size_t start = 0;
  while (start < text.size()) {
    size_t length = 1;
    const auto lead = static_cast<unsigned char>(text[start]);
    length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (start + length > text.size() || !simdjson::validate_utf8(text.data() + start, length)) {
      break;
    }
    if (text[start] == '\n') {
      ++at.line;
      at.column = 0;
    }
    at.column += static_cast<int64_t>(length);
    start += length;
  }
  return at;
}

}  // namespace

std::string Token::Describe() const {
  switch (kind) {
    case Kind::kEnd:
      return "the end of the text";
    case Kind::kVariable:
      return "`$" + text + "`";
    case Kind::kMark:
      return "`@" + text + "`";
    case Kind::kString:
      return "a string";
    default:
      return "`" + text + "`";
  }
}

Status SyntaxError(std::string_view source, Position at, std::string message) {
  return Invalid("query.syntax", std::move(message),
                 {.object = std::string(source), .line = at.line, .column = at.column});
}

Result<std::vector<Token>> Tokenize(std::string_view text, std::string_view source) {
  if (text.size() > kMaxQueryBytes) {
    return Invalid(
        "query.too_large",
        fmt::format("query text has {} bytes, at most {} are read", text.size(), kMaxQueryBytes),
        {.object = std::string(source)});
  }
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    const Position at = FindBadUtf8(text);
    return Invalid("query.encoding", "query text is not UTF-8; save the file as UTF-8",
                   {.object = std::string(source), .line = at.line, .column = at.column});
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    text.remove_prefix(3);
  }
  return Lexer(text, source).Run();
}

}  // namespace omnigraph::query
