#include "omnigraph/query/parser.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "lexer.h"

namespace omnigraph::query {
namespace {

using TokenKind = Token::Kind;

constexpr std::string_view kReserved[] = {"and", "or", "not", "is", "null"};
constexpr std::string_view kAggregates[] = {"count", "sum", "avg", "min", "max"};
constexpr std::string_view kCalls[] = {"search", "fuzzy", "match_text", "bm25", "nearest", "rrf"};
constexpr std::string_view kScalars[] = {"String", "Blob", "Bool", "I32",  "I64",     "U32",
                                         "U64",    "F32",  "F64",  "Date", "DateTime"};
constexpr std::string_view kFileStatements[] = {"set", "reset", "show", "explain", "branch"};
constexpr std::string_view kWriteVerbs[] = {"insert", "update", "delete"};

template <size_t N>
bool IsOneOf(std::string_view word, const std::string_view (&words)[N]) {
  for (const std::string_view candidate : words) {
    if (candidate == word) {
      return true;
    }
  }
  return false;
}

Status UnsupportedAt(std::string_view source, Position at, std::string message) {
  return Unsupported("query.unsupported", std::move(message),
                     {.object = std::string(source), .line = at.line, .column = at.column});
}

Expr MakeExpr(Expr::Kind kind, Position at) {
  Expr expr;
  expr.kind = kind;
  expr.at = at;
  return expr;
}

/// Recursive descent over the tokens of one text. Single-owner.
class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string_view source)
      : tokens_(std::move(tokens)), source_(source) {}

  Result<QueryFile> ParseFile();

 private:
  /// Counts nesting for as long as it lives.
  class Nesting {
   public:
    explicit Nesting(int* depth) : depth_(depth) { ++*depth_; }
    ~Nesting() { --*depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int* depth_;
  };

  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  Token Take() { return tokens_[next_ < tokens_.size() - 1 ? next_++ : next_]; }
  bool TakeSymbolIf(std::string_view symbol) {
    if (!Peek().IsSymbol(symbol)) {
      return false;
    }
    Take();
    return true;
  }
  bool TakeNameIf(std::string_view name) {
    if (!Peek().IsName(name)) {
      return false;
    }
    Take();
    return true;
  }

  Status ErrorHere(std::string_view expected) const {
    return SyntaxError(source_, Peek().at,
                       fmt::format("expected {}, found {}", expected, Peek().Describe()));
  }
  Status Expect(std::string_view symbol, std::string_view after) {
    if (TakeSymbolIf(symbol)) {
      return Status::OK();
    }
    return ErrorHere(fmt::format("`{}` {}", symbol, after));
  }
  Result<std::string> TakeName(std::string_view what) {
    if (Peek().kind != TokenKind::kName) {
      return ErrorHere(what);
    }
    return Take().text;
  }
  Status CheckDepth() const {
    if (depth_ <= kMaxQueryDepth) {
      return Status::OK();
    }
    return SyntaxError(
        source_, Peek().at,
        fmt::format("nested deeper than {} levels; split the query", kMaxQueryDepth));
  }

  Result<QueryDecl> ParseQuery();
  Status ParseParams(QueryDecl* query);
  Result<ParamType> ParseParamType();
  Result<std::string> ParseScalarName();
  Status ParseMarks(QueryDecl* query);
  Result<ReadBody> ParseRead();
  Result<WriteBody> ParseWrite();
  Status ParseReturn(ReadBody* read);
  Status ParseOrder(ReadBody* read);
  Status ParseLimit(ReadBody* read);

  Result<std::vector<Clause>> ParseClauses(std::string_view what);
  Result<Clause> ParseClause();
  Result<Block> ParseBlock();
  Result<Binding> ParseBinding();
  bool AtHop() const;
  Result<Hop> ParseHop();
  Status ParseBounds(Hop* hop);

  Result<Expr> ParseOr();
  Result<Expr> ParseAnd();
  Result<Expr> ParseUnary();
  Result<Expr> ParseComparison();
  Result<Expr> ParseOperand();
  Result<Expr> ParseVariable();
  Result<Expr> ParseNamed();
  Result<Literal> ParseLiteral();
  Result<Literal> ParseNumber();
  bool AtLiteral() const;
  bool TakeCompareOp(CompareOp* op);
  Result<uint64_t> ParseCount(std::string_view what);

  std::vector<Token> tokens_;
  std::string_view source_;
  size_t next_ = 0;
  int depth_ = 0;
};

Result<QueryFile> Parser::ParseFile() {
  QueryFile file;
  file.source = std::string(source_);
  while (Peek().kind != TokenKind::kEnd) {
    if (Peek().kind == TokenKind::kName && IsOneOf(Peek().text, kFileStatements)) {
      return UnsupportedAt(source_, Peek().at,
                           fmt::format("the statement `{}` is not supported yet; a file holds "
                                       "queries of the form `query name() {{ ... }}`",
                                       Peek().text));
    }
    OG_ASSIGN_OR_RETURN(QueryDecl query, ParseQuery());
    for (const QueryDecl& other : file.queries) {
      if (other.name == query.name) {
        return Invalid(
            "query.duplicate_name",
            fmt::format("query `{}` stands already in line {}; rename one of them", query.name,
                        other.at.line),
            {.object = std::string(source_), .line = query.at.line, .column = query.at.column});
      }
    }
    file.queries.push_back(std::move(query));
  }
  return file;
}

Result<QueryDecl> Parser::ParseQuery() {
  QueryDecl query;
  if (!TakeNameIf("query")) {
    return ErrorHere("`query name() { match { ... } return { ... } }`");
  }
  query.at = Peek().at;
  OG_ASSIGN_OR_RETURN(query.name, TakeName("the name of the query"));
  OG_RETURN_NOT_OK(ParseParams(&query));
  OG_RETURN_NOT_OK(ParseMarks(&query));
  OG_RETURN_NOT_OK(Expect("{", "before the body of the query"));
  if (Peek().IsName("match")) {
    OG_ASSIGN_OR_RETURN(query.body, ParseRead());
  } else if (Peek().kind == TokenKind::kName && IsOneOf(Peek().text, kWriteVerbs)) {
    OG_ASSIGN_OR_RETURN(query.body, ParseWrite());
  } else {
    return ErrorHere("`match { ... }`, `insert`, `update` or `delete`");
  }
  OG_RETURN_NOT_OK(Expect("}", "after the body of the query"));
  return query;
}

Status Parser::ParseParams(QueryDecl* query) {
  OG_RETURN_NOT_OK(
      Expect("(", "after the name of the query; write `()` where it has no parameters"));
  if (TakeSymbolIf(")")) {
    return Status::OK();
  }
  do {
    ParamDecl param;
    param.at = Peek().at;
    if (Peek().kind != TokenKind::kVariable) {
      return ErrorHere("a parameter such as `$name: String`");
    }
    param.name = Take().text;
    for (const ParamDecl& other : query->params) {
      if (other.name == param.name) {
        return SyntaxError(source_, param.at,
                           fmt::format("parameter `${}` is declared twice", param.name));
      }
    }
    OG_RETURN_NOT_OK(Expect(":", "and a type after the parameter"));
    OG_ASSIGN_OR_RETURN(param.type, ParseParamType());
    query->params.push_back(std::move(param));
  } while (TakeSymbolIf(","));
  return Expect(")", "or `,` after a parameter");
}

Result<std::string> Parser::ParseScalarName() {
  if (Peek().kind == TokenKind::kName && IsOneOf(Peek().text, kScalars)) {
    return Take().text;
  }
  if (Peek().IsName("enum")) {
    return SyntaxError(source_, Peek().at, "parameters have no enum types; declare it as `String`");
  }
  return ErrorHere(
      "a type: String, Bool, I32, I64, U32, U64, F32, F64, Date, DateTime, [T] or Vector(n)");
}

Result<ParamType> Parser::ParseParamType() {
  ParamType type;
  if (TakeSymbolIf("[")) {
    type.form = ParamType::Form::kList;
    OG_ASSIGN_OR_RETURN(type.scalar, ParseScalarName());
    OG_RETURN_NOT_OK(Expect("]", "after the element type"));
  } else if (TakeNameIf("Vector")) {
    type.form = ParamType::Form::kVector;
    type.scalar = "F32";
    OG_RETURN_NOT_OK(Expect("(", "and the dimension after `Vector`"));
    const Position at = Peek().at;
    OG_ASSIGN_OR_RETURN(const uint64_t dimension, ParseCount("the dimension of the vector"));
    if (dimension == 0 || dimension > 0x7fffffff) {
      return SyntaxError(source_, at, "the dimension of a vector is 1 to 2147483647");
    }
    type.dimension = static_cast<int32_t>(dimension);
    OG_RETURN_NOT_OK(Expect(")", "after the dimension"));
  } else {
    OG_ASSIGN_OR_RETURN(type.scalar, ParseScalarName());
  }
  type.nullable = TakeSymbolIf("?");
  return type;
}

Status Parser::ParseMarks(QueryDecl* query) {
  while (Peek().kind == TokenKind::kMark) {
    const Token mark = Take();
    std::string* text = mark.text == "description"   ? &query->description
                        : mark.text == "instruction" ? &query->instruction
                                                     : nullptr;
    if (text == nullptr) {
      return SyntaxError(
          source_, mark.at,
          fmt::format("unknown annotation `@{}`; a query takes @description(\"...\") "
                      "and @instruction(\"...\")",
                      mark.text));
    }
    if (!text->empty()) {
      return SyntaxError(source_, mark.at, fmt::format("`@{}` stands twice", mark.text));
    }
    OG_RETURN_NOT_OK(Expect("(", "after the annotation"));
    if (Peek().kind != TokenKind::kString || Peek().text.empty()) {
      return ErrorHere("a text in double quotes that is not empty");
    }
    *text = Take().text;
    OG_RETURN_NOT_OK(Expect(")", "after the text"));
  }
  return Status::OK();
}

Result<WriteBody> Parser::ParseWrite() {
  WriteBody write;
  write.at = Peek().at;
  write.verb = Peek().text;
  // The statements are not executed; find the end of the body.
  int open = 0;
  while (Peek().kind != TokenKind::kEnd) {
    if (Peek().IsSymbol("{")) {
      ++open;
    } else if (Peek().IsSymbol("}") && open-- == 0) {
      return write;
    }
    Take();
  }
  return ErrorHere("`}` after the body of the query");
}

Result<ReadBody> Parser::ParseRead() {
  ReadBody read;
  Take();
  OG_ASSIGN_OR_RETURN(read.match, ParseClauses("`match`"));
  OG_RETURN_NOT_OK(ParseReturn(&read));
  if (Peek().IsName("order")) {
    OG_RETURN_NOT_OK(ParseOrder(&read));
  }
  if (Peek().IsName("limit")) {
    OG_RETURN_NOT_OK(ParseLimit(&read));
  }
  if (!Peek().IsSymbol("}")) {
    return ErrorHere(
        "`order { ... }`, `limit n` or `}`; the parts of a query are match, return, order, limit "
        "in "
        "this order");
  }
  return read;
}

Status Parser::ParseReturn(ReadBody* read) {
  read->return_at = Peek().at;
  if (!TakeNameIf("return")) {
    return ErrorHere("`return { ... }` after `match { ... }`");
  }
  OG_RETURN_NOT_OK(Expect("{", "after `return`"));
  while (!Peek().IsSymbol("}")) {
    if (!read->returns.empty()) {
      TakeSymbolIf(",");
    }
    Projection projection;
    OG_ASSIGN_OR_RETURN(projection.expr, ParseOr());
    if (TakeNameIf("as")) {
      projection.alias_at = Peek().at;
      OG_ASSIGN_OR_RETURN(projection.alias, TakeName("the name of the column after `as`"));
    }
    read->returns.push_back(std::move(projection));
  }
  if (read->returns.empty()) {
    return ErrorHere("what to return, such as `$p.name` or `count($p) as n`");
  }
  Take();
  return Status::OK();
}

Status Parser::ParseOrder(ReadBody* read) {
  Take();
  OG_RETURN_NOT_OK(Expect("{", "after `order`"));
  do {
    OrderKey key;
    OG_ASSIGN_OR_RETURN(key.expr, ParseOr());
    if (TakeNameIf("desc")) {
      key.descending = true;
    } else {
      TakeNameIf("asc");
    }
    read->order.push_back(std::move(key));
  } while (TakeSymbolIf(","));
  return Expect("}", "or `,` after an order key");
}

Status Parser::ParseLimit(ReadBody* read) {
  Take();
  if (Peek().kind != TokenKind::kInteger && Peek().kind != TokenKind::kVariable) {
    return ErrorHere("a whole number or a parameter after `limit`");
  }
  OG_ASSIGN_OR_RETURN(read->limit, ParseOperand());
  return Status::OK();
}

Result<std::vector<Clause>> Parser::ParseClauses(std::string_view what) {
  const Nesting nesting(&depth_);
  OG_RETURN_NOT_OK(CheckDepth());
  OG_RETURN_NOT_OK(Expect("{", fmt::format("after {}", what)));
  std::vector<Clause> clauses;
  while (!Peek().IsSymbol("}")) {
    if (Peek().IsSymbol(",") || Peek().IsSymbol(";")) {
      return SyntaxError(source_, Peek().at,
                         fmt::format("no `{}` between clauses; leave it out", Peek().text));
    }
    OG_ASSIGN_OR_RETURN(Clause clause, ParseClause());
    clauses.push_back(std::move(clause));
  }
  if (clauses.empty()) {
    return ErrorHere(fmt::format("a clause such as `$p: Person` in {}", what));
  }
  Take();
  return clauses;
}

Result<Clause> Parser::ParseClause() {
  Clause clause;
  if (Peek(1).IsSymbol("{") && (Peek().IsName("not") || Peek().IsName("exists"))) {
    OG_ASSIGN_OR_RETURN(clause.node, ParseBlock());
  } else if (Peek().kind == TokenKind::kVariable && Peek(1).IsSymbol(":")) {
    OG_ASSIGN_OR_RETURN(clause.node, ParseBinding());
  } else if (AtHop()) {
    OG_ASSIGN_OR_RETURN(clause.node, ParseHop());
  } else {
    OG_ASSIGN_OR_RETURN(clause.node, ParseOr());
  }
  return clause;
}

Result<Block> Parser::ParseBlock() {
  Block block;
  const Token word = Take();
  block.at = word.at;
  block.negated = word.text == "not";
  OG_ASSIGN_OR_RETURN(block.clauses, ParseClauses("`" + word.text + "`"));
  return block;
}

Result<Binding> Parser::ParseBinding() {
  Binding binding;
  binding.at = Peek().at;
  binding.variable = Take().text;
  Take();
  binding.type_at = Peek().at;
  OG_ASSIGN_OR_RETURN(binding.type, TakeName("the name of a node type after `:`"));
  if (!TakeSymbolIf("{")) {
    return binding;
  }
  while (!Peek().IsSymbol("}")) {
    PropertyMatch match;
    match.at = Peek().at;
    if (Peek().kind == TokenKind::kMark) {
      match.property = "@" + Take().text;
    } else {
      OG_ASSIGN_OR_RETURN(match.property, TakeName("the name of a property, or `}`"));
    }
    OG_RETURN_NOT_OK(Expect(":", "and a value after the property"));
    OG_ASSIGN_OR_RETURN(match.value, ParseOperand());
    binding.properties.push_back(std::move(match));
    if (!TakeSymbolIf(",") && !Peek().IsSymbol("}")) {
      return ErrorHere("`,` or `}` after a property");
    }
  }
  Take();
  return binding;
}

bool Parser::AtHop() const {
  if (Peek().kind != TokenKind::kVariable) {
    return false;
  }
  if (Peek(1).kind == TokenKind::kVariable) {
    return true;
  }
  if (Peek(1).IsSymbol("<")) {
    return Peek(2).kind == TokenKind::kName && Peek(3).IsSymbol(">");
  }
  if (Peek(1).kind != TokenKind::kName || IsOneOf(Peek(1).text, kReserved)) {
    return false;
  }
  // `$a contains $b` is a hop over an edge of that name; `$a contains "b"` compares.
  const bool is_operator = Peek(1).text == "contains" || Peek(1).text == "starts_with";
  return !is_operator || Peek(2).kind == TokenKind::kVariable || Peek(2).IsSymbol("{");
}

Result<Hop> Parser::ParseHop() {
  Hop hop;
  hop.at = Peek().at;
  hop.from = Take().text;
  if (Peek().kind == TokenKind::kVariable) {
    hop.edge_variable = Take().text;
    OG_RETURN_NOT_OK(
        Expect(":", "and the name of an edge; a hop reads `$a knows $b` or `$a $e:knows $b`"));
  }
  hop.undirected = TakeSymbolIf("<");
  hop.edge_at = Peek().at;
  OG_ASSIGN_OR_RETURN(hop.edge, TakeName("the name of an edge"));
  if (hop.undirected) {
    OG_RETURN_NOT_OK(Expect(">", "after the name of an undirected edge"));
  }
  if (Peek().IsSymbol("{")) {
    OG_RETURN_NOT_OK(ParseBounds(&hop));
  }
  hop.to_at = Peek().at;
  if (Peek().kind != TokenKind::kVariable) {
    return ErrorHere(
        fmt::format("the destination of the hop, such as `$q` or `$_`, after `{}`", hop.edge));
  }
  hop.to = Take().text;
  return hop;
}

Status Parser::ParseBounds(Hop* hop) {
  HopBounds bounds;
  bounds.at = Take().at;
  OG_ASSIGN_OR_RETURN(bounds.min, ParseCount("the least number of hops, as in `{1,3}`"));
  OG_RETURN_NOT_OK(Expect(",", "and the greatest number of hops, as in `{1,3}`"));
  if (!Peek().IsSymbol("}")) {
    OG_ASSIGN_OR_RETURN(bounds.max, ParseCount("the greatest number of hops, as in `{1,3}`"));
  }
  OG_RETURN_NOT_OK(Expect("}", "after the bounds of the hop"));
  hop->bounds = bounds;
  return Status::OK();
}

Result<uint64_t> Parser::ParseCount(std::string_view what) {
  if (Peek().kind != TokenKind::kInteger) {
    return ErrorHere(what);
  }
  const Token token = Take();
  uint64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  if (std::from_chars(token.text.data(), end, value).ec != std::errc()) {
    return SyntaxError(source_, token.at, "number is too large");
  }
  return value;
}

Result<Expr> Parser::ParseOr() {
  const Nesting nesting(&depth_);
  OG_RETURN_NOT_OK(CheckDepth());
  OG_ASSIGN_OR_RETURN(Expr first, ParseAnd());
  if (!Peek().IsName("or")) {
    return first;
  }
  Expr any = MakeExpr(Expr::Kind::kOr, first.at);
  any.args.push_back(std::move(first));
  while (TakeNameIf("or")) {
    OG_ASSIGN_OR_RETURN(Expr next, ParseAnd());
    any.args.push_back(std::move(next));
  }
  return any;
}

Result<Expr> Parser::ParseAnd() {
  OG_ASSIGN_OR_RETURN(Expr first, ParseUnary());
  if (!Peek().IsName("and")) {
    return first;
  }
  Expr all = MakeExpr(Expr::Kind::kAnd, first.at);
  all.args.push_back(std::move(first));
  while (TakeNameIf("and")) {
    OG_ASSIGN_OR_RETURN(Expr next, ParseUnary());
    all.args.push_back(std::move(next));
  }
  return all;
}

Result<Expr> Parser::ParseUnary() {
  if (!Peek().IsName("not")) {
    return ParseComparison();
  }
  if (Peek(1).IsSymbol("{")) {
    return UnsupportedAt(
        source_, Peek().at,
        "a block inside a condition is not supported yet; make it a clause of its own");
  }
  const Nesting nesting(&depth_);
  OG_RETURN_NOT_OK(CheckDepth());
  Expr negation = MakeExpr(Expr::Kind::kNot, Take().at);
  OG_ASSIGN_OR_RETURN(Expr operand, ParseUnary());
  negation.args.push_back(std::move(operand));
  return negation;
}

bool Parser::TakeCompareOp(CompareOp* op) {
  static constexpr std::pair<std::string_view, CompareOp> kSymbols[] = {
      {">=", CompareOp::kGreaterEqual}, {"<=", CompareOp::kLessEqual}, {"!=", CompareOp::kNotEqual},
      {">", CompareOp::kGreater},       {"<", CompareOp::kLess},       {"=", CompareOp::kEqual}};
  for (const auto& [symbol, value] : kSymbols) {
    if (TakeSymbolIf(symbol)) {
      *op = value;
      return true;
    }
  }
  if (TakeNameIf("contains")) {
    *op = CompareOp::kContains;
    return true;
  }
  if (TakeNameIf("starts_with")) {
    *op = CompareOp::kStartsWith;
    return true;
  }
  return false;
}

Result<Expr> Parser::ParseComparison() {
  if (Peek().IsSymbol("(")) {
    Take();
    OG_ASSIGN_OR_RETURN(Expr inner, ParseOr());
    OG_RETURN_NOT_OK(Expect(")", "to close the parenthesis"));
    return inner;
  }
  OG_ASSIGN_OR_RETURN(Expr left, ParseOperand());
  CompareOp op{};
  if (TakeCompareOp(&op)) {
    if (Peek().IsSymbol("=")) {
      return SyntaxError(source_, Peek().at, "equality is written with one `=`");
    }
    Expr compare = MakeExpr(Expr::Kind::kCompare, left.at);
    compare.op = op;
    OG_ASSIGN_OR_RETURN(Expr right, ParseOperand());
    compare.args.push_back(std::move(left));
    compare.args.push_back(std::move(right));
    return compare;
  }
  if (TakeNameIf("is")) {
    Expr test = MakeExpr(Expr::Kind::kIsNull, left.at);
    test.negated = TakeNameIf("not");
    if (!TakeNameIf("null")) {
      return ErrorHere("`null` after `is`");
    }
    test.args.push_back(std::move(left));
    return test;
  }
  return left;
}

bool Parser::AtLiteral() const {
  switch (Peek().kind) {
    case TokenKind::kString:
    case TokenKind::kInteger:
    case TokenKind::kFloat:
      return true;
    case TokenKind::kSymbol:
      return Peek().text == "[" || Peek().text == "-";
    case TokenKind::kName:
      if (Peek().text == "true" || Peek().text == "false") {
        return true;
      }
      return (Peek().text == "date" || Peek().text == "datetime") && Peek(1).IsSymbol("(");
    default:
      return false;
  }
}

Result<Expr> Parser::ParseOperand() {
  if (AtLiteral()) {
    Expr expr = MakeExpr(Expr::Kind::kLiteral, Peek().at);
    OG_ASSIGN_OR_RETURN(expr.literal, ParseLiteral());
    return expr;
  }
  if (Peek().kind == TokenKind::kVariable) {
    return ParseVariable();
  }
  if (Peek().kind == TokenKind::kName && !IsOneOf(Peek().text, kReserved)) {
    return ParseNamed();
  }
  if (Peek().IsName("null")) {
    return SyntaxError(source_, Peek().at,
                       "there is no null literal; write `$x.p is null` or `$x.p is not null`");
  }
  return ErrorHere("a value such as `$p.name`, `$param`, \"text\" or 42");
}

Result<Expr> Parser::ParseVariable() {
  const Token token = Take();
  Expr expr = MakeExpr(Expr::Kind::kVariable, token.at);
  expr.variable = token.text;
  if (!TakeSymbolIf(".")) {
    return expr;
  }
  expr.kind = Expr::Kind::kProperty;
  if (Peek().kind == TokenKind::kMark) {
    expr.name = "@" + Take().text;
  } else {
    OG_ASSIGN_OR_RETURN(expr.name, TakeName("the name of a property after `.`"));
  }
  return expr;
}

Result<Expr> Parser::ParseNamed() {
  const Token token = Take();
  Expr expr = MakeExpr(Expr::Kind::kName, token.at);
  expr.name = token.text;
  if (Peek().IsSymbol("{") && (IsOneOf(token.text, kAggregates) || token.text == "exists")) {
    return UnsupportedAt(source_, token.at,
                         fmt::format("`{} {{ ... }}` is not supported yet here", token.text));
  }
  if (!Peek().IsSymbol("(")) {
    return expr;
  }
  const Nesting nesting(&depth_);
  OG_RETURN_NOT_OK(CheckDepth());
  Take();
  if (token.text == "now") {
    expr.kind = Expr::Kind::kNow;
    OG_RETURN_NOT_OK(Expect(")", "after `now(`"));
    return expr;
  }
  if (IsOneOf(token.text, kAggregates)) {
    expr.kind = Expr::Kind::kAggregate;
  } else if (IsOneOf(token.text, kCalls)) {
    expr.kind = Expr::Kind::kCall;
  } else {
    return SyntaxError(
        source_, token.at,
        fmt::format("unknown function `{}`; there are count, sum, avg, min, max, now, "
                    "date, datetime and the search functions",
                    token.text));
  }
  do {
    OG_ASSIGN_OR_RETURN(Expr arg, ParseOperand());
    expr.args.push_back(std::move(arg));
  } while (TakeSymbolIf(","));
  OG_RETURN_NOT_OK(Expect(")", "after the arguments"));
  if (expr.kind == Expr::Kind::kAggregate && expr.args.size() != 1) {
    return SyntaxError(source_, token.at, fmt::format("`{}` takes one argument", token.text));
  }
  return expr;
}

Result<Literal> Parser::ParseNumber() {
  Literal literal;
  literal.at = Peek().at;
  literal.negative = TakeSymbolIf("-");
  if (Peek().kind != TokenKind::kInteger && Peek().kind != TokenKind::kFloat) {
    return ErrorHere("a number after `-`");
  }
  const Token token = Take();
  const char* begin = token.text.data();
  const char* end = begin + token.text.size();
  literal.kind =
      token.kind == TokenKind::kInteger ? Literal::Kind::kInteger : Literal::Kind::kFloat;
  const bool fits = literal.kind == Literal::Kind::kFloat ||
                    std::from_chars(begin, end, literal.magnitude).ec == std::errc();
  if (!fits || std::from_chars(begin, end, literal.real).ec != std::errc()) {
    return SyntaxError(source_, token.at, "number is too large");
  }
  literal.text = (literal.negative ? "-" : "") + token.text;
  if (literal.negative) {
    literal.real = -literal.real;
  }
  return literal;
}

Result<Literal> Parser::ParseLiteral() {
  if (Peek().kind == TokenKind::kInteger || Peek().kind == TokenKind::kFloat ||
      Peek().IsSymbol("-")) {
    return ParseNumber();
  }
  Literal literal;
  const Token token = Take();
  literal.at = token.at;
  if (token.kind == TokenKind::kString) {
    literal.text = token.text;
    return literal;
  }
  if (token.IsName("true") || token.IsName("false")) {
    literal.kind = Literal::Kind::kBool;
    literal.boolean = token.text == "true";
    return literal;
  }
  if (token.IsSymbol("[")) {
    const Nesting nesting(&depth_);
    OG_RETURN_NOT_OK(CheckDepth());
    literal.kind = Literal::Kind::kList;
    while (!Peek().IsSymbol("]")) {
      if (!AtLiteral()) {
        return ErrorHere("a constant or `]` in the list");
      }
      OG_ASSIGN_OR_RETURN(Literal item, ParseLiteral());
      literal.items.push_back(std::move(item));
      if (!TakeSymbolIf(",") && !Peek().IsSymbol("]")) {
        return ErrorHere("`,` or `]` after an item of the list");
      }
    }
    Take();
    return literal;
  }
  literal.kind = token.text == "date" ? Literal::Kind::kDate : Literal::Kind::kDateTime;
  Take();
  if (Peek().kind != TokenKind::kString) {
    return ErrorHere(fmt::format(
        "a text in double quotes, as in {}",
        token.text == "date" ? "date(\"2026-01-31\")" : "datetime(\"2026-01-31T12:00:00Z\")"));
  }
  literal.text = Take().text;
  OG_RETURN_NOT_OK(Expect(")", "after the text"));
  return literal;
}

}  // namespace

std::string_view CompareOpName(CompareOp op) {
  switch (op) {
    case CompareOp::kEqual:
      return "=";
    case CompareOp::kNotEqual:
      return "!=";
    case CompareOp::kLess:
      return "<";
    case CompareOp::kLessEqual:
      return "<=";
    case CompareOp::kGreater:
      return ">";
    case CompareOp::kGreaterEqual:
      return ">=";
    case CompareOp::kContains:
      return "contains";
    case CompareOp::kStartsWith:
      return "starts_with";
  }
  return "?";
}

std::string ParamType::ToString() const {
  std::string text = form == Form::kList     ? "[" + scalar + "]"
                     : form == Form::kVector ? fmt::format("Vector({})", dimension)
                                             : scalar;
  return nullable ? text + "?" : text;
}

Result<QueryFile> ParseQueries(std::string_view text, std::string_view source) {
  OG_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(text, source));
  return Parser(std::move(tokens), source).ParseFile();
}

Result<const QueryDecl*> FindQuery(const QueryFile& file, std::string_view name) {
  if (file.queries.empty()) {
    return Invalid("query.empty_file", "the text holds no query", {.object = file.source});
  }
  if (name.empty() && file.queries.size() == 1) {
    return &file.queries.front();
  }
  std::string names;
  for (const QueryDecl& query : file.queries) {
    if (!name.empty() && query.name == name) {
      return &query;
    }
    names += (names.empty() ? "" : ", ") + query.name;
  }
  if (name.empty()) {
    return Invalid("query.name_required",
                   fmt::format("the text holds several queries; name one of {}", names),
                   {.object = file.source});
  }
  return Invalid("query.unknown_name",
                 fmt::format("no query `{}` in the text; there is {}", name, names),
                 {.object = file.source});
}

}  // namespace omnigraph::query
