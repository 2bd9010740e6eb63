#include "enrol.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>
#include <utility>

#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/memwal/mem_wal_index.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"

namespace omnigraph::graph {
namespace {

Status CheckPrimaryKey(const lance::Table& table, const std::string& name) {
  for (const lance::Field& field : table.lance_schema()->fields()) {
    const bool wanted = field.name == "id" && field.parent_id < 0;
    if ((field.primary_key_position == 1) != wanted) {
      return Invalid(
          "ingest.primary_key",
          fmt::format("`{}` cannot be streamed to: its primary key is not `id` alone", name),
          Place{.object = table.location().path});
    }
  }
  return Status::OK();
}

/// The change that adds the index entry; nothing where it is there already.
Result<std::vector<TableChange>> IndexEntry(Graph& graph, const TableState& state) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> base, graph.OpenTable(state));
  OG_RETURN_NOT_OK(CheckPrimaryKey(*base, state.name));
  if (!base->IndexSegments(lance::kMemWalIndexName).empty()) {
    return std::vector<TableChange>();
  }
  lance::IndexMetadata entry;
  entry.uuid = runtime::NewUuid();
  entry.name = lance::kMemWalIndexName;
  entry.dataset_version = base->version();
  entry.has_fragment_bitmap = false;
  entry.details_type_url = lance::kMemWalDetailsTypeUrl;
  entry.details_value = lance::EncodeMemWalDetails(lance::UnshardedDetails({}));
  entry.index_version = 0;
  entry.created_at_ms = static_cast<uint64_t>(runtime::WallNow().count() / 1000);
  auto change = std::make_shared<lance::Change>();
  change->kind = lance::ChangeKind::kCreateIndex;
  change->new_indices.push_back(std::move(entry));
  return std::vector<TableChange>{
      TableChange{.table_id = state.id, .base = base, .change = std::move(change)}};
}

/// Makes `proposal` enrol every type that declares `@stream` and is not enrolled in `base`.
Status EnrolAll(Graph& graph, const SnapshotRef& base, Proposal* proposal) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const schema::Catalog> catalog, graph.CatalogOf(*base));
  proposal->base = base;
  proposal->enrolments.clear();
  proposal->changes.clear();
  std::string names;
  for (const schema::TypeDef& type : catalog->types()) {
    const TableState* state = base->FindTable(type.table_id);
    if (!type.stream.has_value() || state == nullptr || state->enrolled()) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(std::vector<TableChange> changes, IndexEntry(graph, *state));
    std::move(changes.begin(), changes.end(), std::back_inserter(proposal->changes));
    proposal->enrolments.push_back({type.table_id, lance::UnshardedShardId()});
    names += (names.empty() ? "" : ", ") + type.name;
  }
  if (proposal->enrolments.empty()) {
    return AlreadyExists("ingest.enrolled", "another process enrolled the types");
  }
  proposal->commit.message = "stream to " + names;
  return Status::OK();
}

}  // namespace

lance::ShardLocation ShardOf(const Graph& graph, const TableState& table) {
  return lance::ShardLocation::In(graph.store(),
                                  table.path() + "/" + std::string(lance::kMemWalFolder),
                                  lance::UnshardedShardId());
}

Result<SnapshotRef> Enrol(Graph& graph, TableId id, const std::string& actor) {
  const SnapshotRef snapshot = graph.snapshot();
  const TableState* state = snapshot->FindTable(id);
  if (state == nullptr) {
    return NotFound("table.unknown", fmt::format("the graph has no table {}", FormatHex64(id)));
  }
  if (state->enrolled()) {
    return snapshot;
  }
  Proposal proposal;
  proposal.commit.op = CommitOp::kEnrol;
  proposal.commit.actor = actor.empty() ? "omnigraph:ingest" : actor;
  OG_RETURN_NOT_OK(EnrolAll(graph, snapshot, &proposal));
  proposal.recheck = [&graph](const SnapshotRef& newest, Proposal* mine) {
    return EnrolAll(graph, newest, mine);
  };
  const Result<Receipt> receipt = graph.publisher().Publish(std::move(proposal));
  if (!receipt.ok() && !IsAlreadyExists(receipt.status())) {
    return receipt.status();
  }
  return graph.snapshot();
}

}  // namespace omnigraph::graph
