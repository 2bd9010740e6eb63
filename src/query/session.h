/// \file
/// What one execution shares: the plan, its parameters, the tables it has opened.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "adjacency.h"
#include "columns.h"
#include "evaluate.h"
#include "omnigraph/query/executor.h"

namespace omnigraph::query {

/// Rows of a match: for each bound variable the position of its entity.
struct Relation {
  int64_t rows = 1;
  std::vector<Positions> columns;  ///< by variable; nullptr: not bound
  Positions origin;                ///< inside a block: the row outside; else nullptr

  bool IsBound(int variable) const { return columns[static_cast<size_t>(variable)] != nullptr; }
  /// The same with some of its rows, in the order given.
  Result<Relation> TakeRows(const Positions& rows) const;
  /// The same with the rows where `mask` holds.
  Result<Relation> Filter(const arrow::BooleanArray& mask) const;
};

/// One execution of one query. Single-owner.
class Session {
 public:
  Session(const BoundQuery& query, const Parameters& params, const GraphSource& source,
          const ExecuteOptions& options);

  const BoundQuery& query() const { return query_; }
  const Parameters& params() const { return params_; }
  const ExecuteOptions& options() const { return options_; }

  /// The table of a type. Errors: kExhausted (`query.table_too_large`) from 2^31 rows on.
  Result<TableColumns*> TableOf(const schema::TypeDef& type);
  Result<TableColumns*> TableOf(int variable);
  /// An adjacency that holds at least all edges within some hops of the starts.
  Result<std::shared_ptr<const Adjacency>> AdjacencyFor(const schema::TypeDef& edge,
                                                        Direction direction,
                                                        const arrow::Int32Array& starts,
                                                        uint64_t hops);
  /// Leaves of expressions over all rows of the table of `variable`.
  Leaves OverTable(int variable, int64_t rows);
  /// Leaves of expressions over the rows of a relation, which must outlive the result.
  Leaves OverRelation(const Relation& relation);

 private:
  struct OpenTable {
    std::unique_ptr<TableColumns> columns;
    bool is_shared = false;  // kept in the caller's cache
  };

  const BoundQuery& query_;
  const Parameters& params_;
  const GraphSource& source_;
  const ExecuteOptions& options_;
  std::shared_ptr<arrow::Scalar> now_;
  QueryCache local_cache_;  // for tables without an identity, or without a cache
  std::map<const schema::TypeDef*, OpenTable> tables_;
};

/// `0 .. count-1`.
Positions AllPositions(int64_t count);

}  // namespace omnigraph::query
