/// \file
/// A small graph in memory and rows for it, for the tests of this folder.
#pragma once

#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::graph::testing {

inline constexpr std::string_view kSchema =
    "node Person { name: String @key }\n"
    "node City { name: String @key }\n"
    "edge Knows: Person -> Person\n";

/// A change that adds rows with these ids to a node table of kSchema.
inline Result<TableChange> AddNodes(Graph& graph, const Snapshot& snapshot, std::string_view type,
                                    const std::vector<std::string>& ids) {
  const TableState* state = snapshot.FindTable(TableKind::kNode, type);
  OG_CHECK(state != nullptr);
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> base, graph.OpenTable(*state));
  arrow::StringBuilder names;
  OG_RETURN_NOT_OK(names.AppendValues(ids));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> column, names.Finish());
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<lance::DataWriter> writer,
                      lance::DataWriter::Make(base->location(), base->lance_schema()));
  std::vector<std::shared_ptr<arrow::Array>> columns(
      static_cast<size_t>(base->schema()->num_fields()), column);
  OG_RETURN_NOT_OK(writer->Write(
      *arrow::RecordBatch::Make(base->schema(), column->length(), std::move(columns))));
  auto change = std::make_shared<lance::Change>();
  OG_ASSIGN_OR_RETURN(change->added, writer->Finish());
  return TableChange{.table_id = state->id,
                     .base = base,
                     .change = std::move(change),
                     .inserted = static_cast<int64_t>(ids.size())};
}

/// A proposal that adds nodes.
inline Result<Proposal> ProposeNodes(Graph& graph, std::string_view type,
                                     const std::vector<std::string>& ids) {
  Proposal out;
  out.base = graph.snapshot();
  out.commit.op = CommitOp::kLoad;
  out.commit.actor = "tester";
  out.promote = false;
  OG_ASSIGN_OR_RETURN(TableChange change, AddNodes(graph, *out.base, type, ids));
  out.changes.push_back(std::move(change));
  return out;
}

}  // namespace omnigraph::graph::testing
