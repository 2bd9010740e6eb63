/// \file
/// `_ingest_rejects`: rows that were acknowledged and that a fold could not apply, with their
/// reason.
///
/// Columns and states: docs/format/ingest-rejects.md. Written by the same publish as the fold that
/// rejected them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/rejects_schema.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace arrow {
class RecordBatch;
}  // namespace arrow

namespace omnigraph::graph {

class Graph;

/// Codes of rejections that a fold finds. They are stable and stand in docs/ingest.md.
inline constexpr std::string_view kRejectEndpointMissing = "edge.endpoint_missing";
inline constexpr std::string_view kRejectUnique = "constraint.unique";
inline constexpr std::string_view kRejectCard = "constraint.card";
/// Prefix-free code of a row from an entry without our mark that fails the whole validation (F6) is
/// the validator's.

/// One rejected row. Value type.
struct Reject {
  std::string id;     ///< ULID
  std::string state;  ///< `open`, `replayed`, `discarded`
  std::chrono::microseconds acked_at{0};
  std::chrono::microseconds rejected_at{0};
  std::string branch;
  std::string kind;  ///< `node` or `edge`
  std::string type;
  std::string entity_id;
  std::string row;  ///< canonical JSON of the admitted row
  std::string code;
  std::string message;
  std::string actor;
  std::string producer;
  uint64_t sequence = 0;
  TableId table_id = 0;
  Uuid shard;
  uint64_t epoch = 0;
  uint64_t position = 0;
  std::string commit_id;  ///< the fold that rejected it
  std::string replayed_as;
};

/// Rows of the table `_ingest_rejects` (RejectsSchema()).
Result<std::shared_ptr<arrow::RecordBatch>> RejectsBatch(const std::vector<Reject>& rejects);

/// Which rejects to list; empty members select all.
struct RejectFilter {
  std::string state;
  std::string type;
  std::string code;
  int64_t limit = 100;
};

/// Rejects of a snapshot, newest first.
Result<std::vector<Reject>> ListRejects(Graph& graph, const Snapshot& snapshot,
                                        const RejectFilter& filter);
/// Number of open rejects by code. Cost: reads two columns of the table.
Result<std::map<std::string, int64_t>> CountRejects(Graph& graph, const Snapshot& snapshot);

}  // namespace omnigraph::graph
