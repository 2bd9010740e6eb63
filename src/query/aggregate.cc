// Grouping and aggregation, by an Acero plan of a table source and an aggregate node.
#include <arrow/acero/api.h>
#include <arrow/compute/api.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/schema/physical.h"
#include "project.h"

namespace omnigraph::query {
namespace {

namespace acero = arrow::acero;
namespace compute = arrow::compute;

/// A group key: what Acero groups by, and how to get the values back.
struct GroupKey {
  Column column;
  Column dictionary;  ///< codes stand for these values; nullptr: the values themselves
  int entity = -1;    ///< positions of this variable stand for the entities
};

/// Group by small integers where possible: positions for entities and ids, codes for text that
/// occurs more often in the match than in its table.
Result<GroupKey> MakeKey(Session* session, const BoundExpr& expr, const Relation& relation) {
  GroupKey key;
  if (expr.kind == BoundExpr::Kind::kEntity) {
    key.column = relation.columns[static_cast<size_t>(expr.index)];
    key.entity = expr.index;
    return key;
  }
  if (expr.kind == BoundExpr::Kind::kColumn) {
    OG_ASSIGN_OR_RETURN(TableColumns * table, session->TableOf(expr.index));
    const Positions& positions = relation.columns[static_cast<size_t>(expr.index)];
    const bool is_dense = relation.rows > table->rows() / 4;
    if (is_dense && expr.column == schema::kIdColumn) {
      key.column = positions;
      OG_ASSIGN_OR_RETURN(key.dictionary, table->Get(expr.column));
      return key;
    }
    if (is_dense && expr.type.is_text()) {
      OG_ASSIGN_OR_RETURN(const auto codes, table->Dictionary(expr.column));
      key.dictionary = codes->dictionary();
      OG_ASSIGN_OR_RETURN(key.column, TakeValues(codes->indices(), positions));
      return key;
    }
  }
  OG_ASSIGN_OR_RETURN(key.column, MakeColumn(session, expr, relation));
  return key;
}

Result<Column> KeyValues(Session* session, const BoundExpr& expr, const GroupKey& key,
                         const Column& groups, const Relation& relation) {
  if (key.entity >= 0) {
    Relation grouped;
    grouped.rows = groups->length();
    grouped.columns.resize(relation.columns.size());
    grouped.columns[static_cast<size_t>(key.entity)] =
        std::static_pointer_cast<arrow::Int32Array>(groups);
    return MakeColumn(session, expr, grouped);
  }
  return key.dictionary == nullptr ? Result<Column>(groups) : TakeValues(key.dictionary, groups);
}

/// The argument of an aggregate as a column.
Result<Column> MakeArgument(Session* session, const BoundExpr& aggregate,
                            const Relation& relation) {
  const BoundExpr& arg = aggregate.args[0];
  if (arg.kind == BoundExpr::Kind::kEntity) {
    return Column(relation.columns[static_cast<size_t>(arg.index)]);  // never null
  }
  OG_ASSIGN_OR_RETURN(Column values, MakeColumn(session, arg, relation));
  if (aggregate.aggregate == Aggregate::kSum || aggregate.aggregate == Aggregate::kAvg) {
    return compute::Cast(*values, arrow::float64(), compute::CastOptions::Unsafe());
  }
  return values;
}

compute::Aggregate MakeAggregate(enum Aggregate function, bool grouped, std::string column) {
  std::string name;
  std::shared_ptr<compute::FunctionOptions> options =
      std::make_shared<compute::ScalarAggregateOptions>(/*skip_nulls=*/true, /*min_count=*/1);
  switch (function) {
    case Aggregate::kCount:
      name = "count";
      options = std::make_shared<compute::CountOptions>(compute::CountOptions::ONLY_VALID);
      break;
    case Aggregate::kSum:
      name = "sum";
      break;
    case Aggregate::kAvg:
      name = "mean";
      break;
    case Aggregate::kMin:
      name = "min";
      break;
    case Aggregate::kMax:
      name = "max";
      break;
  }
  std::string target = column;
  return {grouped ? "hash_" + name : name, std::move(options),
          std::vector<arrow::FieldRef>{arrow::FieldRef(std::move(target))}, std::move(column)};
}

/// All expressions that the result is made of.
std::vector<const BoundExpr*> OutputsOf(const BoundQuery& query) {
  std::vector<const BoundExpr*> outputs;
  for (const BoundColumn& column : query.columns) {
    outputs.push_back(&column.expr);
  }
  for (const BoundExpr& hidden : query.hidden) {
    outputs.push_back(&hidden);
  }
  return outputs;
}

}  // namespace

Result<arrow::ArrayVector> AggregateRows(Session* session, const Relation& relation) {
  const std::vector<const BoundExpr*> outputs = OutputsOf(session->query());
  std::vector<GroupKey> keys(outputs.size());
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  std::vector<arrow::FieldRef> key_refs;
  std::vector<compute::Aggregate> aggregates;
  const bool grouped = std::any_of(outputs.begin(), outputs.end(),
                                   [](const BoundExpr* expr) { return !expr->has_aggregate(); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::string name = std::to_string(i);
    if (outputs[i]->has_aggregate()) {
      OG_ASSIGN_OR_RETURN(Column argument, MakeArgument(session, *outputs[i], relation));
      columns.push_back(std::move(argument));
      aggregates.push_back(MakeAggregate(outputs[i]->aggregate, grouped, name));
    } else {
      OG_ASSIGN_OR_RETURN(keys[i], MakeKey(session, *outputs[i], relation));
      columns.push_back(keys[i].column);
      key_refs.emplace_back(name);
    }
    fields.push_back(arrow::field(name, columns.back()->type()));
  }
  const auto input = arrow::Table::Make(arrow::schema(fields), columns, relation.rows);
  acero::Declaration plan = acero::Declaration::Sequence(
      {{"table_source", acero::TableSourceNodeOptions(input)},
       {"aggregate", acero::AggregateNodeOptions(std::move(aggregates), std::move(key_refs))}});
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Table> table,
                      acero::DeclarationToTable(std::move(plan), /*use_threads=*/false));
  arrow::ArrayVector results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    OG_ASSIGN_OR_RETURN(Column values, Combine(*table->GetColumnByName(std::to_string(i))));
    if (!outputs[i]->has_aggregate()) {
      OG_ASSIGN_OR_RETURN(values, KeyValues(session, *outputs[i], keys[i], values, relation));
    }
    results.push_back(std::move(values));
  }
  return results;
}

}  // namespace omnigraph::query
