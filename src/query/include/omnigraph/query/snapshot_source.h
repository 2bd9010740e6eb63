/// \file
/// A snapshot of a graph as a source of rows: the tables that it names, at the versions that it
/// names.
#pragma once

#include <memory>

#include "omnigraph/query/source.h"

namespace omnigraph::lance {
class Table;
}  // namespace omnigraph::lance

namespace omnigraph::graph {
class Graph;
struct Snapshot;
}  // namespace omnigraph::graph

namespace omnigraph::query {

/// One version of a Lance table as a source of rows. Its identity is its path and version, so a
/// QueryCache serves the tables of one graph.
std::shared_ptr<const TableSource> MakeLanceSource(std::shared_ptr<const lance::Table> table);

/// Tables are opened when a query first asks for them. Immutable and Thread-safe.
class SnapshotSource : public GraphSource {
 public:
  /// Errors: kNotFound (`schema.not_found`), any kind from the store.
  static Result<std::shared_ptr<const SnapshotSource>> Make(
      std::shared_ptr<graph::Graph> graph, std::shared_ptr<const graph::Snapshot> snapshot);

  std::shared_ptr<const schema::Catalog> catalog() const override { return catalog_; }
  /// Errors: kNotFound (`table.unknown`), kCorruption (`table.missing`), any kind from the store.
  Result<std::shared_ptr<const TableSource>> Open(const schema::TypeDef& type) const override;

 private:
  SnapshotSource(std::shared_ptr<graph::Graph> graph,
                 std::shared_ptr<const graph::Snapshot> snapshot,
                 std::shared_ptr<const schema::Catalog> catalog);

  std::shared_ptr<graph::Graph> graph_;
  std::shared_ptr<const graph::Snapshot> snapshot_;
  std::shared_ptr<const schema::Catalog> catalog_;
};

}  // namespace omnigraph::query
