/// \file
/// One type's rows of a cut, as the fold works on them: batches in log order, and a verdict per
/// row.
#pragma once

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cut.h"
#include "hash_map.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {

/// What becomes of one acked row (G2).
enum class Verdict : uint8_t {
  kOpen,        ///< not looked at
  kPut,         ///< the last row of its key: it becomes visible
  kDelete,      ///< the last row of its key is a tombstone
  kSuperseded,  ///< a later row of its key, or the deletion of its endpoint, took its place
  kRejected,
};

/// Rows of one batch of one entry.
struct CutBatch {
  std::shared_ptr<arrow::RecordBatch> rows;  ///< the table's columns, then `_tombstone`
  int64_t first = 0;                         ///< number of its first row within the type's cut
  uint64_t position = 0;
  uint64_t epoch = 0;
  int64_t acked_at_ms = 0;
  std::vector<lance::EntryRun> runs;  ///< of these rows; empty for rows of others

  const arrow::StringArray& ids() const {
    return static_cast<const arrow::StringArray&>(*rows->column(0));
  }
  /// Column 1 (`src`) or 2 (`dst`) of an edge.
  const arrow::StringArray& endpoint(int column) const {
    return static_cast<const arrow::StringArray&>(*rows->column(column));
  }
  const arrow::BooleanArray& tombstones() const {
    return static_cast<const arrow::BooleanArray&>(*rows->column(rows->num_columns() - 1));
  }
};

/// The run that holds a row; nullptr for rows of others.
const lance::EntryRun* RunOf(std::span<const lance::EntryRun> runs, int64_t row);

/// A row that a check of the fold refused.
struct RowReject {
  int64_t row = 0;  ///< number within the type's cut
  std::string_view code;
  std::string message;
};

/// See the file comment. Single-owner.
struct TypeCut {
  std::shared_ptr<const schema::Catalog> catalog;  ///< keeps `type` alive
  const schema::TypeDef* type = nullptr;
  int type_index = 0;
  const TableState* state = nullptr;         ///< in the base snapshot
  std::shared_ptr<const lance::Table> base;  ///< opened when it is needed: OpenBase()
  Uuid shard;                                ///< of all its rows

  std::vector<CutBatch> batches;
  int64_t rows = 0;
  std::vector<Verdict> verdicts;  ///< one per row
  std::vector<uint8_t> minted;    ///< one per row: 1 where no other writer can have its id
  bool all_minted = true;
  std::vector<RowReject> rejects;
  std::vector<Reject> early;  ///< rows that failed the whole validation (F6); not counted in `rows`

  /// Hash of each row's id; empty where all rows are minted edges.
  std::vector<Hash128> hashes;
  /// Id to the last row that took effect. Nodes: of all rows. Edges: of rows that are not minted.
  HashMap128<uint32_t> last;

  /// Addresses in `base` that this fold deletes: old rows of its keys, and cascaded edges.
  std::vector<uint64_t> deleted_addresses;
  /// Ids that the base had and that are gone afterwards (deleted or cascaded).
  std::vector<Hash128> erased;
  /// Edges that go because their endpoint went, by id; the cut's own keys are taken out again.
  std::vector<Hash128> cascaded_ids;
  HashMap128<uint8_t> cascaded_left;
  int64_t inserted = 0;
  int64_t updated = 0;
  int64_t deleted = 0;
  int64_t cascaded = 0;

  Status OpenBase(Graph& graph);
  int64_t acked() const { return rows + static_cast<int64_t>(early.size()); }
  /// The batch that holds a row.
  const CutBatch& BatchOf(int64_t row) const;
  void RejectRow(int64_t row, std::string_view code, std::string message);
};

/// The shards of a cut as types of the snapshot's catalog, in catalog order (nodes first).
///
/// Rows of entries with our mark and the current schema are taken as they are; all others are
/// mapped by property id (or name) and validated whole (F6). Errors: kCorruption
/// (`ingest.entry_shape`) for an entry of ours that does not fit its schema; any of the store.
Result<std::vector<TypeCut>> OpenCut(Graph& graph, const Snapshot& snapshot, const Cut& cut);

}  // namespace omnigraph::graph
