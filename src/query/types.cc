// ValueType and the questions that BoundExpr answers about itself.
#include <arrow/scalar.h>

#include <algorithm>

#include "omnigraph/query/plan.h"

namespace omnigraph::query {

using Form = schema::PropertyType::Form;

bool ValueType::is_text() const {
  return !is_entity() &&
         (property.form == Form::kEnum || property.is_scalar(schema::ScalarType::kString));
}

bool ValueType::is_list() const {
  return !is_entity() && property.form == Form::kList;
}

std::string ValueType::ToString() const {
  if (is_entity()) {
    return std::string(schema::TypeKindName(entity->kind)) + " " + entity->name;
  }
  schema::PropertyType plain = property;
  plain.nullable = false;
  return plain.ToString();
}

bool BoundExpr::Equals(const BoundExpr& other) const {
  if (kind != other.kind || index != other.index || column != other.column ||
      aggregate != other.aggregate || op != other.op || negated != other.negated ||
      args.size() != other.args.size()) {
    return false;
  }
  if (kind == Kind::kConstant && !value->Equals(*other.value)) {
    return false;
  }
  return std::equal(args.begin(), args.end(), other.args.begin(),
                    [](const BoundExpr& a, const BoundExpr& b) { return a.Equals(b); });
}

std::vector<int> BoundExpr::Variables() const {
  std::vector<int> found;
  if (kind == Kind::kColumn || kind == Kind::kEntity) {
    found.push_back(index);
  }
  for (const BoundExpr& arg : args) {
    const std::vector<int> inner = arg.Variables();
    found.insert(found.end(), inner.begin(), inner.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool BoundExpr::has_aggregate() const {
  return kind == Kind::kAggregate ||
         std::any_of(args.begin(), args.end(),
                     [](const BoundExpr& arg) { return arg.has_aggregate(); });
}

}  // namespace omnigraph::query
