// Binder: bindings, hops and blocks.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "binder.h"

namespace omnigraph::query {
namespace {

/// True where an expression or a clause names a variable of `scope`.
template <typename Scope>
bool Mentions(const Expr& expr, const Scope& scope) {
  if ((expr.kind == Expr::Kind::kVariable || expr.kind == Expr::Kind::kProperty) &&
      scope.contains(expr.variable)) {
    return true;
  }
  return std::any_of(expr.args.begin(), expr.args.end(),
                     [&](const Expr& arg) { return Mentions(arg, scope); });
}

template <typename Scope>
bool Mentions(const std::vector<Clause>& clauses, const Scope& scope) {
  return std::any_of(clauses.begin(), clauses.end(), [&](const Clause& clause) {
    if (const auto* binding = std::get_if<Binding>(&clause.node)) {
      return scope.contains(binding->variable);
    }
    if (const auto* hop = std::get_if<Hop>(&clause.node)) {
      return scope.contains(hop->from) || scope.contains(hop->to);
    }
    if (const auto* block = std::get_if<Block>(&clause.node)) {
      return Mentions(block->clauses, scope);
    }
    return Mentions(std::get<Expr>(clause.node), scope);
  });
}

std::string NamesOf(const schema::Catalog& catalog, schema::TypeKind kind) {
  std::string names;
  for (const schema::TypeDef& type : catalog.types()) {
    if (type.kind == kind) {
      names += (names.empty() ? "" : ", ") + type.name;
    }
  }
  return names.empty() ? "none" : names;
}

}  // namespace

int Binder::AddVariable(std::string name, const schema::TypeDef* type, bool declared,
                        Pattern* pattern) {
  const int index = static_cast<int>(out_->variables.size());
  if (!name.empty()) {
    scope_[name] = index;
  }
  out_->variables.push_back({std::move(name), type, declared});
  pattern->variables.push_back(index);
  return index;
}

Status Binder::BindPattern(const std::vector<Clause>& clauses, Pattern* pattern) {
  // The order of meaning, not of the text: bindings, hops, filters, blocks.
  for (const Clause& clause : clauses) {
    if (const auto* binding = std::get_if<Binding>(&clause.node)) {
      OG_RETURN_NOT_OK(BindBinding(*binding, pattern));
    }
  }
  for (const Clause& clause : clauses) {
    if (const auto* hop = std::get_if<Hop>(&clause.node)) {
      OG_RETURN_NOT_OK(BindHop(*hop, pattern));
    }
  }
  for (const Clause& clause : clauses) {
    if (const auto* filter = std::get_if<Expr>(&clause.node)) {
      OG_ASSIGN_OR_RETURN(BoundExpr bound, BindCondition(*filter, Context::kFilter));
      pattern->filters.push_back(std::move(bound));
    }
  }
  for (const Clause& clause : clauses) {
    if (const auto* block = std::get_if<Block>(&clause.node)) {
      OG_RETURN_NOT_OK(BindBlock(*block, pattern));
    }
  }
  return Status::OK();
}

Status Binder::BindBinding(const Binding& binding, Pattern* pattern) {
  const schema::TypeDef* type = out_->catalog->FindNode(binding.type);
  if (type == nullptr) {
    return Error("T1", binding.type_at,
                 fmt::format("unknown node type `{}`; the schema has {}", binding.type,
                             NamesOf(*out_->catalog, schema::TypeKind::kNode)));
  }
  if (params_.contains(binding.variable)) {
    return Error(
        "T6", binding.at,
        fmt::format("`${}` is a parameter; give the variable another name", binding.variable));
  }
  int variable = -1;
  const auto known = scope_.find(binding.variable);
  if (binding.variable == "_") {
    variable = AddVariable({}, type, true, pattern);
  } else if (known == scope_.end()) {
    variable = AddVariable(binding.variable, type, true, pattern);
  } else {
    // A second binding of one variable only adds conditions.
    variable = known->second;
    const schema::TypeDef* first = out_->variables[static_cast<size_t>(variable)].type;
    if (first != type) {
      return Error("T5", binding.type_at,
                   fmt::format("`${}` is of type {} already, it cannot be {} too", binding.variable,
                               first->name, type->name));
    }
  }
  return BindPropertyMap(binding, variable, pattern);
}

Status Binder::BindPropertyMap(const Binding& binding, int variable, Pattern* pattern) {
  for (const PropertyMatch& match : binding.properties) {
    OG_ASSIGN_OR_RETURN(BoundExpr column, BindColumn(variable, match.property, match.at));
    OG_ASSIGN_OR_RETURN(BoundExpr value, BindExpr(match.value, Context::kPropertyMap));
    BoundExpr compare;
    compare.kind = BoundExpr::Kind::kCompare;
    compare.type = ScalarValue(schema::ScalarType::kBool);
    compare.at = match.at;
    compare.op = column.type.is_list() ? CompareOp::kContains : CompareOp::kEqual;
    const bool is_constant = value.kind == BoundExpr::Kind::kConstant;
    OG_RETURN_NOT_OK(
        CheckCompare(column, compare.op, value, match.value.at, is_constant ? "T3" : "T7"));
    compare.args.push_back(std::move(column));
    compare.args.push_back(std::move(value));
    pattern->filters.push_back(std::move(compare));
  }
  return Status::OK();
}

Status Binder::BindHop(const Hop& hop, Pattern* pattern) {
  const schema::TypeDef* edge = out_->catalog->FindEdge(hop.edge);
  if (edge == nullptr) {
    return Error("T4", hop.edge_at,
                 fmt::format("unknown edge `{}`; the schema has {}", hop.edge,
                             NamesOf(*out_->catalog, schema::TypeKind::kEdge)));
  }
  if (hop.undirected && edge->source != edge->target) {
    return Error(
        "T22", hop.edge_at,
        fmt::format("`<{}>` needs an edge between nodes of one type; {} goes from {} to {}",
                    hop.edge, edge->name, edge->source, edge->target));
  }
  BoundHop bound;
  bound.edge = edge;
  bound.undirected = hop.undirected;
  bound.at = hop.at;
  OG_RETURN_NOT_OK(BindBounds(hop, &bound));
  const schema::TypeDef* source = out_->catalog->FindNode(edge->source);
  const schema::TypeDef* target = out_->catalog->FindNode(edge->target);
  OG_CHECK(source != nullptr && target != nullptr);
  OG_ASSIGN_OR_RETURN(bound.from, BindEndpoint(hop.from, hop.at, *source, hop, pattern));
  OG_ASSIGN_OR_RETURN(bound.to, BindEndpoint(hop.to, hop.to_at, *target, hop, pattern));
  OG_RETURN_NOT_OK(BindEdgeVariable(hop, &bound, pattern));
  pattern->hops.push_back(bound);
  return Status::OK();
}

Status Binder::BindBounds(const Hop& hop, BoundHop* bound) const {
  if (!hop.bounds) {
    return Status::OK();
  }
  const Position at = hop.bounds->at;
  if (hop.edge_variable) {
    return Error("T23", at,
                 fmt::format("a hop that binds its edge (`${}`) is one hop; leave the bounds out",
                             *hop.edge_variable));
  }
  if (!hop.bounds->max) {
    return Error("T15", at, "the greatest number of hops is missing; write `{1,3}`");
  }
  if (hop.bounds->min < 1) {
    return Error("T15", at, "the least number of hops is 1");
  }
  if (*hop.bounds->max < hop.bounds->min) {
    return Error("T15", at,
                 fmt::format("the greatest number of hops ({}) is below the least ({})",
                             *hop.bounds->max, hop.bounds->min));
  }
  bound->min = hop.bounds->min;
  bound->max = *hop.bounds->max;
  return Status::OK();
}

Result<int> Binder::BindEndpoint(const std::string& name, Position at, const schema::TypeDef& type,
                                 const Hop& hop, Pattern* pattern) {
  if (name == "_") {
    return AddVariable({}, &type, false, pattern);
  }
  if (params_.contains(name)) {
    return Error("T6", at,
                 fmt::format("`${}` is a parameter; a hop goes between nodes, bind one with "
                             "`$x: {} {{ ... }}`",
                             name, type.name));
  }
  const auto known = scope_.find(name);
  if (known == scope_.end()) {
    return AddVariable(name, &type, false, pattern);
  }
  const schema::TypeDef* found = out_->variables[static_cast<size_t>(known->second)].type;
  if (found->is_edge()) {
    return Error("T23", at, fmt::format("`${}` is an edge; a hop goes between nodes", name));
  }
  if (found != &type) {
    const schema::TypeDef* edge = out_->catalog->FindEdge(hop.edge);
    return Error("T5", at,
                 fmt::format("edge {} goes from {} to {}, but `${}` is of type {}", edge->name,
                             edge->source, edge->target, name, found->name));
  }
  return known->second;
}

Status Binder::BindEdgeVariable(const Hop& hop, BoundHop* bound, Pattern* pattern) {
  if (!hop.edge_variable) {
    return Status::OK();
  }
  const std::string& name = *hop.edge_variable;
  if (scope_.contains(name) || params_.contains(name)) {
    return Error(
        "T23", hop.at,
        fmt::format("`${}` is taken; an edge is bound once, under a name of its own", name));
  }
  bound->edge_variable = AddVariable(name == "_" ? "" : name, bound->edge, true, pattern);
  return Status::OK();
}

Status Binder::BindBlock(const Block& block, Pattern* pattern) {
  if (!Mentions(block.clauses, scope_)) {
    return Error("T9", block.at, "a block must mention a variable that is bound outside of it");
  }
  BoundBlock bound;
  bound.negated = block.negated;
  const Scope outer = scope_;
  OG_RETURN_NOT_OK(BindPattern(block.clauses, &bound.pattern));
  scope_ = outer;
  pattern->blocks.push_back(std::move(bound));
  return Status::OK();
}

}  // namespace omnigraph::query
