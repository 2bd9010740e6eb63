/// \file
/// Promotion: the published (detached) version of a table becomes the next ordinary one, so that an
/// outside reader that opens the table sees it. Idempotent, by anybody, never decides anything
/// (C7).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace omnigraph::graph {

class Graph;

/// What promotion found and did for one table.
struct Promotion {
  TableId table_id = 0;
  uint64_t ordinary_version = 0;  ///< the latest ordinary version afterwards
  uint64_t promoted_version = 0;  ///< the graph's version that it holds
  bool moved = false;             ///< this call put it
  bool foreign = false;           ///< an outside writer's version was gone over
};

/// An ordinary version that an outside writer put over the graph's.
struct ForeignVersion {
  TableId table_id = 0;
  std::string type;
  uint64_t version = 0;
};

/// Tables of a snapshot whose newest ordinary version is not the graph's own. It decides nothing:
/// the next promotion goes over it.
/// Errors: any of the store.  Cost: per table two or three reads.
Result<std::vector<ForeignVersion>> FindForeignVersions(Graph& graph, const Snapshot& snapshot);

/// Promote tables to the graph's head, which is read after the latest ordinary versions (C7).
///
/// Tables that are promoted already cost their reads only.
/// Errors: any of the store; kConflict (`promote.contended`).
/// Cost:   per table two reads (a listing the first time), and three puts when it moved; two reads
/// for the head.
Result<std::vector<Promotion>> PromoteTables(Graph& graph, const std::vector<TableId>& tables);
/// The same for every table of the graph.
Result<std::vector<Promotion>> PromoteAll(Graph& graph);

}  // namespace omnigraph::graph
