#include "project.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::query {
namespace {

/// Adds the columns that an expression reads, by variable.
void AddReads(const BoundQuery& query, const BoundExpr& expr,
              std::map<int, std::set<std::string>>* reads) {
  if (expr.kind == BoundExpr::Kind::kColumn) {
    (*reads)[expr.index].insert(expr.column);
  } else if (expr.kind == BoundExpr::Kind::kEntity) {
    const schema::TypeDef& type = *query.variables[static_cast<size_t>(expr.index)].type;
    for (const auto& field : schema::ArrowSchemaOf(type)->fields()) {
      if (field->type()->id() != arrow::Type::LARGE_BINARY) {
        (*reads)[expr.index].insert(field->name());
      }
    }
  }
  for (const BoundExpr& arg : expr.args) {
    AddReads(query, arg, reads);
  }
}

/// Read what some expressions need over a relation, each table once.
Status Prepare(Session* session, const std::vector<const BoundExpr*>& exprs,
               const Relation& relation) {
  std::map<int, std::set<std::string>> reads;
  for (const BoundExpr* expr : exprs) {
    AddReads(session->query(), *expr, &reads);
  }
  for (const auto& [variable, columns] : reads) {
    OG_ASSIGN_OR_RETURN(TableColumns * table, session->TableOf(variable));
    OG_RETURN_NOT_OK(table->Prepare(columns, relation.columns[static_cast<size_t>(variable)]));
  }
  return Status::OK();
}

Result<Column> MakeEntity(Session* session, int variable, const Relation& relation) {
  const schema::TypeDef& type = *session->query().variables[static_cast<size_t>(variable)].type;
  OG_ASSIGN_OR_RETURN(TableColumns * table, session->TableOf(variable));
  const Positions& positions = relation.columns[static_cast<size_t>(variable)];
  const auto physical = schema::ArrowSchemaOf(type);
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  const auto add = [&](const std::string& name, const std::string& column) -> Status {
    OG_ASSIGN_OR_RETURN(Column values, table->Take(column, positions));
    fields.push_back(arrow::field(name, values->type()));
    columns.push_back(std::move(values));
    return Status::OK();
  };
  OG_RETURN_NOT_OK(add("@id", schema::kIdColumn));
  if (type.is_edge()) {
    OG_RETURN_NOT_OK(add("@src", schema::kSrcColumn));
    OG_RETURN_NOT_OK(add("@dst", schema::kDstColumn));
  }
  for (size_t i = 0; i < type.properties.size(); ++i) {
    // A Blob is no value that a query reads.
    if (type.properties[i].type.scalar != schema::ScalarType::kBlob) {
      const int column = schema::ColumnOf(type, static_cast<int>(i));
      OG_RETURN_NOT_OK(add(type.properties[i].name, physical->field(column)->name()));
    }
  }
  OG_ASSIGN_OR_RETURN(const auto entity, arrow::StructArray::Make(columns, fields));
  return Column(entity);
}

/// Keys of `order` over a relation, then the ids of all named variables, so that the order is
/// total.
Result<std::vector<SortColumn>> SortKeysOf(Session* session, const Relation& relation) {
  const BoundQuery& query = session->query();
  const size_t width = query.columns.size();
  std::vector<BoundExpr> ids;
  std::map<std::string, int> by_name;
  for (const int variable : query.match.variables) {
    const std::string& name = query.variables[static_cast<size_t>(variable)].name;
    if (!name.empty()) {
      by_name.emplace(name, variable);
    }
  }
  for (const auto& [name, variable] : by_name) {
    BoundExpr id;
    id.kind = BoundExpr::Kind::kColumn;
    id.index = variable;
    id.column = schema::kIdColumn;
    ids.push_back(std::move(id));
  }
  std::vector<std::pair<const BoundExpr*, bool>> wanted;
  for (const BoundOrder& key : query.order) {
    const auto column = static_cast<size_t>(key.column);
    wanted.emplace_back(
        column < width ? &query.columns[column].expr : &query.hidden[column - width],
        key.descending);
  }
  for (const BoundExpr& id : ids) {
    wanted.emplace_back(&id, false);
  }
  std::vector<const BoundExpr*> exprs;
  for (const auto& [expr, descending] : wanted) {
    exprs.push_back(expr);
  }
  OG_RETURN_NOT_OK(Prepare(session, exprs, relation));
  std::vector<SortColumn> keys;
  for (const auto& [expr, descending] : wanted) {
    OG_ASSIGN_OR_RETURN(Column values, MakeColumn(session, *expr, relation));
    keys.push_back({std::move(values), descending});
  }
  return keys;
}

Result<arrow::ArrayVector> ProjectRows(Session* session, Relation relation,
                                       std::optional<uint64_t> limit) {
  const BoundQuery& query = session->query();
  if (!query.order.empty() && relation.rows > 1) {
    OG_ASSIGN_OR_RETURN(const std::vector<SortColumn> keys, SortKeysOf(session, relation));
    OG_ASSIGN_OR_RETURN(const Positions order, SortRows(keys, relation.rows, limit));
    OG_ASSIGN_OR_RETURN(relation, relation.TakeRows(order));
  }
  if (limit && *limit < static_cast<uint64_t>(relation.rows)) {
    OG_ASSIGN_OR_RETURN(relation, relation.TakeRows(AllPositions(static_cast<int64_t>(*limit))));
  }
  std::vector<const BoundExpr*> exprs;
  for (const BoundColumn& column : query.columns) {
    exprs.push_back(&column.expr);
  }
  OG_RETURN_NOT_OK(Prepare(session, exprs, relation));
  arrow::ArrayVector columns;
  for (const BoundExpr* expr : exprs) {
    OG_ASSIGN_OR_RETURN(Column values, MakeColumn(session, *expr, relation));
    columns.push_back(std::move(values));
  }
  return columns;
}

Result<arrow::ArrayVector> ProjectGroups(Session* session, const Relation& relation,
                                         std::optional<uint64_t> limit) {
  const BoundQuery& query = session->query();
  OG_ASSIGN_OR_RETURN(arrow::ArrayVector columns, AggregateRows(session, relation));
  const int64_t rows = columns[0]->length();
  if (!query.order.empty() && rows > 1) {
    std::vector<SortColumn> keys;
    for (const BoundOrder& key : query.order) {
      keys.push_back({columns[static_cast<size_t>(key.column)], key.descending});
    }
    // What groups is unlike in every two rows: as last keys it makes the order total.
    for (size_t i = 0; i < query.columns.size(); ++i) {
      if (!query.columns[i].expr.has_aggregate()) {
        keys.push_back({columns[i], false});
      }
    }
    OG_ASSIGN_OR_RETURN(const Positions order, SortRows(keys, rows, limit));
    for (Column& column : columns) {
      OG_ASSIGN_OR_RETURN(column, TakeValues(column, order));
    }
  }
  columns.resize(query.columns.size());
  if (limit && *limit < static_cast<uint64_t>(columns[0]->length())) {
    for (Column& column : columns) {
      column = column->Slice(0, static_cast<int64_t>(*limit));
    }
  }
  return columns;
}

}  // namespace

Result<Column> MakeColumn(Session* session, const BoundExpr& expr, const Relation& relation) {
  if (expr.kind == BoundExpr::Kind::kEntity) {
    return MakeEntity(session, expr.index, relation);
  }
  return EvaluateColumn(expr, session->OverRelation(relation));
}

Result<std::shared_ptr<arrow::Table>> Project(Session* session, const Relation& relation,
                                              std::optional<uint64_t> limit) {
  const BoundQuery& query = session->query();
  arrow::ArrayVector columns;
  if (query.aggregated) {
    OG_ASSIGN_OR_RETURN(columns, ProjectGroups(session, relation, limit));
  } else {
    OG_ASSIGN_OR_RETURN(columns, ProjectRows(session, relation, limit));
  }
  arrow::FieldVector fields;
  for (size_t i = 0; i < columns.size(); ++i) {
    fields.push_back(arrow::field(query.columns[i].name, columns[i]->type()));
  }
  return arrow::Table::Make(arrow::schema(std::move(fields)), columns, columns[0]->length());
}

}  // namespace omnigraph::query
