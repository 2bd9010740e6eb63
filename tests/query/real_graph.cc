#include "real_graph.h"

#include <arrow/api.h>
#include <arrow/compute/api.h>

#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::query::testing {
namespace {

constexpr uint64_t kRowsPerFile = 5;

/// True for the places of rows that are written only to be deleted.
bool IsDoomed(int64_t row) {
  return row % 4 == 0;
}

/// Row numbers with a copy in front of every third row.
std::vector<int64_t> WithDoomedRows(int64_t rows) {
  std::vector<int64_t> written;
  for (int64_t row = 0; row < rows; ++row) {
    if (IsDoomed(static_cast<int64_t>(written.size()))) {
      written.push_back(row);
    }
    written.push_back(row);
  }
  return written;
}

Result<std::shared_ptr<arrow::Table>> ReadAll(const TableSource& source,
                                              const schema::TypeDef& type) {
  OG_ASSIGN_OR_RETURN(const auto reader, source.Scan(schema::ArrowSchemaOf(type)->field_names()));
  return reader->ToTable();
}

Result<graph::TableChange> AddRows(graph::Graph& graph, const graph::TableState& state,
                                   const arrow::Table& table) {
  OG_ASSIGN_OR_RETURN(const auto base, graph.OpenTable(state));
  lance::DataWriterOptions options;
  options.file_rows_max = kRowsPerFile;
  OG_ASSIGN_OR_RETURN(const auto writer,
                      lance::DataWriter::Make(base->location(), base->lance_schema(), options));
  arrow::TableBatchReader reader(table);
  reader.set_chunksize(static_cast<int64_t>(kRowsPerFile));
  std::shared_ptr<arrow::RecordBatch> batch;
  while (true) {
    OG_RETURN_NOT_OK(reader.ReadNext(&batch));
    if (batch == nullptr) {
      break;
    }
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
  auto change = std::make_shared<lance::Change>();
  OG_ASSIGN_OR_RETURN(change->added, writer->Finish());
  return graph::TableChange{.table_id = state.id,
                            .base = base,
                            .change = std::move(change),
                            .inserted = table.num_rows()};
}

Result<graph::TableChange> DeleteDoomedRows(graph::Graph& graph, const graph::TableState& state) {
  OG_ASSIGN_OR_RETURN(const auto base, graph.OpenTable(state));
  lance::ScanOptions options;
  options.columns = std::vector<std::string>();
  options.with_row_address = true;
  OG_ASSIGN_OR_RETURN(const auto reader, base->Scan(options));
  OG_ASSIGN_OR_RETURN(auto table, reader->ToTable());
  OG_ASSIGN_OR_RETURN(table, table->CombineChunks());
  auto change = std::make_shared<lance::Change>();
  for (int64_t row = 0; row < table->num_rows(); ++row) {
    if (IsDoomed(row)) {
      change->deleted_addresses.push_back(
          static_cast<const arrow::UInt64Array&>(*table->column(0)->chunk(0)).Value(row));
    }
  }
  const auto deleted = static_cast<int64_t>(change->deleted_addresses.size());
  return graph::TableChange{
      .table_id = state.id, .base = base, .change = std::move(change), .deleted = deleted};
}

graph::Proposal NewProposal(const graph::Graph& graph) {
  graph::Proposal proposal;
  proposal.base = graph.snapshot();
  proposal.commit.op = graph::CommitOp::kLoad;
  proposal.commit.actor = "tester";
  proposal.promote = false;
  return proposal;
}

Status Publish(graph::Graph& graph, graph::Proposal proposal) {
  return proposal.changes.empty() ? Status::OK()
                                  : graph.publisher().Publish(std::move(proposal)).status();
}

}  // namespace

Result<std::shared_ptr<const SnapshotSource>> MakeRealGraph(const MemorySource& rows) {
  OG_ASSIGN_OR_RETURN(
      const std::shared_ptr<graph::Graph> graph,
      graph::Graph::Init(std::make_shared<store::MemoryStore>(), rows.catalog()->text(), "tester"));
  graph::Proposal add = NewProposal(*graph);
  for (const schema::TypeDef& type : rows.catalog()->types()) {
    const auto kind = type.is_node() ? graph::TableKind::kNode : graph::TableKind::kEdge;
    const graph::TableState* state = add.base->FindTable(kind, type.name);
    OG_CHECK(state != nullptr);
    OG_ASSIGN_OR_RETURN(const auto source, rows.Open(type));
    if (source->rows() == 0) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(auto table, ReadAll(*source, type));
    OG_ASSIGN_OR_RETURN(table, table->CombineChunks());
    arrow::Int64Builder builder;
    OG_RETURN_NOT_OK(builder.AppendValues(WithDoomedRows(table->num_rows())));
    OG_ASSIGN_OR_RETURN(const auto order, builder.Finish());
    OG_ASSIGN_OR_RETURN(const arrow::Datum spread, arrow::compute::Take(table, order));
    OG_ASSIGN_OR_RETURN(graph::TableChange change, AddRows(*graph, *state, *spread.table()));
    add.changes.push_back(std::move(change));
  }
  OG_RETURN_NOT_OK(Publish(*graph, add));
  graph::Proposal remove = NewProposal(*graph);
  for (const graph::TableChange& added : add.changes) {
    const graph::TableState* state = remove.base->FindTable(added.table_id);
    OG_ASSIGN_OR_RETURN(graph::TableChange change, DeleteDoomedRows(*graph, *state));
    remove.changes.push_back(std::move(change));
  }
  OG_RETURN_NOT_OK(Publish(*graph, std::move(remove)));
  return SnapshotSource::Make(graph, graph->snapshot());
}

}  // namespace omnigraph::query::testing
