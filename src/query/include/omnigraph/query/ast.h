/// \file
/// The parse tree of a `.gq` text: what was written and where, nothing resolved.
///
/// Made by ParseQueries (parser.h), consumed by BindQuery (plan.h). Grammar: docs/query.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace omnigraph::query {

/// A place in the text; both count from 1, columns in bytes.
struct Position {
  int64_t line = 1;
  int64_t column = 1;
};

/// A constant as written.
struct Literal {
  enum class Kind : uint8_t { kString, kInteger, kFloat, kBool, kDate, kDateTime, kList };

  Kind kind = Kind::kString;
  std::string text;            ///< kString, kDate, kDateTime: decoded; numbers: as written
  bool negative = false;       ///< kInteger
  uint64_t magnitude = 0;      ///< kInteger
  double real = 0;             ///< kInteger and kFloat
  bool boolean = false;        ///< kBool
  std::vector<Literal> items;  ///< kList
  Position at;
};

/// Operators of a comparison.
enum class CompareOp : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kContains,
  kStartsWith
};

/// The spelling in `.gq`.
std::string_view CompareOpName(CompareOp op);

/// Any expression, one node of a tree.
struct Expr {
  enum class Kind : uint8_t {
    kLiteral,
    kVariable,   ///< `$x`: a bound variable or a parameter
    kProperty,   ///< `$x.name` or `$x.@id`
    kName,       ///< a bare name: an alias in `order`
    kNow,        ///< `now()`
    kAggregate,  ///< `count(e)`, `sum`, `avg`, `min`, `max`
    kCall,       ///< `search(..)`, `fuzzy`, `match_text`, `bm25`, `nearest`, `rrf`
    kCompare,    ///< two arguments
    kIsNull,     ///< one argument; `is not null` where `negated`
    kNot,        ///< one argument
    kAnd,        ///< two or more arguments
    kOr          ///< two or more arguments
  };

  Kind kind = Kind::kLiteral;
  Position at;
  Literal literal;
  std::string variable;  ///< without `$`
  std::string name;      ///< property (`@id` keeps its sign), bare name or function
  CompareOp op = CompareOp::kEqual;
  bool negated = false;
  std::vector<Expr> args;
};

/// `name: value` inside a binding.
struct PropertyMatch {
  std::string property;
  Expr value;
  Position at;
};

/// `$x: Type { name: value, ... }`
struct Binding {
  std::string variable;
  std::string type;
  std::vector<PropertyMatch> properties;
  Position at;
  Position type_at;
};

/// `{min,max}` of a hop. An absent `max` parses, and is refused by the binder.
struct HopBounds {
  uint64_t min = 1;
  std::optional<uint64_t> max;
  Position at;
};

/// `$a edge $b`, `$a $e:edge $b`, `$a <edge> $b`, each with bounds. `$_` has the name `_`.
struct Hop {
  std::string from;
  std::string to;
  std::optional<std::string> edge_variable;
  std::string edge;
  bool undirected = false;
  std::optional<HopBounds> bounds;
  Position at;
  Position to_at;
  Position edge_at;
};

struct Clause;

/// `not { ... }` or `exists { ... }`
struct Block {
  bool negated = true;
  std::vector<Clause> clauses;
  Position at;
};

/// One clause of `match`; an Expr is a filter.
struct Clause {
  std::variant<Binding, Hop, Expr, Block> node;
};

/// `expression as alias`
struct Projection {
  Expr expr;
  std::optional<std::string> alias;
  Position alias_at;
};

/// One key of `order`.
struct OrderKey {
  Expr expr;
  bool descending = false;
};

/// The declared type of a parameter.
struct ParamType {
  enum class Form : uint8_t { kScalar, kList, kVector };

  Form form = Form::kScalar;
  std::string scalar;     ///< as written: `String`, `I32`, ...
  int32_t dimension = 0;  ///< kVector
  bool nullable = false;

  /// The `.gq` spelling.
  std::string ToString() const;
};

/// `$name: Type`
struct ParamDecl {
  std::string name;
  ParamType type;
  Position at;
};

/// A query that reads.
struct ReadBody {
  std::vector<Clause> match;
  std::vector<Projection> returns;
  std::vector<OrderKey> order;
  std::optional<Expr> limit;  ///< an integer literal or a parameter
  Position return_at;
};

/// A query that writes. Read far enough to be told apart; see the binder.
struct WriteBody {
  std::string verb;  ///< of the first statement
  Position at;
};

/// One `query name(params) { ... }`.
struct QueryDecl {
  std::string name;
  std::vector<ParamDecl> params;
  std::string description;
  std::string instruction;
  std::variant<ReadBody, WriteBody> body;
  Position at;

  bool is_mutation() const { return std::holds_alternative<WriteBody>(body); }
};

/// A whole text. May be empty; names are unique.
struct QueryFile {
  std::string source;  ///< name of the text for errors, such as its file name; may be empty
  std::vector<QueryDecl> queries;
};

}  // namespace omnigraph::query
