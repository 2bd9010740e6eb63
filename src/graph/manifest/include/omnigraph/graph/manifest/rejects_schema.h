/// \file
/// Columns of `_ingest_rejects`, which every graph has from its creation on. What the rows mean,
/// and who writes them, is the ingest layer's: docs/format/ingest-rejects.md.
#pragma once

#include <memory>

namespace arrow {
class Schema;
}  // namespace arrow

namespace omnigraph::graph {

/// Arrow schema of the table `_ingest_rejects`.
const std::shared_ptr<arrow::Schema>& RejectsSchema();

}  // namespace omnigraph::graph
