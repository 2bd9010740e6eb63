/// \file
/// The history: per commit one row for the commit and one per touched table, in the rows of
/// `__manifest`.
///
/// Columns: docs/format/manifest-table.md. No row holds its sequence number.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace arrow {
class RecordBatch;
class Schema;
}  // namespace arrow
namespace omnigraph::lance {
class Table;
}  // namespace omnigraph::lance

namespace omnigraph::graph {

class Graph;

/// What a commit did; stored as a word.
enum class CommitOp : uint8_t {
  kInit,
  kLoad,
  kMutate,
  kFold,
  kEnrol,
  kMerge,
  kSchema,
  kBranch,
  kResume,
  kOptimize,
};
std::string_view CommitOpName(CommitOp op);
/// Errors: kInvalid (`commit.op`).
Result<CommitOp> ParseCommitOp(std::string_view name);

/// What one commit did to one table.
struct TableEffect {
  TableId table_id = 0;
  std::string type;
  uint64_t from_version = 0;
  uint64_t to_version = 0;
  int64_t inserted = 0;
  int64_t updated = 0;
  int64_t deleted = 0;
};

/// One commit as the history keeps it. Value type.
struct CommitRecord {
  std::string
      id;  ///< ULID, fixed before the first attempt (C2); the Publisher makes one when empty
  std::vector<std::string> parents;  ///< filled by the Publisher with the head that it went onto
  std::string actor;
  std::chrono::microseconds time{0};  ///< since the Unix epoch; filled when 0
  CommitOp op = CommitOp::kMutate;
  std::string message;
  std::string details;  ///< JSON object, or empty
  std::vector<TableEffect> tables;
};

/// Arrow schema of `__manifest`'s rows.
const std::shared_ptr<arrow::Schema>& HistorySchema();
/// Rows of a commit: its own first, then one per table.
Result<std::shared_ptr<arrow::RecordBatch>> HistoryRows(const CommitRecord& commit);
/// Commits of any batches of history rows, in row order; a commit's rows are adjacent.
/// Errors: kCorruption (`manifest.history`).
Result<std::vector<CommitRecord>> CommitsOf(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, std::string_view object);

/// Newest commits first, at most `limit`. Reads fragments from the newest on until it has enough.
/// Errors: any of the store; kCorruption.
Result<std::vector<CommitRecord>> ListCommits(const lance::Table& manifest, int64_t limit);
/// Look from the newest fragment back for `commit_id`, not further than the commit `stop_at` (C2).
Result<bool> HistoryHolds(const lance::Table& manifest, std::string_view commit_id,
                          std::string_view stop_at);

}  // namespace omnigraph::graph
