#include "omnigraph/graph/manifest/graph_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "graph_impl.h"
#include "omnigraph/graph/schema/schema_json.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::graph {
namespace {

constexpr size_t kCatalogsMax = 16;

Status NoGraph() {
  return NotFound("graph.not_found",
                  "there is no graph here: create one with `omnigraph init`, or check the path",
                  Place{.object = std::string(kManifestPath)});
}

Status NamesMissing(const Status& status, std::string_view what, const std::string& object) {
  if (!IsNotFound(status)) {
    return status;
  }
  return Corruption("table.missing",
                    fmt::format("{} is named by the graph but does not exist; an outside cleanup "
                                "may have removed it",
                                what),
                    object);
}

}  // namespace

std::string SchemaObjectPath(const std::string& hash, std::string_view suffix) {
  return fmt::format("_schemas/{}{}", hash, suffix);
}

std::shared_ptr<const lance::Table> OpenTables::Find(
    const std::string& path, uint64_t version, std::shared_ptr<const lance::Table>* relative) {
  runtime::MutexLock lock(mutex_);
  const auto found = entries_.find({path, version});
  if (found != entries_.end()) {
    found->second.used = ++clock_;
    return found->second.table;
  }
  uint64_t newest = 0;
  for (auto at = entries_.lower_bound({path, 0}); at != entries_.end() && at->first.first == path;
       ++at) {
    if (at->second.used >= newest) {
      newest = at->second.used;
      *relative = at->second.table;
    }
  }
  return nullptr;
}

void OpenTables::Put(std::shared_ptr<const lance::Table> table) {
  runtime::MutexLock lock(mutex_);
  const std::pair<std::string, uint64_t> key(table->location().path, table->version());
  entries_[key] = Entry{std::move(table), ++clock_};
  while (entries_.size() > max_) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
    entries_.erase(oldest);
  }
}

Graph::Impl::Impl(std::shared_ptr<store::ObjectStore> object_store,
                  const GraphOptions& graph_options)
    : store(std::move(object_store)),
      options(graph_options),
      manifest_location{store, std::string(kManifestPath)},
      tables(graph_options.open_tables_max) {}

Head Graph::Impl::CurrentHead() const {
  runtime::MutexLock lock(mutex);
  return head;
}

void Graph::Impl::Offer(const Head& newer) {
  runtime::MutexLock lock(mutex);
  if (head.newest != nullptr && newer.newest->manifest.version <= head.newest->manifest.version) {
    const bool same = newer.newest->manifest.version == head.newest->manifest.version;
    head.durable = head.durable || (same && newer.durable);
    return;
  }
  head = newer;
}

Status Graph::Impl::MakeDurable(const Head& seen) {
  if (seen.durable) {
    return Status::OK();
  }
  const std::string& own = seen.manifest->stored().object;
  OG_RETURN_NOT_OK(store->MakeDurable(own));
  if (seen.newest->object != own) {
    OG_RETURN_NOT_OK(store->MakeDurable(seen.newest->object));
  }
  Head durable = seen;
  durable.durable = true;
  Offer(durable);
  return Status::OK();
}

Result<Head> Graph::Impl::HeadOfTable(std::shared_ptr<const lance::Table> manifest) const {
  Head out;
  OG_ASSIGN_OR_RETURN(Snapshot snapshot, Snapshot::FromMetadata(manifest->manifest().table_metadata,
                                                                manifest->stored().object));
  out.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  out.newest = std::make_shared<const lance::StoredManifest>(manifest->stored());
  out.manifest = std::move(manifest);
  out.durable = true;
  return out;
}

Result<Head> Graph::Impl::HeadFrom(lance::StoredManifest newest) {
  lance::StoredManifest own = newest;
  while (!Snapshot::IsOwn(own.manifest.table_metadata, own.manifest.version)) {
    if (own.manifest.version <= 2) {
      return NoGraph();
    }
    Result<lance::StoredManifest> below =
        lance::ReadManifest(manifest_location, own.manifest.version - 1);
    if (!below.ok()) {
      return NamesMissing(below.status(),
                          fmt::format("version {} of the graph", own.manifest.version - 1),
                          own.object);
    }
    own = std::move(below).ValueUnsafe();
  }
  OG_ASSIGN_OR_RETURN(Snapshot snapshot,
                      Snapshot::FromMetadata(own.manifest.table_metadata, own.object));
  if (newest.manifest.version != own.manifest.version) {
    snapshot.foreign_version = newest.manifest.version;
  }
  lance::OpenOptions open;
  open.passes_guard = true;
  open.share_with = CurrentHead().manifest;
  Head out;
  OG_ASSIGN_OR_RETURN(out.manifest,
                      lance::Table::FromManifest(manifest_location, std::move(own), open));
  out.snapshot = std::make_shared<const Snapshot>(std::move(snapshot));
  out.newest = std::make_shared<const lance::StoredManifest>(std::move(newest));
  return out;
}

Result<Head> Graph::Impl::Walk() {
  const Head known = CurrentHead();
  OG_ASSIGN_OR_RETURN(lance::StoredManifest newest,
                      lance::WalkFrom(manifest_location, *known.newest));
  if (newest.manifest.version == known.newest->manifest.version) {
    return known;
  }
  OG_ASSIGN_OR_RETURN(Head found, HeadFrom(std::move(newest)));
  Offer(found);
  return CurrentHead();
}

std::shared_ptr<Graph> GraphAccess::Make(std::unique_ptr<Graph::Impl> impl) {
  std::shared_ptr<Graph> graph(new Graph(std::move(impl)));
  graph->impl_->publisher = std::make_unique<Publisher>(graph.get());
  return graph;
}

Graph::Graph(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Graph::~Graph() = default;

Result<std::shared_ptr<Graph>> Graph::Open(std::shared_ptr<store::ObjectStore> store,
                                           const GraphOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(store), options);
  Result<lance::StoredManifest> newest = lance::ReadLatestManifest(impl->manifest_location);
  if (!newest.ok()) {
    return IsNotFound(newest.status()) ? NoGraph() : newest.status();
  }
  OG_ASSIGN_OR_RETURN(const Head head, impl->HeadFrom(std::move(newest).ValueUnsafe()));
  impl->Offer(head);
  return GraphAccess::Make(std::move(impl));
}

const std::shared_ptr<store::ObjectStore>& Graph::store() const {
  return impl_->store;
}

SnapshotRef Graph::snapshot() const {
  return impl_->CurrentHead().snapshot;
}

Result<SnapshotRef> Graph::Refresh() {
  OG_ASSIGN_OR_RETURN(const Head head, impl_->Walk());
  return head.snapshot;
}

Result<SnapshotRef> Graph::SnapshotAt(uint64_t sequence) {
  const SnapshotRef current = snapshot();
  if (current->sequence == sequence) {
    return current;
  }
  const Result<lance::StoredManifest> stored =
      lance::ReadManifest(impl_->manifest_location, sequence);
  const bool absent = !stored.ok() && IsNotFound(stored.status());
  if (absent || (stored.ok() && !Snapshot::IsOwn(stored->manifest.table_metadata, sequence))) {
    return NotFound("snapshot.not_found",
                    fmt::format("the graph has no snapshot {} (any more)", sequence));
  }
  OG_RETURN_NOT_OK(stored.status());
  OG_ASSIGN_OR_RETURN(Snapshot snapshot,
                      Snapshot::FromMetadata(stored->manifest.table_metadata, stored->object));
  return std::make_shared<const Snapshot>(std::move(snapshot));
}

Result<std::shared_ptr<const schema::Catalog>> Graph::CatalogOf(const Snapshot& snapshot) {
  return CatalogOfHash(snapshot.schema_hash);
}

Result<std::shared_ptr<const schema::Catalog>> Graph::CatalogOfHash(
    const std::string& schema_hash) {
  {
    runtime::MutexLock lock(impl_->mutex);
    const auto found = impl_->catalogs.find(schema_hash);
    if (found != impl_->catalogs.end()) {
      return found->second;
    }
  }
  const std::string json_path = SchemaObjectPath(schema_hash, ".json");
  const Result<std::shared_ptr<arrow::Buffer>> json = impl_->store->Get(json_path);
  const Result<std::shared_ptr<arrow::Buffer>> text =
      json.ok() ? impl_->store->Get(SchemaObjectPath(schema_hash, ".pg")) : json;
  if (!text.ok()) {
    return IsNotFound(text.status())
               ? NotFound("schema.not_found",
                          fmt::format("the schema object {} does not exist", schema_hash),
                          Place{.object = json_path})
               : text.status();
  }
  OG_ASSIGN_OR_RETURN(
      std::shared_ptr<const schema::Catalog> catalog,
      schema::CatalogFromJson(std::string_view(**json), std::string_view(**text), json_path));
  runtime::MutexLock lock(impl_->mutex);
  if (impl_->catalogs.size() >= kCatalogsMax) {
    impl_->catalogs.clear();
  }
  impl_->catalogs[schema_hash] = catalog;
  return catalog;
}

lance::TableLocation Graph::LocationOf(const TableState& table) const {
  return lance::TableLocation{impl_->store, table.path()};
}

Result<std::shared_ptr<const lance::Table>> Graph::OpenTable(const TableState& table) {
  lance::OpenOptions open;
  if (auto found = impl_->tables.Find(table.path(), table.version, &open.share_with)) {
    return found;
  }
  open.version = table.version;
  open.passes_guard = true;
  Result<std::shared_ptr<const lance::Table>> opened = lance::Table::Open(LocationOf(table), open);
  if (!opened.ok()) {
    return NamesMissing(opened.status(),
                        fmt::format("version {} of `{}`", table.version, table.name), table.path());
  }
  impl_->tables.Put(*opened);
  return opened;
}

Result<std::shared_ptr<const lance::Table>> Graph::OpenTable(const Snapshot& snapshot, TableId id) {
  const TableState* table = snapshot.FindTable(id);
  if (table == nullptr) {
    return NotFound("table.unknown", fmt::format("the graph has no table {}", FormatHex64(id)));
  }
  return OpenTable(*table);
}

Result<std::shared_ptr<const lance::Table>> Graph::OpenManifest(const Snapshot& snapshot) {
  const Head head = impl_->CurrentHead();
  if (head.snapshot->sequence == snapshot.sequence) {
    return head.manifest;
  }
  lance::OpenOptions open;
  open.version = snapshot.sequence;
  open.passes_guard = true;
  open.share_with = head.manifest;
  return lance::Table::Open(impl_->manifest_location, open);
}

Publisher& Graph::publisher() {
  return *impl_->publisher;
}

Result<std::vector<CommitRecord>> Graph::Commits(const Snapshot& snapshot, int64_t limit) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> manifest, OpenManifest(snapshot));
  return ListCommits(*manifest, limit);
}

}  // namespace omnigraph::graph
