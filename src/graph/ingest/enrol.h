/// \file
/// Enrolment: the first stream write to a graph gives each table of a type that declares `@stream`
/// the MemWAL index entry, and the snapshot its shards, in one commit that is idempotent and cheap
/// to race.
#pragma once

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/lance/memwal/memwal_format.h"

namespace omnigraph::graph {

/// Where main's one shard of a table stands (B2).
lance::ShardLocation ShardOf(const Graph& graph, const TableState& table);

/// Make sure that a table is enrolled, and every other that will stream with it: one commit instead
/// of one for each type. Returns a snapshot that shows it.
/// Errors: kInvalid (`ingest.primary_key`), those of Publisher::Publish.
Result<SnapshotRef> Enrol(Graph& graph, TableId table, const std::string& actor);

}  // namespace omnigraph::graph
