// Binder: expressions and their types.
#include <arrow/api.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "binder.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::query {
namespace {

using schema::ScalarType;
using Form = schema::PropertyType::Form;

BoundExpr MakeBound(BoundExpr::Kind kind, ValueType type, Position at) {
  BoundExpr bound;
  bound.kind = kind;
  bound.type = std::move(type);
  bound.at = at;
  return bound;
}

bool IsBlob(const ValueType& type) {
  return !type.is_entity() && type.property.scalar == ScalarType::kBlob;
}

bool IsPlain(const ValueType& type) {
  return !type.is_entity() && (type.property.form == Form::kScalar || type.is_text());
}

/// Values that can be compared for equality.
bool AreAlike(const ValueType& a, const ValueType& b) {
  if (!IsPlain(a) || !IsPlain(b)) {
    return false;
  }
  return (a.is_numeric() && b.is_numeric()) || (a.is_text() && b.is_text()) ||
         (!a.is_text() && !b.is_text() && a.property.scalar == b.property.scalar);
}

ValueType ElementOf(const ValueType& list) {
  return ScalarValue(list.property.scalar);
}

std::string PropertiesOf(const schema::TypeDef& type) {
  std::string names;
  for (const schema::Property& property : type.properties) {
    names += property.name + ", ";
  }
  return names + (type.is_edge() ? "@id, @src, @dst" : "@id");
}

/// A String key of a node is its id; reading `id` serves both.
bool IsKeyText(const schema::TypeDef& type, int property) {
  return type.is_node() && type.key.size() == 1 && type.key[0].property == property &&
         (type.properties[static_cast<size_t>(property)].type.form == Form::kEnum ||
          type.properties[static_cast<size_t>(property)].type.is_scalar(ScalarType::kString));
}

}  // namespace

Result<BoundExpr> Binder::BindExpr(const Expr& expr, Context context) {
  switch (expr.kind) {
    case Expr::Kind::kLiteral:
      return BindLiteral(expr.literal);
    case Expr::Kind::kVariable:
      return BindVariable(expr, context);
    case Expr::Kind::kProperty:
      if (context == Context::kPropertyMap) {
        return Error(
            "T9", expr.at,
            "a property map takes constants, parameters and now(); compare properties in a "
            "clause of its own");
      }
      return BindProperty(expr);
    case Expr::Kind::kNow:
      return MakeBound(BoundExpr::Kind::kNow, ScalarValue(ScalarType::kDateTime), expr.at);
    case Expr::Kind::kName:
      return Error("T6", expr.at,
                   fmt::format("`{}` is no variable; did you mean `${}` or \"{}\"?", expr.name,
                               expr.name, expr.name));
    case Expr::Kind::kAggregate:
      return BindAggregate(expr, context);
    case Expr::Kind::kCall:
      return RefuseCall(expr, context);
    default:
      return BindCondition(expr, context);
  }
}

Status Binder::RefuseCall(const Expr& expr, Context context) const {
  if (context == Context::kOrder && !has_limit_) {
    if (expr.name == "nearest") {
      return Error("T17", expr.at, "order by `nearest` needs a `limit`");
    }
    if (expr.name == "rrf") {
      return Error("T21", expr.at, "order by `rrf` needs a `limit`");
    }
  }
  return Refuse(expr.at, fmt::format("`{}` is not supported yet; text can be compared with "
                                     "`contains` and `starts_with`",
                                     expr.name));
}

Result<BoundExpr> Binder::BindCondition(const Expr& expr, Context context) {
  switch (expr.kind) {
    case Expr::Kind::kCompare:
      return BindCompare(expr, context);
    case Expr::Kind::kIsNull: {
      BoundExpr test = MakeBound(BoundExpr::Kind::kIsNull, ScalarValue(ScalarType::kBool), expr.at);
      test.negated = expr.negated;
      OG_ASSIGN_OR_RETURN(BoundExpr arg, BindExpr(expr.args[0], context));
      if (arg.type.is_entity() || arg.has_aggregate()) {
        return Error("T9", expr.at, "`is null` tests a property or a parameter");
      }
      test.args.push_back(std::move(arg));
      return test;
    }
    case Expr::Kind::kNot:
    case Expr::Kind::kAnd:
    case Expr::Kind::kOr: {
      const auto kind = expr.kind == Expr::Kind::kNot   ? BoundExpr::Kind::kNot
                        : expr.kind == Expr::Kind::kAnd ? BoundExpr::Kind::kAnd
                                                        : BoundExpr::Kind::kOr;
      BoundExpr bound = MakeBound(kind, ScalarValue(ScalarType::kBool), expr.at);
      for (const Expr& arg : expr.args) {
        OG_ASSIGN_OR_RETURN(BoundExpr inner, BindCondition(arg, context));
        bound.args.push_back(std::move(inner));
      }
      return bound;
    }
    default:
      break;
  }
  OG_ASSIGN_OR_RETURN(BoundExpr value, BindExpr(expr, context));
  if (!value.type.is_scalar(ScalarType::kBool)) {
    return Error("T7", expr.at,
                 fmt::format("a condition is needed here, this is of type {}; compare it with "
                             "something",
                             value.type.ToString()));
  }
  return value;
}

Result<BoundExpr> Binder::BindVariable(const Expr& expr, Context context) {
  if (const auto param = params_.find(expr.variable); param != params_.end()) {
    BoundExpr bound = MakeBound(BoundExpr::Kind::kParameter,
                                out_->params[static_cast<size_t>(param->second)].type, expr.at);
    bound.index = param->second;
    return bound;
  }
  const auto variable = scope_.find(expr.variable);
  if (variable == scope_.end()) {
    return Error("T6", expr.at,
                 fmt::format("`${}` is not bound; bind it with `${}: Type` or declare it as a "
                             "parameter",
                             expr.variable, expr.variable));
  }
  if (context == Context::kFilter || context == Context::kPropertyMap) {
    return Error(
        "T9", expr.at,
        fmt::format(
            "`${}` is a whole {}; compare one of its properties, or `${}.@id`", expr.variable,
            out_->variables[static_cast<size_t>(variable->second)].is_edge() ? "edge" : "node",
            expr.variable));
  }
  BoundExpr bound = MakeBound(BoundExpr::Kind::kEntity, {}, expr.at);
  bound.index = variable->second;
  bound.type.entity = out_->variables[static_cast<size_t>(variable->second)].type;
  return bound;
}

Result<BoundExpr> Binder::BindProperty(const Expr& expr) {
  const auto variable = scope_.find(expr.variable);
  if (variable == scope_.end()) {
    if (params_.contains(expr.variable)) {
      return Error("T6", expr.at,
                   fmt::format("`${}` is a parameter and has no properties", expr.variable));
    }
    return Error(
        "T6", expr.at,
        fmt::format("`${}` is not bound; bind it with `${}: Type`", expr.variable, expr.variable));
  }
  return BindColumn(variable->second, expr.name, expr.at);
}

Result<BoundExpr> Binder::BindColumn(int variable, const std::string& property, Position at) {
  const schema::TypeDef& type = *out_->variables[static_cast<size_t>(variable)].type;
  BoundExpr bound = MakeBound(BoundExpr::Kind::kColumn, ScalarValue(ScalarType::kString), at);
  bound.index = variable;
  if (property == "@id" || (type.is_edge() && (property == "@src" || property == "@dst"))) {
    bound.column = property.substr(1);
    return bound;
  }
  const int found = type.FindProperty(property);
  if (found < 0) {
    return Error(
        "T2", at,
        fmt::format("{} has no property `{}`; it has {}", type.name, property, PropertiesOf(type)));
  }
  bound.type.property = type.properties[static_cast<size_t>(found)].type;
  if (IsBlob(bound.type)) {
    return Error("T24", at, fmt::format("`{}` is a Blob; a query cannot read it", property));
  }
  bound.column = IsKeyText(type, found)
                     ? schema::kIdColumn
                     : schema::ArrowSchemaOf(type)->field(schema::ColumnOf(type, found))->name();
  return bound;
}

Result<BoundExpr> Binder::BindAggregate(const Expr& expr, Context context) {
  if (context == Context::kFilter || context == Context::kPropertyMap) {
    return Error("T9", expr.at,
                 fmt::format("`{}` stands in `return` or `order`, not in a condition", expr.name));
  }
  OG_ASSIGN_OR_RETURN(BoundExpr arg, BindExpr(expr.args[0], Context::kReturn));
  if (arg.has_aggregate()) {
    return Error("T9", expr.at, "an aggregate cannot stand inside another");
  }
  BoundExpr bound = MakeBound(BoundExpr::Kind::kAggregate, ScalarValue(ScalarType::kF64), expr.at);
  if (expr.name == "count") {
    bound.aggregate = Aggregate::kCount;
    bound.type = ScalarValue(ScalarType::kI64);
  } else if (expr.name == "sum" || expr.name == "avg") {
    bound.aggregate = expr.name == "sum" ? Aggregate::kSum : Aggregate::kAvg;
    bound.type.property.nullable = true;
    if (!arg.type.is_numeric()) {
      return Error(
          "T8", expr.args[0].at,
          fmt::format("`{}` needs a number, this is of type {}", expr.name, arg.type.ToString()));
    }
  } else {
    bound.aggregate = expr.name == "min" ? Aggregate::kMin : Aggregate::kMax;
    const bool ordered = arg.type.is_numeric() || arg.type.is_text() ||
                         arg.type.is_scalar(ScalarType::kDate) ||
                         arg.type.is_scalar(ScalarType::kDateTime);
    if (!ordered) {
      return Error("T8", expr.args[0].at,
                   fmt::format("`{}` needs numbers, text or dates, this is of type {}", expr.name,
                               arg.type.ToString()));
    }
    bound.type = arg.type;
    bound.type.property.nullable = true;
  }
  bound.args.push_back(std::move(arg));
  return bound;
}

Result<BoundExpr> Binder::BindCompare(const Expr& expr, Context context) {
  BoundExpr bound = MakeBound(BoundExpr::Kind::kCompare, ScalarValue(ScalarType::kBool), expr.at);
  bound.op = expr.op;
  for (const Expr& arg : expr.args) {
    OG_ASSIGN_OR_RETURN(BoundExpr side, BindExpr(arg, context));
    if (side.has_aggregate()) {
      return Error("T9", arg.at, "an aggregate cannot be compared; return it as a column");
    }
    bound.args.push_back(std::move(side));
  }
  OG_RETURN_NOT_OK(CheckCompare(bound.args[0], bound.op, bound.args[1], expr.args[1].at, "T7"));
  return bound;
}

Status Binder::CheckEnum(const BoundExpr& column, const BoundExpr& value) const {
  if (column.type.is_entity() || column.type.property.form != Form::kEnum ||
      value.kind != BoundExpr::Kind::kConstant) {
    return Status::OK();
  }
  const std::string text = value.value->ToString();
  const std::vector<std::string>& members = column.type.property.enum_values;
  if (std::find(members.begin(), members.end(), text) != members.end()) {
    return Status::OK();
  }
  return Error("T3", value.at,
               fmt::format("\"{}\" is no member of {}", text, column.type.ToString()));
}

Status Binder::CheckCompare(const BoundExpr& left, CompareOp op, const BoundExpr& right,
                            Position at, std::string_view mismatch_code) const {
  const ValueType& a = left.type;
  const ValueType& b = right.type;
  if (a.is_entity() || b.is_entity()) {
    return Error("T9", at, "compare `.@id` to compare nodes");
  }
  const auto mismatch = [&] {
    return Error(mismatch_code, at,
                 fmt::format("{} and {} cannot be compared with `{}`", a.ToString(), b.ToString(),
                             CompareOpName(op)));
  };
  if (op == CompareOp::kContains || op == CompareOp::kStartsWith) {
    if (op == CompareOp::kContains && a.is_list()) {
      return AreAlike(ElementOf(a), b) ? Status::OK() : mismatch();
    }
    return a.is_text() && b.is_text() ? Status::OK() : mismatch();
  }
  if (!IsPlain(a) || !IsPlain(b)) {
    return Error("T3", at,
                 fmt::format("{} and {} cannot be compared with `{}`; test membership with "
                             "`contains`",
                             a.ToString(), b.ToString(), CompareOpName(op)));
  }
  if (!AreAlike(a, b)) {
    return mismatch();
  }
  const bool equality = op == CompareOp::kEqual || op == CompareOp::kNotEqual;
  if (!equality && a.is_scalar(ScalarType::kBool)) {
    return mismatch();
  }
  if (equality) {
    OG_RETURN_NOT_OK(CheckEnum(left, right));
    OG_RETURN_NOT_OK(CheckEnum(right, left));
  }
  return Status::OK();
}

Result<BoundExpr> Binder::BindLiteral(const Literal& literal) const {
  BoundExpr bound =
      MakeBound(BoundExpr::Kind::kConstant, ScalarValue(ScalarType::kString), literal.at);
  constexpr auto kMaxI64 = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  switch (literal.kind) {
    case Literal::Kind::kString:
      bound.value = arrow::MakeScalar(literal.text);
      break;
    case Literal::Kind::kBool:
      bound.type = ScalarValue(ScalarType::kBool);
      bound.value = arrow::MakeScalar(literal.boolean);
      break;
    case Literal::Kind::kFloat:
      bound.type = ScalarValue(ScalarType::kF64);
      bound.value = arrow::MakeScalar(literal.real);
      break;
    case Literal::Kind::kInteger:
      if (literal.magnitude <= kMaxI64) {
        const auto value = static_cast<int64_t>(literal.magnitude);
        bound.type = ScalarValue(ScalarType::kI64);
        bound.value = arrow::MakeScalar(literal.negative ? -value : value);
      } else if (!literal.negative) {
        bound.type = ScalarValue(ScalarType::kU64);
        bound.value = arrow::MakeScalar(literal.magnitude);
      } else {
        return Error("T3", literal.at, fmt::format("{} is below every integer type", literal.text));
      }
      break;
    case Literal::Kind::kDate: {
      const auto days = schema::ParseDate(literal.text);
      if (!days) {
        return Error("T3", literal.at,
                     fmt::format("\"{}\" is no date; write YYYY-MM-DD", literal.text));
      }
      bound.type = ScalarValue(ScalarType::kDate);
      bound.value = std::make_shared<arrow::Date32Scalar>(*days);
      break;
    }
    case Literal::Kind::kDateTime: {
      const auto millis = schema::ParseDateTime(literal.text);
      if (!millis) {
        return Error(
            "T3", literal.at,
            fmt::format("\"{}\" is no date and time; write YYYY-MM-DDTHH:MM:SSZ", literal.text));
      }
      bound.type = ScalarValue(ScalarType::kDateTime);
      bound.value = std::make_shared<arrow::TimestampScalar>(
          *millis, schema::ArrowTypeOf(bound.type.property));
      break;
    }
    case Literal::Kind::kList:
      return BindListLiteral(literal);
  }
  return bound;
}

Result<BoundExpr> Binder::BindListLiteral(const Literal& literal) const {
  if (literal.items.empty()) {
    return Error("T3", literal.at, "an empty list has no type");
  }
  BoundExpr bound = MakeBound(BoundExpr::Kind::kConstant, {}, literal.at);
  std::unique_ptr<arrow::ArrayBuilder> builder;
  for (const Literal& item : literal.items) {
    OG_ASSIGN_OR_RETURN(const BoundExpr value, BindLiteral(item));
    if (builder == nullptr) {
      bound.type = value.type;
      OG_ASSIGN_OR_RETURN(builder, arrow::MakeBuilder(value.value->type));
    }
    if (!IsPlain(value.type) || !builder->type()->Equals(value.value->type)) {
      return Error("T3", item.at, "the items of a list are of one scalar type");
    }
    OG_RETURN_NOT_OK(builder->AppendScalar(*value.value));
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> items, builder->Finish());
  bound.type.property.form = Form::kList;
  bound.value = std::make_shared<arrow::ListScalar>(
      items, arrow::list(arrow::field("item", items->type(), true)));
  return bound;
}

}  // namespace omnigraph::query
