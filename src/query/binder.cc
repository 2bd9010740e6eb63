#include "binder.h"

#include <fmt/format.h>

#include <utility>

namespace omnigraph::query {
namespace {

using schema::ScalarType;
using Form = schema::PropertyType::Form;

ScalarType ScalarOf(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(ScalarType::kBlob); ++i) {
    if (schema::ScalarTypeName(static_cast<ScalarType>(i)) == name) {
      return static_cast<ScalarType>(i);
    }
  }
  OG_CHECK(false);
  return ScalarType::kString;
}

/// The name of a column that has no alias; empty where one is required.
std::string DefaultName(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::kProperty:
      return expr.variable + "." + expr.name;
    case Expr::Kind::kVariable:
      return expr.variable;
    case Expr::Kind::kAggregate:
      return DefaultName(expr.args[0]);
    case Expr::Kind::kLiteral:
      return "literal";
    case Expr::Kind::kNow:
      return "now";
    default:
      return {};
  }
}

}  // namespace

ValueType ScalarValue(ScalarType type) {
  ValueType value;
  value.property.scalar = type;
  return value;
}

Binder::Binder(std::shared_ptr<const schema::Catalog> catalog, const QueryFile& file,
               const QueryDecl& query)
    : file_(file), query_(query), out_(std::make_shared<BoundQuery>()) {
  out_->catalog = std::move(catalog);
  out_->name = query.name;
  out_->source = file.source;
}

Status Binder::Error(std::string_view code, Position at, std::string message) const {
  return Invalid(fmt::format("query.{}", code), fmt::format("{}: {}", code, message),
                 {.object = file_.source, .line = at.line, .column = at.column});
}

Status Binder::Refuse(Position at, std::string message) const {
  return Unsupported("query.unsupported", std::move(message),
                     {.object = file_.source, .line = at.line, .column = at.column});
}

Result<std::shared_ptr<const BoundQuery>> Binder::Run() {
  if (const auto* write = std::get_if<WriteBody>(&query_.body)) {
    return Refuse(write->at, fmt::format("`{}` changes the graph; mutations are not supported yet, "
                                         "use `load` or `ingest`",
                                         write->verb));
  }
  const auto& read = std::get<ReadBody>(query_.body);
  has_limit_ = read.limit.has_value();
  OG_RETURN_NOT_OK(BindParams());
  OG_RETURN_NOT_OK(BindPattern(read.match, &out_->match));
  OG_RETURN_NOT_OK(BindReturn(read));
  OG_RETURN_NOT_OK(BindOrder(read));
  OG_RETURN_NOT_OK(BindLimit(read));
  return std::shared_ptr<const BoundQuery>(out_);
}

Status Binder::BindParams() {
  for (const ParamDecl& decl : query_.params) {
    BoundParam param;
    param.name = decl.name;
    param.type.property.scalar = ScalarOf(decl.type.scalar);
    param.type.property.nullable = decl.type.nullable;
    if (decl.type.form == ParamType::Form::kList) {
      param.type.property.form = Form::kList;
    } else if (decl.type.form == ParamType::Form::kVector) {
      param.type.property.form = Form::kVector;
      param.type.property.dimension = decl.type.dimension;
    }
    if (param.type.property.scalar == ScalarType::kBlob) {
      return Error("T24", decl.at, "a query cannot read a Blob, nor take one as a parameter");
    }
    params_.emplace(decl.name, static_cast<int>(out_->params.size()));
    out_->params.push_back(std::move(param));
  }
  return Status::OK();
}

Status Binder::BindReturn(const ReadBody& read) {
  for (const Projection& projection : read.returns) {
    BoundColumn column;
    OG_ASSIGN_OR_RETURN(column.expr, BindExpr(projection.expr, Context::kReturn));
    column.name = projection.alias.value_or(DefaultName(projection.expr));
    const Position at = projection.expr.at;
    if (column.name.empty()) {
      return Error("T9", at, "this column needs a name; add `as name`");
    }
    if (column.expr.kind == BoundExpr::Kind::kEntity && column.expr.type.entity->is_edge()) {
      return Error("T23", at,
                   fmt::format("edge `${}` cannot be returned as a whole; return `${}.@id` or its "
                               "properties",
                               projection.expr.variable, projection.expr.variable));
    }
    for (const BoundColumn& other : out_->columns) {
      if (other.name == column.name) {
        return Error("T25", projection.alias ? projection.alias_at : at,
                     fmt::format("two columns are named `{}`; rename one with `as`", column.name));
      }
    }
    out_->aggregated = out_->aggregated || column.expr.has_aggregate();
    out_->columns.push_back(std::move(column));
  }
  for (const BoundColumn& column : out_->columns) {
    const ValueType& type = column.expr.type;
    const bool is_many =
        type.is_list() || (!type.is_entity() && type.property.form == Form::kVector);
    if (out_->aggregated && is_many) {
      return Error("T9", column.expr.at, fmt::format("{} cannot group", type.ToString()));
    }
  }
  return Status::OK();
}

Status Binder::BindOrder(const ReadBody& read) {
  for (const OrderKey& key : read.order) {
    OG_RETURN_NOT_OK(BindOrderKey(key));
  }
  return Status::OK();
}

Status Binder::BindOrderKey(const OrderKey& key) {
  const auto by_column = [&](size_t column) {
    out_->order.push_back({static_cast<int>(column), key.descending});
    return Status::OK();
  };
  if (key.expr.kind == Expr::Kind::kName) {
    for (size_t i = 0; i < out_->columns.size(); ++i) {
      if (out_->columns[i].name == key.expr.name) {
        return by_column(i);
      }
    }
    return Error("T42", key.expr.at,
                 fmt::format("`order` names `{}`, which is no column of `return`", key.expr.name));
  }
  OG_ASSIGN_OR_RETURN(BoundExpr expr, BindExpr(key.expr, Context::kOrder));
  for (size_t i = 0; i < out_->columns.size(); ++i) {
    if (out_->columns[i].expr.Equals(expr)) {
      return by_column(i);
    }
  }
  if (expr.kind == BoundExpr::Kind::kEntity) {
    OG_ASSIGN_OR_RETURN(expr, BindColumn(expr.index, "@id", key.expr.at));
  }
  if (expr.type.is_list() || expr.type.property.form == Form::kVector) {
    return Error("T9", key.expr.at, fmt::format("{} has no order", expr.type.ToString()));
  }
  if (out_->aggregated && !expr.has_aggregate()) {
    return Error("T9", key.expr.at,
                 "a grouped result is ordered by what it returns; add this to `return`");
  }
  if (!out_->aggregated && expr.has_aggregate()) {
    return Error("T9", key.expr.at,
                 "an aggregate orders only a grouped result; add an aggregate to `return`");
  }
  out_->hidden.push_back(std::move(expr));
  return by_column(out_->columns.size() + out_->hidden.size() - 1);
}

Status Binder::BindLimit(const ReadBody& read) {
  if (!read.limit) {
    return Status::OK();
  }
  const Expr& limit = *read.limit;
  if (limit.kind == Expr::Kind::kLiteral) {
    out_->limit = limit.literal.magnitude;
    return Status::OK();
  }
  const auto param = params_.find(limit.variable);
  if (limit.kind != Expr::Kind::kVariable || param == params_.end()) {
    return Error("T6", limit.at, "`limit` takes a whole number or a parameter");
  }
  const schema::PropertyType& type = out_->params[static_cast<size_t>(param->second)].type.property;
  if (type.form != Form::kScalar || type.scalar < ScalarType::kI32 ||
      type.scalar > ScalarType::kU64 || type.nullable) {
    return Error("T7", limit.at,
                 "`limit` needs a parameter of an integer type that is not nullable");
  }
  out_->limit_param = param->second;
  return Status::OK();
}

Result<std::shared_ptr<const BoundQuery>> BindQuery(std::shared_ptr<const schema::Catalog> catalog,
                                                    const QueryFile& file, const QueryDecl& query) {
  return Binder(std::move(catalog), file, query).Run();
}

}  // namespace omnigraph::query
