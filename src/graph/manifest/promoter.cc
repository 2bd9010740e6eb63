#include "omnigraph/graph/manifest/promoter.h"

#include <fmt/format.h>

#include <utility>

#include "graph_impl.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/runtime/fail_point.h"

namespace omnigraph::graph {
namespace {

constexpr int kTriesMax = 20;

using TableRef = std::shared_ptr<const lance::Table>;

/// The newest ordinary version; a process's first look at a chain is a listing (C5).
Result<TableRef> LatestOrdinary(Graph::Impl& impl, const lance::TableLocation& location) {
  TableRef known;
  {
    runtime::MutexLock lock(impl.mutex);
    const auto found = impl.ordinary.find(location.path);
    known = found == impl.ordinary.end() ? nullptr : found->second;
  }
  if (known == nullptr) {
    return lance::Table::Open(location, {.look = lance::Look::kWriter, .passes_guard = true});
  }
  OG_ASSIGN_OR_RETURN(lance::StoredManifest newest, lance::WalkFrom(location, known->stored()));
  if (newest.manifest.version == known->version()) {
    return known;
  }
  return lance::Table::FromManifest(location, std::move(newest), {.passes_guard = true});
}

void Remember(Graph::Impl& impl, const TableRef& ordinary) {
  runtime::MutexLock lock(impl.mutex);
  impl.ordinary[ordinary->location().path] = ordinary;
}

/// One look and one put: the latest first, then the head (C7).
Result<std::vector<Promotion>> TryPromote(Graph& graph, const std::vector<TableId>& tables,
                                          std::vector<TableId>* lost) {
  Graph::Impl& impl = GraphAccess::Of(graph);
  const SnapshotRef before = graph.snapshot();
  std::vector<std::pair<TableId, TableRef>> latest;
  for (const TableId id : tables) {
    if (const TableState* state = before->FindTable(id); state != nullptr) {
      OG_ASSIGN_OR_RETURN(TableRef ordinary, LatestOrdinary(impl, graph.LocationOf(*state)));
      latest.emplace_back(id, std::move(ordinary));
    }
  }
  OG_ASSIGN_OR_RETURN(const SnapshotRef head, graph.Refresh());
  std::vector<Promotion> out;
  for (const auto& [id, ordinary] : latest) {
    const TableState* state = head->FindTable(id);
    if (state == nullptr) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(const TableRef table, graph.OpenTable(*state));
    OG_ASSIGN_OR_RETURN(const bool own, lance::IsOwnVersion(*ordinary));
    runtime::FailPoint("promote.before_put");
    const bool fresh = !lance::IsDetachedVersion(state->version);  // version 1 is ordinary itself
    Result<TableRef> promoted =
        fresh ? Result<TableRef>(ordinary) : lance::Promote(ordinary, table);
    if (!promoted.ok() && IsConflict(promoted.status())) {
      lost->push_back(id);
      continue;
    }
    OG_RETURN_NOT_OK(promoted.status());
    Remember(impl, *promoted);
    out.push_back(Promotion{.table_id = id,
                            .ordinary_version = (*promoted)->version(),
                            .promoted_version = state->version,
                            .moved = (*promoted)->version() != ordinary->version(),
                            .foreign = !own});
  }
  return out;
}

}  // namespace

Result<std::vector<ForeignVersion>> FindForeignVersions(Graph& graph, const Snapshot& snapshot) {
  std::vector<ForeignVersion> found;
  for (const auto& [id, state] : snapshot.tables) {
    OG_ASSIGN_OR_RETURN(const TableRef newest,
                        lance::Table::Open(graph.LocationOf(state), {.passes_guard = true}));
    OG_ASSIGN_OR_RETURN(const bool own, lance::IsOwnVersion(*newest));
    if (!own) {
      found.push_back({id, state.name, newest->version()});
    }
  }
  return found;
}

Result<std::vector<Promotion>> PromoteTables(Graph& graph, const std::vector<TableId>& tables) {
  std::vector<Promotion> out;
  std::vector<TableId> left = tables;
  for (int tries = 0; tries < kTriesMax && !left.empty(); ++tries) {
    std::vector<TableId> lost;
    OG_ASSIGN_OR_RETURN(std::vector<Promotion> done, TryPromote(graph, left, &lost));
    std::move(done.begin(), done.end(), std::back_inserter(out));
    left = std::move(lost);
  }
  if (!left.empty()) {
    return Conflict("promote.contended",
                    fmt::format("lost {} times to others who put ordinary versions", kTriesMax));
  }
  return out;
}

Result<std::vector<Promotion>> PromoteAll(Graph& graph) {
  std::vector<TableId> tables;
  for (const auto& [id, table] : graph.snapshot()->tables) {
    tables.push_back(id);
  }
  return PromoteTables(graph, tables);
}

}  // namespace omnigraph::graph
