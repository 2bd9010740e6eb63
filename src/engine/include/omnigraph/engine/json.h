/// \file
/// The JSON shapes that the program's --json and the server's bodies share: docs/http.md.
#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <string>
#include <vector>

#include "omnigraph/engine/engine.h"

namespace omnigraph::engine {

/// What a stream did, as the client is told at its end.
struct IngestOutcome {
  std::string branch = "main";
  graph::SessionSummary session;
  std::vector<graph::FoldReport>
      folds;             ///< folds during and after the stream that this process made
  uint64_t pending = 0;  ///< acked rows that are not folded yet, of all clients
  /// What became of the rows is summed over the folds; false leaves it out, where they took rows of
  /// others too and nobody can tell whose are whose.
  bool ends_known = true;
  Status fold_error;  ///< why the fold at the end, which was asked for, was not made
  double elapsed_s = 0;
};

/// Fill in what `ingest` tells of the rows of a stream that began at `before`: folds, pending rows,
/// and whether the stream was alone with the graph (it acked all rows that came, and none waited).
void TakeEnds(const graph::StreamIngest& ingest, const graph::IngestCounts& before,
              IngestOutcome* outcome);

boost::json::object ToJson(const IngestOutcome& outcome);
boost::json::object ToJson(const graph::FoldReport& report);
boost::json::object ToJson(const graph::IngestStatus& status);
boost::json::object ToJson(const graph::Reject& reject);
boost::json::object ToJson(const graph::CommitRecord& commit);
boost::json::object ToJson(const TableInfo& table);
boost::json::object ToJson(const write::LoadReport& report, write::LoadMode mode);
boost::json::object CountsToJson(const std::map<std::string, int64_t>& counts);
/// `{error, code, kind, retry, place?, effect?}`; the body of every failed request and of a failed
/// command with --json.
boost::json::object ErrorToJson(const Status& status);
/// Compact JSON text; numbers as people write them (0.112, not 1.12E-1).
std::string Serialize(const boost::json::value& value);
/// The place of an error as a prefix: `rows.ndjson:3:17: `. Empty where there is none.
std::string PlacePrefix(const Status& status);

}  // namespace omnigraph::engine
