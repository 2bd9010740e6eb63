#include "omnigraph/engine/engine.h"

#include <arrow/record_batch.h>
#include <arrow/util/utf8.h>

#include <algorithm>
#include <map>
#include <utility>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/sweeper.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/graph/write/row_parser.h"
#include "omnigraph/lance/table/scan.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/query/cache.h"
#include "omnigraph/query/executor.h"
#include "omnigraph/query/snapshot_source.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::engine {
namespace {

constexpr const char* kDefaultActor = "omnigraph";
/// Text of an export that is handed on at a time.
constexpr size_t kExportChunkBytes = size_t{256} << 10;

/// Well below the grace of the sweep.
constexpr std::chrono::hours kLongestLoad{20};

/// An actor goes into text columns and JSON that others read.
Status CheckActor(const std::string& actor) {
  arrow::util::InitializeUTF8();
  return arrow::util::ValidateUTF8(actor)
             ? Status::OK()
             : Invalid("engine.actor", "the name of who commits is not UTF-8 text");
}

}  // namespace

struct Engine::Impl {
  std::string uri;
  EngineOptions options;
  std::shared_ptr<graph::Graph> graph;
  query::QueryCache cache;
  runtime::Mutex mutex;
  std::unique_ptr<graph::StreamIngest> ingest OG_GUARDED_BY(mutex);
  bool closed OG_GUARDED_BY(mutex) = false;

  graph::StreamIngest* StartedIngest() {
    const runtime::MutexLock lock(mutex);
    return ingest.get();
  }
  Status ExportType(const graph::Snapshot& snapshot, const schema::TypeDef& type,
                    const std::function<Status(std::string_view)>& write);
};

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  if (impl_ != nullptr) {
    (void)Close();
  }
}

Status Engine::Init(const std::string& uri, std::string_view schema_text,
                    const std::string& actor) {
  OG_RETURN_NOT_OK(CheckActor(actor));
  // A pattern that no row could pass through is found before there is a graph.
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      schema::CompileSchema(schema_text, nullptr, runtime::NewId64));
  OG_RETURN_NOT_OK(write::ValidatePatterns(*catalog));
  OG_ASSIGN_OR_RETURN(std::shared_ptr<store::ObjectStore> store, store::OpenStore(uri));
  return graph::Graph::Init(std::move(store), schema_text, actor.empty() ? kDefaultActor : actor)
      .status();
}

Result<std::shared_ptr<Engine>> Engine::Open(const std::string& uri, EngineOptions options) {
  OG_RETURN_NOT_OK(CheckActor(options.actor));
  auto impl = std::make_unique<Impl>();
  impl->uri = uri;
  if (options.actor.empty()) {
    options.actor = kDefaultActor;
  }
  impl->options = std::move(options);
  OG_ASSIGN_OR_RETURN(std::shared_ptr<store::ObjectStore> store, store::OpenStore(uri));
  Result<std::shared_ptr<graph::Graph>> graph = graph::Graph::Open(std::move(store));
  if (IsNotFound(graph.status())) {
    return NotFound(
        "graph.not_found",
        "there is no graph at '" + uri + "': create one with `omnigraph init`, or check the path");
  }
  OG_ASSIGN_OR_RETURN(impl->graph, std::move(graph));
  return std::shared_ptr<Engine>(new Engine(std::move(impl)));
}

const std::string& Engine::uri() const {
  return impl_->uri;
}

Result<graph::StreamIngest*> Engine::Ingest() {
  const runtime::MutexLock lock(impl_->mutex);
  if (impl_->closed) {
    return Unavailable("engine.closed",
                       "this process is closing the graph; send the request again elsewhere");
  }
  if (impl_->ingest == nullptr) {
    OG_ASSIGN_OR_RETURN(impl_->ingest,
                        graph::StreamIngest::Start(impl_->graph, impl_->options.ingest));
  }
  return impl_->ingest.get();
}

Result<graph::FoldReport> Engine::Fold() {
  if (graph::StreamIngest* ingest = impl_->StartedIngest()) {
    return ingest->Fold();
  }
  OG_RETURN_NOT_OK(impl_->graph->Refresh().status());
  return graph::FoldFromLog(*impl_->graph, impl_->options.ingest);
}

Result<graph::IngestStatus> Engine::IngestStatus() {
  if (graph::StreamIngest* ingest = impl_->StartedIngest()) {
    return ingest->Status();
  }
  OG_RETURN_NOT_OK(impl_->graph->Refresh().status());
  return graph::StatusFromLog(*impl_->graph);
}

Result<graph::LogRepair> Engine::RepairLog(std::string_view type, bool accept_loss) {
  return graph::RepairLog(*impl_->graph, type, accept_loss, impl_->options.ingest.takeover_after);
}

Result<std::vector<graph::Reject>> Engine::Rejects(const graph::RejectFilter& filter) {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  return graph::ListRejects(*impl_->graph, *snapshot, filter);
}

Result<std::map<std::string, int64_t>> Engine::CountRejects() {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  return graph::CountRejects(*impl_->graph, *snapshot);
}

Result<write::LoadReport> Engine::Load(write::ByteSource* source, write::LoadOptions options) {
  options.actor = impl_->options.actor;
  options.publish_before = runtime::WallNow() + kLongestLoad;
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  const bool streams = std::ranges::any_of(
      snapshot->tables, [](const auto& entry) { return entry.second.enrolled(); });
  if (streams) {
    // A row acknowledged before this load must not be folded over it later (G12).
    OG_RETURN_NOT_OK(Fold().status());
  }
  OG_ASSIGN_OR_RETURN(write::LoadReport report, write::Load(impl_->graph.get(), source, options));
  const Result<bool> turn = graph::TakeSweepTurn(*impl_->graph);
  if (turn.ok() && *turn) {
    (void)graph::Sweep(*impl_->graph, {});  // what is left stays for another day
  }
  return report;
}

Result<query::QueryResult> Engine::Query(const QueryRequest& request) {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const query::SnapshotSource> source,
                      query::SnapshotSource::Make(impl_->graph, snapshot));
  query::ExecuteOptions options;
  options.now_us = runtime::WallNow().count();
  options.cache = &impl_->cache;
  query::QueryRequest inner;
  inner.text = request.text;
  inner.name = request.name;
  inner.params_json = request.params_json;
  OG_ASSIGN_OR_RETURN(query::QueryResult result, query::RunQuery(inner, *source, options));
  result.target.branch = snapshot->branch;
  result.target.graph_commit_id = snapshot->head;
  return result;
}

Status Engine::Impl::ExportType(const graph::Snapshot& snapshot, const schema::TypeDef& type,
                                const std::function<Status(std::string_view)>& write) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> table,
                      graph->OpenTable(snapshot, type.table_id));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, table->Scan());
  std::string text;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      break;
    }
    OG_RETURN_NOT_OK(write::AppendExportLines(type, *batch, &text));
    if (text.size() >= kExportChunkBytes) {
      OG_RETURN_NOT_OK(write(text));
      text.clear();
    }
  }
  return text.empty() ? Status::OK() : write(text);
}

Status Engine::Export(const std::vector<std::string>& types,
                      const std::function<Status(std::string_view)>& write) {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      impl_->graph->CatalogOf(*snapshot));
  std::vector<const schema::TypeDef*> chosen;
  for (const std::string& name : types) {
    const schema::TypeDef* type = catalog->FindNode(name);
    type = type != nullptr ? type : catalog->FindEdge(name);
    if (type == nullptr) {
      return NotFound("export.unknown_type",
                      "the schema has no type '" + name + "'; `omnigraph schema show` lists them",
                      Place{.property = name});
    }
    chosen.push_back(type);
  }
  for (const schema::TypeDef& type : catalog->types()) {
    const bool wanted =
        types.empty() || std::find(chosen.begin(), chosen.end(), &type) != chosen.end();
    if (wanted) {
      OG_RETURN_NOT_OK(impl_->ExportType(*snapshot, type, write));
    }
  }
  return Status::OK();
}

Result<std::vector<graph::CommitRecord>> Engine::Commits(int64_t limit) {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  return impl_->graph->Commits(*snapshot, limit);
}

Result<std::string> Engine::SchemaText() {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      impl_->graph->CatalogOf(*snapshot));
  return catalog->text();
}

Result<std::vector<TableInfo>> Engine::Tables() {
  OG_ASSIGN_OR_RETURN(const graph::SnapshotRef snapshot, impl_->graph->Refresh());
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> manifest,
                      impl_->graph->OpenManifest(*snapshot));
  std::vector<TableInfo> tables;
  for (const auto& [id, state] : snapshot->tables) {
    TableInfo info;
    info.kind = graph::TableKindName(state.kind);
    info.type = state.kind == graph::TableKind::kRejects ? std::string() : state.name;
    info.path = state.path();
    info.rows = state.rows;
    info.version = state.version;
    info.streamed = state.enrolled();
    tables.push_back(std::move(info));
  }
  std::sort(tables.begin(), tables.end(), [](const TableInfo& a, const TableInfo& b) {
    const auto rank = [](const TableInfo& info) {
      return info.kind == "node" ? 0 : info.kind == "edge" ? 1 : 2;
    };
    return std::pair(rank(a), a.type) < std::pair(rank(b), b.type);
  });
  TableInfo history;
  history.kind = "manifest";
  history.path = graph::kManifestPath;
  history.rows = static_cast<int64_t>(manifest->CountRows());
  history.version = snapshot->sequence;
  tables.push_back(std::move(history));
  return tables;
}

Status Engine::Close() {
  const runtime::MutexLock lock(impl_->mutex);
  impl_->closed = true;
  return impl_->ingest == nullptr ? Status::OK() : impl_->ingest->Stop();
}

}  // namespace omnigraph::engine
