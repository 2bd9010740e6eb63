/// \file
/// What only a whole input and the graph can tell: duplicates, endpoints, `@unique`, `@card`.
///
/// LoadKeys collects hashes of keys while rows stream by, then resolves them against a snapshot. It
/// may resolve again against a newer one (C1): the input's hashes stay as they are.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "error_list.h"
#include "key_index.h"
#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/write/load.h"
#include "omnigraph/graph/write/type_rows.h"

namespace omnigraph::graph {
class Graph;
}  // namespace omnigraph::graph

namespace omnigraph::write {

/// What the graph says about an input.
struct Resolution {
  /// Rows that the input replaces, by type index: ascending addresses in the table of the snapshot.
  std::map<int, std::vector<uint64_t>> replaced;
  /// Tables that the checks read.
  std::set<graph::TableId> read;
};

/// Single-owner.
class LoadKeys {
 public:
  LoadKeys(const schema::Catalog& catalog, LoadMode mode, SpillSpace* space);
  ~LoadKeys();

  /// Take the keys of a batch whose first row is row `first` of its type in this input.
  /// Errors of rows go to `errors`; the status is the store's.
  Status Add(int type_index, const RowBatch& rows, uint64_t first, ErrorList* errors);

  /// All of the input was added: find the duplicates that a spill kept apart.
  Status FinishInput(ErrorList* errors);

  /// Check against a snapshot. Row errors go to `errors`.
  /// Errors: any of the graph and the store.
  Result<Resolution> Resolve(graph::Graph* graph, const graph::Snapshot& snapshot,
                             ErrorList* errors);

  /// True if rows of the type occurred.
  bool occurs(int type_index) const;
  /// True if the input brought or derived ids of rows of the type.
  bool brings_ids(int type_index) const;
  /// Rows that a later line of the same id replaced within this input (mode merge), ascending.
  const std::vector<uint64_t>& superseded(int type_index) const;

 private:
  class Resolver;
  struct Unique;
  struct TypeKeys;

  Status AddId(TypeKeys* keys, std::string_view id, int64_t line, uint64_t number,
               ErrorList* errors);
  Status AddEndpoint(int node_index, int edge_index, bool from, std::string_view id, int64_t line);
  Status AddUniques(TypeKeys* keys, const RowBatch& rows, ErrorList* errors);
  Status AddCards(TypeKeys* keys, const RowBatch& rows);
  void Duplicate(TypeKeys* keys, std::string_view id, int64_t line, int64_t other_line,
                 uint64_t older, ErrorList* errors);

  bool overwrites(int type_index) const {
    return mode_ == LoadMode::kOverwrite && occurs(type_index);
  }

  uint32_t KeepText(std::string_view text);
  std::string TextOf(uint32_t kept) const;

  const schema::Catalog& catalog_;
  LoadMode mode_;
  SpillSpace* space_;
  std::vector<std::unique_ptr<TypeKeys>> types_;
  /// Ids that messages may need, each behind its size; kept up to a bound.
  std::string texts_;
};

}  // namespace omnigraph::write
