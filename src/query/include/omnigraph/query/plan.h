/// \file
/// The typed plan of a query: names resolved against a catalog, every expression with its type.
///
/// BindQuery checks all that can be checked without rows and parameters. Errors of a query carry
/// the stable T-codes that clients know (`query.T1` to `query.T42`; docs/errors.md). Meaning of the
/// language: docs/query.md.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/query/ast.h"

namespace omnigraph::query {

/// The type of a value: a property's type, or a whole entity. Value type.
struct ValueType {
  schema::PropertyType property;            ///< unless `entity`
  const schema::TypeDef* entity = nullptr;  ///< node or edge type; borrowed from the catalog

  bool is_entity() const { return entity != nullptr; }
  bool is_scalar(schema::ScalarType type) const { return !is_entity() && property.is_scalar(type); }
  bool is_numeric() const { return !is_entity() && property.is_numeric(); }
  /// String or enum.
  bool is_text() const;
  bool is_list() const;
  /// What an error message calls it.
  std::string ToString() const;
};

/// A variable of the match: a node or an edge. `$_` makes a fresh one at each place.
struct Variable {
  std::string name;  ///< empty for `$_`
  const schema::TypeDef* type = nullptr;
  /// Declared by `$x: Type`; else its type follows from a hop.
  bool declared = false;

  bool is_edge() const { return type->is_edge(); }
};

enum class Aggregate : uint8_t { kCount, kSum, kAvg, kMin, kMax };

/// A typed expression.
struct BoundExpr {
  enum class Kind : uint8_t {
    kConstant,   ///< `value`
    kParameter,  ///< parameter number `index`
    kNow,
    kColumn,     ///< `column` of the table of variable `index`
    kEntity,     ///< all of variable `index`
    kAggregate,  ///< one argument
    kCompare,    ///< two arguments
    kIsNull,     ///< one argument
    kNot,        ///< one argument
    kAnd,        ///< arguments
    kOr          ///< arguments
  };

  Kind kind = Kind::kConstant;
  ValueType type;
  Position at;
  std::shared_ptr<arrow::Scalar> value;
  int index = -1;
  std::string column;  ///< physical name
  Aggregate aggregate = Aggregate::kCount;
  CompareOp op = CompareOp::kEqual;
  bool negated = false;
  std::vector<BoundExpr> args;

  /// Same meaning (places do not count).
  bool Equals(const BoundExpr& other) const;
  /// Numbers of the variables that occur, ascending, each once.
  std::vector<int> Variables() const;
  bool has_aggregate() const;
};

/// A traversal. Bounds are checked: 1 <= min <= max.
struct BoundHop {
  int from = -1;
  int to = -1;
  int edge_variable = -1;  ///< -1: set semantics
  const schema::TypeDef* edge = nullptr;
  bool undirected = false;
  uint64_t min = 1;
  uint64_t max = 1;
  Position at;
};

struct BoundBlock;

/// A match or the inside of a block.
struct Pattern {
  std::vector<int> variables;  ///< introduced here, in the order of first appearance
  std::vector<BoundHop> hops;
  std::vector<BoundExpr> filters;  ///< all must hold; inline property maps included
  std::vector<BoundBlock> blocks;
};

/// `not { ... }` and `exists { ... }`.
struct BoundBlock {
  bool negated = true;
  Pattern pattern;
};

/// One column of the result.
struct BoundColumn {
  std::string name;
  BoundExpr expr;
};

/// One key of `order`: a column of the result, else an expression of its own.
struct BoundOrder {
  int column = -1;  ///< index into BoundQuery::columns, or into `hidden` behind them
  bool descending = false;
};

/// A parameter with the type that a value must have.
struct BoundParam {
  std::string name;
  ValueType type;
};

/// A query ready to run on any snapshot of its catalog. Immutable once made.
///
/// Owner: keeps the catalog alive that its types point into.
struct BoundQuery {
  std::shared_ptr<const schema::Catalog> catalog;
  std::string name;
  std::string source;  ///< name of the text, for errors
  std::vector<BoundParam> params;
  std::vector<Variable> variables;
  Pattern match;
  std::vector<BoundColumn> columns;
  /// Order keys that are no columns of the result, computed like them and dropped.
  std::vector<BoundExpr> hidden;
  std::vector<BoundOrder> order;
  std::optional<uint64_t> limit;
  int limit_param = -1;
  /// Some column is an aggregate: all others group.
  bool aggregated = false;
};

/// Resolve and check one query.
///
/// Errors: kInvalid (`query.T1` ...), kUnsupported (`query.unsupported`) with line and column.
Result<std::shared_ptr<const BoundQuery>> BindQuery(std::shared_ptr<const schema::Catalog> catalog,
                                                    const QueryFile& file, const QueryDecl& query);

}  // namespace omnigraph::query
