/// \file
/// The embedded API: what the program and the server share. Whatever one of them can do, the other
/// can.
///
/// An Engine is one graph, opened in this process. Results are values of the layers below;
/// engine/json.h gives each its JSON shape.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/ingest/repair.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/history.h"
#include "omnigraph/graph/write/load.h"
#include "omnigraph/query/result.h"

namespace omnigraph::engine {

/// Settings of one Engine.
struct EngineOptions {
  std::string actor;  ///< who commits, UTF-8; empty: `omnigraph`
  graph::IngestOptions
      ingest;  ///< for streaming; its address is told to processes that come for our shards
};

/// One query of a `.gq` text.
struct QueryRequest {
  std::string text;         ///< the whole `.gq` text
  std::string name;         ///< which query of it; may be empty where there is just one
  std::string params_json;  ///< JSON object; may be empty
};

/// One table of the graph as an outside reader would open it.
struct TableInfo {
  std::string kind;  ///< `node`, `edge`, `rejects` or `manifest`
  std::string type;  ///< empty for the last two
  std::string path;  ///< below the graph's root
  int64_t rows = 0;
  uint64_t version = 0;   ///< the version that the snapshot names; detached ones have bit 63 set
  bool streamed = false;  ///< enrolled for streaming
};

/// Thread-safe. Close() before the last reference goes, or leave the closing to the destructor,
/// which drops its errors.
class Engine {
 public:
  /// Create a graph at `uri`. Errors: kInvalid (`engine.actor`: not UTF-8); those of
  /// graph::Graph::Init and store::OpenStore.
  static Status Init(const std::string& uri, std::string_view schema_text,
                     const std::string& actor);

  /// Open the graph at `uri`. Claims nothing until Ingest() is called.
  /// Errors: kInvalid (`engine.actor`), kNotFound (`graph.not_found`); those of store::OpenStore.
  static Result<std::shared_ptr<Engine>> Open(const std::string& uri, EngineOptions options);
  ~Engine();

  /// All streaming of this process; started at the first call. Errors: those of
  /// graph::StreamIngest::Start.
  Result<graph::StreamIngest*> Ingest();
  /// Fold everything acked before the call: by the owner where this process is one, else from the
  /// log (W3).
  Result<graph::FoldReport> Fold();
  /// Never blocks on ingest.
  Result<graph::IngestStatus> IngestStatus();

  /// Replace a torn last entry in the log of a type. Errors: graph::RepairLog.
  Result<graph::LogRepair> RepairLog(std::string_view type, bool accept_loss);

  /// Rejected rows of the newest snapshot, newest first.
  Result<std::vector<graph::Reject>> Rejects(const graph::RejectFilter& filter);
  /// Open rejects by code.
  Result<std::map<std::string, int64_t>> CountRejects();

  /// Load one input as one commit, by this engine's actor. Errors and atomicity: write::Load.
  Result<write::LoadReport> Load(write::ByteSource* source, write::LoadOptions options);

  /// Run a query on the newest snapshot, which it holds to its end.
  Result<query::QueryResult> Query(const QueryRequest& request);

  /// Write every row as NDJSON, nodes before edges. `types` empty: all. Errors: kNotFound
  /// (`export.unknown_type`), and those of `write`.
  Status Export(const std::vector<std::string>& types,
                const std::function<Status(std::string_view)>& write);

  Result<std::vector<graph::CommitRecord>> Commits(int64_t limit);
  Result<std::string> SchemaText();
  Result<std::vector<TableInfo>> Tables();

  const std::string& uri() const;

  /// Settle what is in flight and give the shards back. Idempotent.
  Status Close();

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::engine
