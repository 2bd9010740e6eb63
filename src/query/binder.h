/// \file
/// The type checker behind BindQuery. Private to this layer.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/query/plan.h"

namespace omnigraph::query {

/// What an expression may contain where it stands.
enum class Context : uint8_t { kFilter, kPropertyMap, kReturn, kOrder };

/// The type of a scalar that is never null.
ValueType ScalarValue(schema::ScalarType type);

/// Binds one query. Single-owner; made for one call.
class Binder {
 public:
  Binder(std::shared_ptr<const schema::Catalog> catalog, const QueryFile& file,
         const QueryDecl& query);

  Result<std::shared_ptr<const BoundQuery>> Run();

 private:
  using Scope = std::map<std::string, int, std::less<>>;  // name to variable

  Status BindParams();
  Status BindReturn(const ReadBody& read);
  Status BindOrder(const ReadBody& read);
  Status BindOrderKey(const OrderKey& key);
  Status BindLimit(const ReadBody& read);

  // binder_match.cc
  Status BindPattern(const std::vector<Clause>& clauses, Pattern* pattern);
  Status BindBinding(const Binding& binding, Pattern* pattern);
  Status BindPropertyMap(const Binding& binding, int variable, Pattern* pattern);
  Status BindHop(const Hop& hop, Pattern* pattern);
  Status BindBounds(const Hop& hop, BoundHop* bound) const;
  Status BindEdgeVariable(const Hop& hop, BoundHop* bound, Pattern* pattern);
  Result<int> BindEndpoint(const std::string& name, Position at, const schema::TypeDef& type,
                           const Hop& hop, Pattern* pattern);
  Status BindBlock(const Block& block, Pattern* pattern);
  int AddVariable(std::string name, const schema::TypeDef* type, bool declared, Pattern* pattern);

  // binder_expr.cc
  Result<BoundExpr> BindExpr(const Expr& expr, Context context);
  Result<BoundExpr> BindCondition(const Expr& expr, Context context);
  Result<BoundExpr> BindVariable(const Expr& expr, Context context);
  Result<BoundExpr> BindProperty(const Expr& expr);
  Result<BoundExpr> BindColumn(int variable, const std::string& property, Position at);
  Result<BoundExpr> BindAggregate(const Expr& expr, Context context);
  Result<BoundExpr> BindCompare(const Expr& expr, Context context);
  Result<BoundExpr> BindLiteral(const Literal& literal) const;
  Result<BoundExpr> BindListLiteral(const Literal& literal) const;
  Status CheckCompare(const BoundExpr& left, CompareOp op, const BoundExpr& right, Position at,
                      std::string_view mismatch_code) const;
  Status CheckEnum(const BoundExpr& column, const BoundExpr& value) const;
  Status RefuseCall(const Expr& expr, Context context) const;

  /// An error `query.<code>` at a place of the text.
  Status Error(std::string_view code, Position at, std::string message) const;
  Status Refuse(Position at, std::string message) const;

  const QueryFile& file_;
  const QueryDecl& query_;
  std::shared_ptr<BoundQuery> out_;
  Scope scope_;
  std::map<std::string, int, std::less<>> params_;
  bool has_limit_ = false;
};

}  // namespace omnigraph::query
