/// \file
/// From stable row id to row address, for one version of a table. Private to this layer.
#pragma once

#include <cstdint>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// Runs of consecutive ids, found by binary search. Immutable.
///
/// The same id may stand in two fragments (an update that kept it): at most one of them is live.
class Table::RowIdIndex {
 public:
  /// Errors: kCorruption (`row_ids.*`).
  static Result<std::shared_ptr<const RowIdIndex>> Build(const Table& table);

  /// Append to `out` every address that carries `row_id`, live or not.
  void Find(uint64_t row_id, std::vector<uint64_t>* out) const;

 private:
  struct Run {
    uint64_t first_id;
    uint64_t rows;
    uint64_t first_address;
  };
  std::vector<Run> runs_;              // ascending by first_id
  std::vector<uint64_t> ends_so_far_;  // largest id + 1 of runs_[0..i]
};

}  // namespace omnigraph::lance
