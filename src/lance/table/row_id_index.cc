#include "row_id_index.h"

#include <algorithm>
#include <utility>

namespace omnigraph::lance {

Result<std::shared_ptr<const Table::RowIdIndex>> Table::RowIdIndex::Build(const Table& table) {
  auto index = std::make_shared<RowIdIndex>();
  for (const Fragment& fragment : table.manifest().fragments) {
    OG_ASSIGN_OR_RETURN(const RowLineage lineage, table.Lineage(fragment.id));
    uint64_t offset = 0;
    for (const RowIdSequence::Run& run : lineage.row_ids.runs()) {
      index->runs_.push_back({run.first, run.rows, MakeRowAddress(fragment.id, offset)});
      offset += run.rows;
    }
  }
  std::ranges::sort(index->runs_, [](const Run& a, const Run& b) {
    return std::pair(a.first_id, a.first_address) < std::pair(b.first_id, b.first_address);
  });
  uint64_t end = 0;
  for (const Run& run : index->runs_) {
    end = std::max(end, run.first_id + run.rows);
    index->ends_so_far_.push_back(end);
  }
  return std::shared_ptr<const RowIdIndex>(std::move(index));
}

void Table::RowIdIndex::Find(uint64_t row_id, std::vector<uint64_t>* out) const {
  size_t i = std::upper_bound(runs_.begin(), runs_.end(), row_id,
                              [](uint64_t id, const Run& run) { return id < run.first_id; }) -
             runs_.begin();
  // Runs may overlap; all that can hold the id begin at or before it and reach beyond it.
  while (i > 0 && ends_so_far_[i - 1] > row_id) {
    const Run& run = runs_[--i];
    if (row_id - run.first_id < run.rows) {
      out->push_back(run.first_address + (row_id - run.first_id));
    }
  }
}

}  // namespace omnigraph::lance
