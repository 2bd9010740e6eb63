#include "session.h"

#include <arrow/compute/api.h>
#include <fmt/format.h>

#include <limits>
#include <numeric>
#include <utility>

#include "expand.h"
#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::query {

Positions AllPositions(int64_t count) {
  std::vector<int32_t> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return MakePositions(std::move(values));
}

Result<Relation> Relation::TakeRows(const Positions& wanted) const {
  Relation taken;
  taken.rows = wanted->length();
  const auto take = [&](const Positions& column) -> Result<Positions> {
    if (column == nullptr) {
      return Positions();
    }
    OG_ASSIGN_OR_RETURN(const Column values, TakeValues(column, wanted));
    return std::static_pointer_cast<arrow::Int32Array>(values);
  };
  for (const Positions& column : columns) {
    OG_ASSIGN_OR_RETURN(Positions values, take(column));
    taken.columns.push_back(std::move(values));
  }
  OG_ASSIGN_OR_RETURN(taken.origin, take(origin));
  return taken;
}

Result<Relation> Relation::Filter(const arrow::BooleanArray& mask) const {
  if (mask.true_count() == rows) {
    return *this;
  }
  std::vector<int32_t> kept;
  kept.reserve(static_cast<size_t>(mask.true_count()));
  for (int64_t row = 0; row < rows; ++row) {
    if (mask.Value(row)) {
      kept.push_back(static_cast<int32_t>(row));
    }
  }
  return TakeRows(MakePositions(std::move(kept)));
}

Session::Session(const BoundQuery& query, const Parameters& params, const GraphSource& source,
                 const ExecuteOptions& options)
    : query_(query),
      params_(params),
      source_(source),
      options_(options),
      local_cache_(std::numeric_limits<int64_t>::max()) {
  schema::PropertyType date_time;
  date_time.scalar = schema::ScalarType::kDateTime;
  now_ = std::make_shared<arrow::TimestampScalar>(options.now_us / 1000,
                                                  schema::ArrowTypeOf(date_time));
}

Result<TableColumns*> Session::TableOf(const schema::TypeDef& type) {
  OpenTable& table = tables_[&type];
  if (table.columns == nullptr) {
    OG_ASSIGN_OR_RETURN(std::shared_ptr<const TableSource> source, source_.Open(type));
    if (source->rows() >= std::numeric_limits<int32_t>::max()) {
      return Exhausted("query.table_too_large",
                       fmt::format("{} has {} rows; a query reads tables of fewer than 2^31",
                                   type.name, source->rows()));
    }
    table.is_shared = options_.cache != nullptr && !source->identity().empty();
    std::string key = table.is_shared ? source->identity() : type.TablePath();
    table.columns = std::make_unique<TableColumns>(
        std::move(source), table.is_shared ? options_.cache : &local_cache_, std::move(key));
  }
  return table.columns.get();
}

Result<TableColumns*> Session::TableOf(int variable) {
  return TableOf(*query_.variables[static_cast<size_t>(variable)].type);
}

Result<std::shared_ptr<const Adjacency>> Session::AdjacencyFor(const schema::TypeDef& edge,
                                                               Direction direction,
                                                               const arrow::Int32Array& starts,
                                                               uint64_t hops) {
  const schema::TypeDef* source = query_.catalog->FindNode(edge.source);
  const schema::TypeDef* target = query_.catalog->FindNode(edge.target);
  OG_CHECK(source != nullptr && target != nullptr);
  EdgeTables tables;
  OG_ASSIGN_OR_RETURN(tables.edges, TableOf(edge));
  OG_ASSIGN_OR_RETURN(tables.sources, TableOf(*source));
  OG_ASSIGN_OR_RETURN(tables.targets, TableOf(*target));
  const bool is_shared =
      tables_[&edge].is_shared && tables_[source].is_shared && tables_[target].is_shared;
  QueryCache* cache = is_shared ? options_.cache : &local_cache_;
  if (auto found = FindAdjacency(tables, direction, cache)) {
    return found;
  }
  // What later queries find in the cache is worth making whole.
  constexpr int64_t kBytesPerEdge = 24;
  const bool is_kept = is_shared && tables.edges->rows() < cache->bytes_max() / kBytesPerEdge;
  if (!is_kept) {
    OG_ASSIGN_OR_RETURN(auto partial, PartialAdjacency(tables, direction, starts, hops));
    if (partial != nullptr) {
      return partial;
    }
  }
  return AdjacencyOf(tables, direction, cache);
}

Leaves Session::OverTable(int variable, int64_t rows) {
  Leaves leaves;
  leaves.params = &params_;
  leaves.now = now_;
  leaves.rows = rows;
  leaves.column = [this, variable](int other, const std::string& name) -> Result<Column> {
    OG_CHECK(other == variable);
    OG_ASSIGN_OR_RETURN(TableColumns * table, TableOf(variable));
    return table->Get(name);
  };
  return leaves;
}

Leaves Session::OverRelation(const Relation& relation) {
  Leaves leaves;
  leaves.params = &params_;
  leaves.now = now_;
  leaves.rows = relation.rows;
  leaves.column = [this, &relation](int variable, const std::string& name) -> Result<Column> {
    OG_ASSIGN_OR_RETURN(TableColumns * table, TableOf(variable));
    return table->Take(name, relation.columns[static_cast<size_t>(variable)]);
  };
  return leaves;
}

}  // namespace omnigraph::query
