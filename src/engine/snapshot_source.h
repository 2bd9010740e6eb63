/// \file
/// A snapshot's tables as the query layer sees tables.
#pragma once

#include <memory>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/query/source.h"

namespace omnigraph::engine {

/// One snapshot of a graph, for queries. Immutable and Thread-safe.
class SnapshotSource : public query::GraphSource {
 public:
  SnapshotSource(std::shared_ptr<graph::Graph> graph, graph::SnapshotRef snapshot,
                 std::shared_ptr<const schema::Catalog> catalog);

  std::shared_ptr<const schema::Catalog> catalog() const override { return catalog_; }
  Result<std::shared_ptr<const query::TableSource>> Open(
      const schema::TypeDef& type) const override;

 private:
  std::shared_ptr<graph::Graph> graph_;
  graph::SnapshotRef snapshot_;
  std::shared_ptr<const schema::Catalog> catalog_;
};

}  // namespace omnigraph::engine
