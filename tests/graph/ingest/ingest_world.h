/// \file
/// A graph in memory with a stream into it, and readers of what came of the rows. For the tests of
/// this folder.
#pragma once

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::graph::testing {

inline constexpr std::string_view kSchema =
    "node Person @stream { name: String @key age: I32? email: String? @unique }\n"
    "node City @stream { name: String @key }\n"
    "node Note { text: String? }\n"
    "edge Knows: Person -> Person @stream { since: I32? }\n"
    "edge LivesIn: Person -> City @card(0..1) @stream\n"
    "edge About: Note -> City @stream\n";

/// Lines of NDJSON. `more` is JSON without braces, such as `"age":3`.
inline std::string Person(std::string_view name, std::string_view more = "") {
  return R"({"type":"Person","data":{"name":")" + std::string(name) + "\"" +
         (more.empty() ? "" : "," + std::string(more)) + "}}\n";
}
inline std::string City(std::string_view name) {
  return R"({"type":"City","data":{"name":")" + std::string(name) + "\"}}\n";
}
inline std::string Edge(std::string_view type, std::string_view from, std::string_view to,
                        std::string_view id = "", std::string_view data = "{}") {
  return R"({"edge":")" + std::string(type) + "\"," +
         (id.empty() ? "" : R"("id":")" + std::string(id) + "\",") + R"("from":")" +
         std::string(from) + R"(","to":")" + std::string(to) + R"(","data":)" + std::string(data) +
         "}\n";
}
inline std::string Delete(std::string_view kind, std::string_view type, std::string_view id) {
  return "{\"" + std::string(kind) + "\":\"" + std::string(type) + R"(","id":")" + std::string(id) +
         R"(","op":"delete"})" + "\n";
}

/// Options of a stream that folds only when told.
inline IngestOptions ByHand() {
  IngestOptions out;
  out.fold_in_background = false;
  out.wait_max = std::chrono::milliseconds(0);
  return out;
}

/// Every row of a type as export lines, by id.
inline std::map<std::string, std::string> RowsOf(Graph& graph, std::string_view type) {
  const SnapshotRef snapshot = graph.snapshot();
  auto catalog = graph.CatalogOf(*snapshot);
  OG_CHECK_OK(catalog);
  const schema::TypeDef* def = (*catalog)->FindNode(type);
  def = def != nullptr ? def : (*catalog)->FindEdge(type);
  OG_CHECK(def != nullptr);
  auto table = graph.OpenTable(*snapshot, def->table_id);
  OG_CHECK_OK(table);
  auto reader = (*table)->Scan();
  OG_CHECK_OK(reader);
  auto batches = (*reader)->ToRecordBatches();
  OG_CHECK_OK(batches);
  std::map<std::string, std::string> out;
  for (const auto& batch : *batches) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      std::string line;
      OG_CHECK_OK(write::AppendRowJson(*def, *batch, row, &line));
      const auto& ids = static_cast<const arrow::StringArray&>(*batch->column(0));
      OG_CHECK(out.emplace(ids.GetString(row), line).second);  // no id stands twice
    }
  }
  return out;
}

inline std::set<std::string> IdsOf(Graph& graph, std::string_view type) {
  std::set<std::string> out;
  for (const auto& [id, row] : RowsOf(graph, type)) {
    out.insert(id);
  }
  return out;
}

/// `src>dst` of every edge of a type.
inline std::multiset<std::string> EndsOf(Graph& graph, std::string_view type) {
  const SnapshotRef snapshot = graph.snapshot();
  auto table = graph.OpenTable(*snapshot, snapshot->FindTable(TableKind::kEdge, type)->id);
  OG_CHECK_OK(table);
  auto reader = (*table)->Scan({.columns = std::vector<std::string>{"src", "dst"}});
  OG_CHECK_OK(reader);
  auto batches = (*reader)->ToRecordBatches();
  OG_CHECK_OK(batches);
  std::multiset<std::string> out;
  for (const auto& batch : *batches) {
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      out.insert(static_cast<const arrow::StringArray&>(*batch->column(0)).GetString(row) + ">" +
                 static_cast<const arrow::StringArray&>(*batch->column(1)).GetString(row));
    }
  }
  return out;
}

inline std::vector<Reject> RejectsOf(Graph& graph) {
  auto rejects = ListRejects(graph, *graph.snapshot(), {.limit = 1'000'000});
  OG_CHECK_OK(rejects);
  return *rejects;
}

/// One process: a graph opened on a store, and its stream.
struct Process {
  std::shared_ptr<Graph> graph;
  std::unique_ptr<StreamIngest> ingest;

  /// Send lines in one session and wait until they are settled.
  SessionSummary Send(std::string_view lines, std::string actor = "tester") {
    auto session = ingest->OpenSession({.actor = std::move(actor)});
    OG_CHECK_OK(session);
    last_status = (*session)->Push(lines);
    const Status finished = (*session)->Finish();
    last_status = last_status.ok() ? finished : last_status;
    return (*session)->Summary();
  }
  FoldReport Fold() {
    auto report = ingest->Fold();
    OG_CHECK_OK(report);
    return *report;
  }
  Status last_status;
};

inline Process StartOn(std::shared_ptr<store::ObjectStore> store,
                       const IngestOptions& options = ByHand()) {
  auto graph = Graph::Open(std::move(store));
  OG_CHECK_OK(graph);
  auto ingest = StreamIngest::Start(*graph, options);
  OG_CHECK_OK(ingest);
  return Process{*graph, std::move(*ingest), Status::OK()};
}

}  // namespace omnigraph::graph::testing
