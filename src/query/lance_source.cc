// A Lance table as a source of rows.
#include <arrow/api.h>

#include <utility>
#include <vector>

#include "omnigraph/lance/table/table.h"
#include "omnigraph/query/snapshot_source.h"

namespace omnigraph::query {
namespace {

/// Rows of one fragment as a query numbers them.
struct FragmentRows {
  uint64_t id = 0;
  int64_t begin = 0;  ///< position of its first live row
  int64_t end = 0;
};

/// Addresses of live rows from their ascending positions.
///
/// A position counts live rows only, so each deleted row before it shifts its offset by one.
Status AppendAddresses(const lance::Table& table, const FragmentRows& rows,
                       std::vector<int64_t>::const_iterator first,
                       std::vector<int64_t>::const_iterator last,
                       std::vector<uint64_t>* addresses) {
  OG_ASSIGN_OR_RETURN(const lance::DeletionVector deletions, table.Deletions(rows.id));
  const std::vector<uint32_t> deleted = deletions.ToOffsets();
  size_t passed = 0;
  for (auto it = first; it != last; ++it) {
    const auto live = static_cast<uint64_t>(*it - rows.begin);
    while (passed < deleted.size() && deleted[passed] <= live + passed) {
      ++passed;
    }
    addresses->push_back((rows.id << 32) | (live + passed));
  }
  return Status::OK();
}

/// One version of a Lance table. Immutable and Thread-safe.
class LanceSource : public TableSource {
 public:
  explicit LanceSource(std::shared_ptr<const lance::Table> table) : table_(std::move(table)) {
    int64_t begin = 0;
    for (const lance::Fragment& fragment : table_->manifest().fragments) {
      const int64_t end = begin + static_cast<int64_t>(fragment.live_rows());
      fragments_.push_back({fragment.id, begin, end});
      begin = end;
    }
  }

  std::string identity() const override {
    return table_->location().path + "@" + std::to_string(table_->version());
  }

  int64_t rows() const override { return static_cast<int64_t>(table_->CountRows()); }

  Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns) const override {
    lance::ScanOptions options;
    options.columns = columns;
    options.batch_rows = kBatchRows;
    return table_->Scan(options);
  }

  Result<std::optional<std::shared_ptr<arrow::Table>>> Take(
      const std::vector<int64_t>& positions,
      const std::vector<std::string>& columns) const override {
    std::vector<uint64_t> addresses;
    addresses.reserve(positions.size());
    auto first = positions.begin();
    for (const FragmentRows& rows : fragments_) {
      auto last = first;
      while (last != positions.end() && *last < rows.end) {
        ++last;
      }
      if (first != last) {
        OG_RETURN_NOT_OK(AppendAddresses(*table_, rows, first, last, &addresses));
      }
      first = last;
    }
    OG_CHECK(first == positions.end());
    OG_ASSIGN_OR_RETURN(const auto batch, table_->Take(addresses, columns));
    OG_ASSIGN_OR_RETURN(auto table, arrow::Table::FromRecordBatches({batch}));
    return std::optional<std::shared_ptr<arrow::Table>>(std::move(table));
  }

 private:
  /// Whole columns are wanted, so few large batches are.
  static constexpr int64_t kBatchRows = int64_t{1} << 20;

  std::shared_ptr<const lance::Table> table_;
  std::vector<FragmentRows> fragments_;
};

}  // namespace

std::shared_ptr<const TableSource> MakeLanceSource(std::shared_ptr<const lance::Table> table) {
  return std::make_shared<const LanceSource>(std::move(table));
}

}  // namespace omnigraph::query
