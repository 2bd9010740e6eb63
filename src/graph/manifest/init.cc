// Creation of a graph: everything that version 2 of `__manifest` names is put first, and that
// version is the creation.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "graph_impl.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/rejects_schema.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::graph {
namespace {

constexpr uint64_t kCreationVersion = 2;

Status Exists() {
  return AlreadyExists("graph.exists", "there is a graph here already",
                       Place{.object = std::string(kManifestPath)});
}

/// Names at the root that an `init` which did not finish may have left.
bool IsOurs(std::string_view name) {
  static const std::set<std::string_view> names = {"__manifest.lance/",
                                                   "_ingest_rejects.lance/",
                                                   "_schemas/",
                                                   "nodes/",
                                                   "edges/",
                                                   "__processes/",
                                                   "__probe/"};
  return names.contains(name);
}

/// Refuse a folder that holds a graph, or something else than the remains of an `init`.
Status CheckFree(store::ObjectStore& store, const lance::TableLocation& manifest) {
  store::ListOptions options;
  options.delimited = true;
  OG_ASSIGN_OR_RETURN(const store::ListPage page, store.List("", options));
  if (!page.objects.empty()) {
    return AlreadyExists("graph.not_empty", "the folder is not empty: a graph needs one of its own",
                         Place{.object = page.objects.front().path});
  }
  for (const std::string& name : page.common_prefixes) {
    if (!IsOurs(name)) {
      return AlreadyExists("graph.not_empty",
                           "the folder is not empty: a graph needs one of its own",
                           Place{.object = name});
    }
  }
  const Result<lance::StoredManifest> newest =
      lance::ReadLatestManifest(manifest, lance::Look::kWriter);
  if (newest.ok()) {
    return newest->manifest.version >= kCreationVersion ? Exists() : Status::OK();
  }
  return IsNotFound(newest.status()) ? Status::OK() : newest.status();
}

Status PutOnce(store::ObjectStore& store, const std::string& path, const std::string& text) {
  const Status put = store.PutIfAbsent(path, store::BytesOf(text), store::PutStrength::kStrict);
  // Named by its content: whoever put it, it is the same.
  return IsAlreadyExists(put) ? store.MakeDurable(path) : put;
}

/// Create a table, or open the version 1 that an `init` which did not finish has left.
Result<std::shared_ptr<const lance::Table>> CreateOrOpen(
    const lance::TableLocation& location, const std::shared_ptr<arrow::Schema>& schema) {
  lance::CreateOptions options;
  options.primary_key = {"id"};
  options.guarded = true;
  Result<std::shared_ptr<const lance::Table>> made = lance::CreateTable(location, schema, options);
  if (made.ok() || !IsAlreadyExists(made.status())) {
    return made;
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const lance::Table> left,
                      lance::Table::Open(location, {.version = 1, .passes_guard = true}));
  OG_RETURN_NOT_OK(location.store->MakeDurable(left->stored().object));  // P5
  return left;
}

TableState StateOf(TableKind kind, std::string_view name, TableId id, uint64_t incarnation) {
  TableState out;
  out.kind = kind;
  out.name = name;
  out.id = id;
  out.incarnation = incarnation;
  out.version = 1;
  return out;
}

/// Create the table of every type and the rejects; fill in the snapshot's tables.
Status CreateTables(const std::shared_ptr<store::ObjectStore>& store,
                    const schema::Catalog& catalog, Snapshot* snapshot) {
  for (const schema::TypeDef& type : catalog.types()) {
    const TableState state = StateOf(type.is_node() ? TableKind::kNode : TableKind::kEdge,
                                     type.name, type.table_id, type.incarnation);
    OG_RETURN_NOT_OK(CreateOrOpen({store, state.path()}, schema::ArrowSchemaOf(type)).status());
    snapshot->tables.emplace(state.id, state);
    runtime::FailPoint("init.after_table");
  }
  const TableState rejects =
      StateOf(TableKind::kRejects, "_ingest_rejects", runtime::NewId64(), runtime::NewId64());
  OG_RETURN_NOT_OK(CreateOrOpen({store, rejects.path()}, RejectsSchema()).status());
  snapshot->tables.emplace(rejects.id, rejects);
  return Status::OK();
}

CommitRecord CreationRecord(const Snapshot& snapshot, std::string_view actor) {
  CommitRecord out;
  out.id = snapshot.head;
  out.actor = actor;
  out.time = runtime::WallNow();
  out.op = CommitOp::kInit;
  for (const auto& [id, table] : snapshot.tables) {
    TableEffect effect;
    effect.table_id = id;
    effect.type = table.name;
    effect.to_version = table.version;
    out.tables.push_back(std::move(effect));
  }
  return out;
}

/// Put version 2: the creation.
Result<std::shared_ptr<const lance::Table>> PutCreation(
    const lance::TableLocation& location, const std::shared_ptr<const lance::Table>& empty,
    const Snapshot& snapshot, std::string_view actor) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> rows,
                      HistoryRows(CreationRecord(snapshot, actor)));
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<lance::DataWriter> writer,
                      lance::DataWriter::Make(location, empty->lance_schema()));
  OG_RETURN_NOT_OK(writer->Write(*rows));
  lance::Change change;
  OG_ASSIGN_OR_RETURN(change.added, writer->Finish());
  for (auto& [key, value] : snapshot.ToMetadata()) {
    change.table_metadata[key] = value;
  }
  change.replace_table_metadata = true;
  runtime::FailPoint("init.before_creation");
  Result<std::shared_ptr<const lance::Table>> made =
      lance::CommitExactly(empty, change, kCreationVersion);
  if (!made.ok() && IsConflict(made.status())) {
    return Exists();
  }
  return made;
}

}  // namespace

Result<std::shared_ptr<Graph>> Graph::Init(std::shared_ptr<store::ObjectStore> store,
                                           std::string_view schema_text, std::string_view actor,
                                           const GraphOptions& options) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      schema::CompileSchema(schema_text, nullptr, runtime::NewId64));
  auto impl = std::make_unique<Impl>(std::move(store), options);
  OG_RETURN_NOT_OK(CheckFree(*impl->store, impl->manifest_location));

  Snapshot snapshot;
  snapshot.graph_id = runtime::NewUlid();
  snapshot.branch = kMainBranch;
  snapshot.sequence = kCreationVersion;
  snapshot.head = runtime::NewUlid();
  snapshot.schema_hash = catalog->hash();
  OG_RETURN_NOT_OK(
      PutOnce(*impl->store, SchemaObjectPath(catalog->hash(), ".pg"), catalog->text()));
  OG_RETURN_NOT_OK(
      PutOnce(*impl->store, SchemaObjectPath(catalog->hash(), ".json"), catalog->json()));
  OG_RETURN_NOT_OK(CreateTables(impl->store, *catalog, &snapshot));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> empty,
                      CreateOrOpen(impl->manifest_location, HistorySchema()));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> created,
                      PutCreation(impl->manifest_location, empty, snapshot, actor));
  (void)lance::WriteHint(impl->manifest_location, kCreationVersion);  // only helps readers
  OG_ASSIGN_OR_RETURN(const Head head, impl->HeadOfTable(created));
  impl->Offer(head);
  {
    runtime::MutexLock lock(impl->mutex);
    impl->catalogs[catalog->hash()] = catalog;
  }
  return GraphAccess::Make(std::move(impl));
}

}  // namespace omnigraph::graph
