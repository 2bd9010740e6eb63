#include "omnigraph/graph/manifest/sweeper.h"

#include <set>
#include <string_view>
#include <utility>

#include "graph_impl.h"
#include "omnigraph/lance/table/deletion.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::graph {
namespace {

/// Folders of a table in which orphans arise.
constexpr std::string_view kSwept[] = {"/data/", "/_deletions/", "/_indices/", "/_versions/d"};

/// Objects that must stay, and folders (index segments) whose objects must.
class Kept {
 public:
  void AddManifest(const lance::TableLocation& location, const lance::StoredManifest& stored) {
    objects_.insert(stored.object);
    for (const lance::Fragment& fragment : stored.manifest.fragments) {
      for (const lance::DataFileRef& file : fragment.files) {
        objects_.insert(location.Child(std::string(lance::kDataFolder) + "/" + file.path));
      }
      if (fragment.deletion_file.has_value()) {
        objects_.insert(
            location.Child(lance::DeletionFilePath(fragment.id, *fragment.deletion_file)));
      }
    }
    for (const lance::IndexMetadata& index : stored.manifest.indices) {
      folders_.insert(
          location.Child(std::string(lance::kIndicesFolder) + "/" + index.uuid.ToString()));
    }
  }

  bool Holds(const std::string& path) const {
    return objects_.contains(path) || folders_.contains(path.substr(0, path.rfind('/')));
  }

 private:
  std::set<std::string> objects_;
  std::set<std::string> folders_;
};

/// One pass. Single-owner.
class Pass {
 public:
  Pass(Graph* graph, const SweepOptions& options)
      : graph_(*graph), impl_(GraphAccess::Of(*graph)), options_(options) {}

  Result<SweepReport> Run();

 private:
  Status KeepVersions();
  Status KeepTable(const TableState& table);
  Status KeepOrdinary(const lance::TableLocation& location);
  Result<int64_t> StoreNow();
  Status SweepUnder(std::string_view prefix);
  bool IsOrphan(const store::ObjectInfo& object) const;
  bool Stopped() {
    report_.complete = report_.complete && !(options_.stop && options_.stop());
    return !report_.complete;
  }

  Graph& graph_;
  Graph::Impl& impl_;
  const SweepOptions options_;
  Kept kept_;
  std::set<std::pair<std::string, uint64_t>> seen_;  ///< table versions that were read
  std::set<std::string> tables_;                     ///< folders that some snapshot names
  int64_t oldest_kept_us_ = 0;
  SweepReport report_;
};

/// The present by the store's clock: the age of something just put.
Result<int64_t> Pass::StoreNow() {
  OG_RETURN_NOT_OK(lance::WriteHint(impl_.manifest_location, graph_.snapshot()->sequence));
  OG_ASSIGN_OR_RETURN(const store::ObjectInfo hint,
                      impl_.store->Head(impl_.manifest_location.Child(lance::kHintPath)));
  return hint.modified_us;
}

Status Pass::KeepOrdinary(const lance::TableLocation& location) {
  OG_ASSIGN_OR_RETURN(const lance::StoredManifest newest,
                      lance::ReadLatestManifest(location, lance::Look::kWriter));
  kept_.AddManifest(location, newest);
  return Status::OK();
}

Status Pass::KeepTable(const TableState& table) {
  if (!seen_.emplace(table.path(), table.version).second) {
    return Status::OK();
  }
  const lance::TableLocation location = graph_.LocationOf(table);
  if (tables_.insert(table.path()).second) {
    OG_RETURN_NOT_OK(KeepOrdinary(location));
  }
  OG_ASSIGN_OR_RETURN(const lance::StoredManifest stored,
                      lance::ReadManifest(location, table.version));
  kept_.AddManifest(location, stored);
  return Status::OK();
}

/// Everything that a standing version of `__manifest` names. The chain stands from the newest down
/// to where it was pruned.
Status Pass::KeepVersions() {
  OG_ASSIGN_OR_RETURN(const SnapshotRef newest, graph_.Refresh());
  const uint64_t top = std::max(newest->sequence, newest->foreign_version);
  for (uint64_t version = top; version > 0 && !Stopped(); --version) {
    const Result<lance::StoredManifest> stored =
        lance::ReadManifest(impl_.manifest_location, version);
    if (!stored.ok() && IsNotFound(stored.status()) && version < top) {
      return Status::OK();
    }
    OG_RETURN_NOT_OK(stored.status());
    kept_.AddManifest(impl_.manifest_location, *stored);
    if (!Snapshot::IsOwn(stored->manifest.table_metadata, version)) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(const Snapshot snapshot,
                        Snapshot::FromMetadata(stored->manifest.table_metadata, stored->object));
    for (const auto& [id, table] : snapshot.tables) {
      OG_RETURN_NOT_OK(KeepTable(table));
    }
  }
  return Status::OK();
}

bool Pass::IsOrphan(const store::ObjectInfo& object) const {
  if (object.modified_us >= oldest_kept_us_ || kept_.Holds(object.path)) {
    return false;
  }
  if (object.path.starts_with(kSpillPath)) {
    return true;  // of a load that was killed
  }
  const size_t end = object.path.find(".lance/");
  if (end == std::string::npos) {
    return false;
  }
  const std::string table = object.path.substr(0, end + 6);
  const std::string_view inside = std::string_view(object.path).substr(end + 6);
  if (inside.starts_with("/_mem_wal/")) {
    return false;
  }
  if (table != kManifestPath && !tables_.contains(table)) {
    return true;  // the table of an `init` that did not finish
  }
  for (const std::string_view folder : kSwept) {
    if (inside.starts_with(folder)) {
      return true;
    }
  }
  return false;
}

Status Pass::SweepUnder(std::string_view prefix) {
  store::ListOptions page_options;
  while (true) {
    OG_ASSIGN_OR_RETURN(const store::ListPage page, impl_.store->List(prefix, page_options));
    for (const store::ObjectInfo& object : page.objects) {
      ++report_.listed;
      if (Stopped()) {
        return Status::OK();
      }
      if (!IsOrphan(object)) {
        continue;
      }
      if (report_.deleted >= options_.deletes_max) {
        report_.complete = false;
        return Status::OK();
      }
      if (!options_.dry_run) {
        OG_RETURN_NOT_OK(impl_.store->Delete(object.path, store::DeleteOrder::kFree));
      }
      ++report_.deleted;
      report_.deleted_bytes += static_cast<int64_t>(object.size);
    }
    if (page.next.empty()) {
      return Status::OK();
    }
    page_options.start_after = page.next;
  }
}

Result<SweepReport> Pass::Run() {
  // The clock first: what is put while this pass reads is younger than the grace.
  OG_ASSIGN_OR_RETURN(const int64_t now, StoreNow());
  oldest_kept_us_ =
      now - std::chrono::duration_cast<std::chrono::microseconds>(options_.grace).count();
  OG_RETURN_NOT_OK(KeepVersions());
  if (Stopped()) {
    return report_;  // not all that is kept is known
  }
  for (const std::string_view prefix : {std::string_view("nodes/"), std::string_view("edges/"),
                                        kRejectsPath, kManifestPath, kSpillPath}) {
    OG_RETURN_NOT_OK(SweepUnder(prefix));
  }
  return report_;
}

}  // namespace

Result<SweepReport> Sweep(Graph& graph, const SweepOptions& options) {
  return Pass(&graph, options).Run();
}

Result<bool> TakeSweepTurn(Graph& graph) {
  const std::string mark(kSweptPath);
  const Result<store::ObjectInfo> last = graph.store()->Head(mark);
  if (!last.ok() && !IsNotFound(last.status())) {
    return last.status();
  }
  const auto age = last.ok() ? runtime::WallNow() - std::chrono::microseconds(last->modified_us)
                             : std::chrono::microseconds(0);
  if (last.ok() && age < kSweepInterval) {
    return false;
  }
  // Before the pass: others must not start one meanwhile, and one that fails is not worth a second
  // try today.
  OG_RETURN_NOT_OK(graph.store()->Put(mark, store::BytesOf("")));
  return last.ok();
}

}  // namespace omnigraph::graph
