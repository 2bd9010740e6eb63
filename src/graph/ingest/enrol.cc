#include "enrol.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

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

}  // namespace

lance::ShardLocation ShardOf(const Graph& graph, const TableState& table) {
  return lance::ShardLocation::In(graph.store(),
                                  table.path() + "/" + std::string(lance::kMemWalFolder),
                                  lance::UnshardedShardId());
}

Result<SnapshotRef> Enrol(Graph& graph, TableId id, const std::string& actor) {
  SnapshotRef snapshot = graph.snapshot();
  const TableState* state = snapshot->FindTable(id);
  if (state == nullptr) {
    return NotFound("table.unknown", fmt::format("the graph has no table {}", FormatHex64(id)));
  }
  if (state->enrolled()) {
    return snapshot;
  }
  Proposal proposal;
  proposal.base = snapshot;
  proposal.commit.op = CommitOp::kEnrol;
  proposal.commit.actor = actor;
  proposal.commit.message = fmt::format("stream to {}", state->name);
  proposal.enrolments = {{id, lance::UnshardedShardId()}};
  OG_ASSIGN_OR_RETURN(proposal.changes, IndexEntry(graph, *state));
  proposal.recheck = [&graph, id](const SnapshotRef& newest, Proposal* mine) {
    const TableState* now = newest->FindTable(id);
    if (now == nullptr) {
      return NotFound("table.unknown", "the type was dropped");
    }
    if (now->enrolled()) {
      return AlreadyExists("ingest.enrolled", "another process enrolled the type");
    }
    mine->base = newest;
    OG_ASSIGN_OR_RETURN(mine->changes, IndexEntry(graph, *now));
    return Status::OK();
  };
  const Result<Receipt> receipt = graph.publisher().Publish(std::move(proposal));
  if (!receipt.ok() && !IsAlreadyExists(receipt.status())) {
    return receipt.status();
  }
  return graph.snapshot();
}

}  // namespace omnigraph::graph
