/// \file
/// The rows of a graph in memory as a real graph: Lance tables behind a published snapshot.
#pragma once

#include <memory>

#include "omnigraph/query/memory_source.h"
#include "omnigraph/query/snapshot_source.h"

namespace omnigraph::query::testing {

/// Write the rows of `rows` into a new graph in memory: several small fragments per table, with
/// rows in between that a second commit deletes.
Result<std::shared_ptr<const SnapshotSource>> MakeRealGraph(const MemorySource& rows);

}  // namespace omnigraph::query::testing
