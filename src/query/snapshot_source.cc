#include "omnigraph/query/snapshot_source.h"

#include <utility>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace omnigraph::query {

SnapshotSource::SnapshotSource(std::shared_ptr<graph::Graph> graph,
                               std::shared_ptr<const graph::Snapshot> snapshot,
                               std::shared_ptr<const schema::Catalog> catalog)
    : graph_(std::move(graph)), snapshot_(std::move(snapshot)), catalog_(std::move(catalog)) {}

Result<std::shared_ptr<const SnapshotSource>> SnapshotSource::Make(
    std::shared_ptr<graph::Graph> graph, std::shared_ptr<const graph::Snapshot> snapshot) {
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const schema::Catalog> catalog, graph->CatalogOf(*snapshot));
  return std::shared_ptr<const SnapshotSource>(
      new SnapshotSource(std::move(graph), std::move(snapshot), std::move(catalog)));
}

Result<std::shared_ptr<const TableSource>> SnapshotSource::Open(const schema::TypeDef& type) const {
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const lance::Table> table,
                      graph_->OpenTable(*snapshot_, type.table_id));
  return MakeLanceSource(std::move(table));
}

}  // namespace omnigraph::query
