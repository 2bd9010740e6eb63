// Folder::Maintain: what many small folds leave behind is put in shape, in commits of its own.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "fold.h"
#include "omnigraph/graph/manifest/tiers.h"
#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/table/data_writer.h"

namespace omnigraph::graph {
namespace {

/// Merges that would write more than this are left alone.
constexpr uint64_t kMergeBytesMax = uint64_t{128} << 20;
/// Rows without an index at which they are covered.
constexpr uint64_t kUncoveredRowsMax = 64 * 1024;
/// A merged fragment keeps the versions of its rows up to so many runs; above, all get the newest:
/// a run per commit would let every manifest of the table grow with the history.
constexpr size_t kVersionRunsMax = 64;

void BoundRuns(lance::NewFragment* fragment) {
  if (!fragment->kept.has_value()) {
    return;
  }
  for (lance::RowVersionSequence* versions : {&fragment->kept->created, &fragment->kept->updated}) {
    if (versions->runs().size() > kVersionRunsMax) {
      uint64_t newest = 0;
      for (const lance::RowVersionSequence::Run& run : versions->runs()) {
        newest = std::max(newest, run.version);
      }
      *versions = lance::RowVersionSequence::Constant(newest, versions->rows());
    }
  }
}

/// Merge the fragments at the end of the table, where a tier is full.
Result<std::optional<lance::Change>> MergeTail(const lance::Table& table) {
  const std::vector<lance::Fragment>& fragments = table.manifest().fragments;
  std::vector<uint64_t> rows;
  for (const lance::Fragment& fragment : fragments) {
    rows.push_back(fragment.live_rows());
  }
  const size_t count = TierMergeCount(rows);
  uint64_t bytes = 0;
  bool deletions = false;
  lance::Change change;
  for (size_t i = fragments.size() - count; i < fragments.size(); ++i) {
    for (const lance::DataFileRef& file : fragments[i].files) {
      bytes += file.size_bytes;
    }
    deletions = deletions || fragments[i].deletion_file.has_value();
    change.removed_fragments.push_back(fragments[i].id);
  }
  if (count == 0 || bytes > kMergeBytesMax) {
    return std::nullopt;
  }
  OG_ASSIGN_OR_RETURN(change.added, lance::RewriteFragments(table, change.removed_fragments));
  for (lance::NewFragment& fragment : change.added) {
    if (deletions) {
      fragment.kept.reset();  // ids with holes would stand one by one in every manifest
    }
    BoundRuns(&fragment);
  }
  change.kind = deletions ? lance::ChangeKind::kUpdate : lance::ChangeKind::kRewrite;
  return change;
}

uint64_t UncoveredRows(const lance::Table& table) {
  std::set<uint64_t> covered;
  for (const lance::IndexMetadata* segment : table.IndexSegments(lance::BTreeIndexName("id"))) {
    covered.insert(segment->fragment_ids.begin(), segment->fragment_ids.end());
  }
  uint64_t rows = 0;
  for (const lance::Fragment& fragment : table.manifest().fragments) {
    rows += covered.contains(fragment.id) ? 0 : fragment.live_rows();
  }
  return rows;
}

/// Ids of a type that folds look up: not those that admission mints.
bool IdsAreLookedUp(const schema::Catalog& catalog, const TableState& state) {
  const schema::TypeDef* type = catalog.FindTable(state.id);
  return type != nullptr && (type->is_node() || type->keyed());
}

}  // namespace

Status Folder::Maintain(const std::vector<TableId>& tables) {
  const SnapshotRef snapshot = graph_.snapshot();
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog,
                      graph_.CatalogOf(*snapshot));
  Proposal proposal;
  proposal.base = snapshot;
  proposal.commit.op = CommitOp::kOptimize;
  proposal.commit.actor = "omnigraph:ingest";
  proposal.commit.message = "merge small fragments, cover ids by the index";
  for (const TableId id : tables) {
    const TableState* state = snapshot->FindTable(id);
    if (state == nullptr) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> table, graph_.OpenTable(*state));
    OG_ASSIGN_OR_RETURN(std::optional<lance::Change> change, MergeTail(*table));
    if (!change.has_value() && IdsAreLookedUp(*catalog, *state) &&
        UncoveredRows(*table) > kUncoveredRowsMax) {
      OG_ASSIGN_OR_RETURN(change, lance::CoverRows(*table));
    }
    if (change.has_value() && !change->empty()) {
      proposal.changes.push_back(
          TableChange{.table_id = id,
                      .base = table,
                      .change = std::make_shared<const lance::Change>(std::move(*change))});
    }
  }
  if (proposal.changes.empty()) {
    return Status::OK();
  }
  const std::vector<TableChange> changes = proposal.changes;
  OG_ASSIGN_OR_RETURN(const Receipt receipt, graph_.publisher().Publish(std::move(proposal)));
  for (const TableChange& change : changes) {
    const lance::Table& after = *receipt.tables.at(change.table_id);
    const bool ids_kept =
        std::all_of(change.change->added.begin(), change.change->added.end(),
                    [](const auto& fragment) { return fragment.kept.has_value(); });
    if (ids_kept) {
      OG_RETURN_NOT_OK(caches_.keys.Advance(change.table_id, change.base->version(), after, {}));
    } else {
      caches_.keys.Forget(change.table_id);
    }
    const auto constraints = caches_.constraints.find(change.table_id);
    if (constraints != caches_.constraints.end() &&
        constraints->second.version == change.base->version()) {
      constraints->second.version = after.version();
    }
  }
  return Status::OK();
}

}  // namespace omnigraph::graph
