#include "omnigraph/lance/table/scan.h"

#include <arrow/array/builder_primitive.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "fragment_reader.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {
namespace {

/// Rows are read in windows of about this many bytes, then cut into batches.
constexpr uint64_t kWindowBytes = uint64_t{8} << 20;
constexpr int64_t kWindowRowsMax = 131072;

std::shared_ptr<arrow::Schema> ResultSchema(const std::vector<ColumnTarget>& targets,
                                            const ScanOptions& options) {
  arrow::FieldVector fields;
  for (const ColumnTarget& target : targets) {
    fields.push_back(target.field);
  }
  const auto add = [&](bool wanted, std::string_view name) {
    if (wanted) {
      fields.push_back(arrow::field(std::string(name), arrow::uint64(), /*nullable=*/false));
    }
  };
  add(options.with_row_id, kRowIdColumn);
  add(options.with_row_address, kRowAddressColumn);
  add(options.with_created_version, kCreatedVersionColumn);
  add(options.with_updated_version, kUpdatedVersionColumn);
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::Array>> ArrayOf(const std::vector<uint64_t>& values) {
  arrow::UInt64Builder builder;
  OG_RETURN_NOT_OK(builder.AppendValues(values));
  return builder.Finish();
}

/// Leaves deleted rows out. `deletions` holds at least one row of the window.
Result<std::shared_ptr<arrow::RecordBatch>> DropDeleted(
    const std::shared_ptr<arrow::RecordBatch>& batch, const DeletionVector& deletions,
    int64_t offset) {
  arrow::BooleanBuilder mask;
  OG_RETURN_NOT_OK(mask.Reserve(batch->num_rows()));
  for (int64_t i = 0; i < batch->num_rows(); ++i) {
    mask.UnsafeAppend(!deletions.Contains(static_cast<uint32_t>(offset + i)));
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> keep, mask.Finish());
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  OG_ASSIGN_OR_RETURN(
      const arrow::Datum kept,
      arrow::compute::Filter(batch, keep, arrow::compute::FilterOptions::Defaults(), &context));
  return kept.record_batch();
}

/// The rows of a table, fragment after fragment, window after window. Thread-compatible.
class ScanReader : public arrow::RecordBatchReader {
 public:
  ScanReader(std::shared_ptr<const Table> table, const ScanOptions& options,
             std::vector<ColumnTarget> targets, std::vector<const Fragment*> fragments)
      : table_(std::move(table)),
        options_(options),
        targets_(std::move(targets)),
        fragments_(std::move(fragments)),
        schema_(ResultSchema(targets_, options_)) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    out->reset();
    while (true) {
      if (window_ != nullptr && window_at_ < window_->num_rows()) {
        const int64_t rows = std::min(options_.batch_rows, window_->num_rows() - window_at_);
        *out = window_->Slice(window_at_, rows);
        window_at_ += rows;
        return Status::OK();
      }
      window_.reset();
      if (reader_ && offset_ < static_cast<int64_t>(fragment().physical_rows)) {
        OG_RETURN_NOT_OK(ReadWindow());
        continue;
      }
      if (reader_) {
        reader_.reset();
        ++fragment_at_;
      }
      if (fragment_at_ == fragments_.size()) {
        return Status::OK();
      }
      OG_RETURN_NOT_OK(OpenFragment());
    }
  }

 private:
  const Fragment& fragment() const { return *fragments_[fragment_at_]; }

  Status OpenFragment() {
    OG_ASSIGN_OR_RETURN(deletions_, table_->Deletions(fragment().id));
    OG_ASSIGN_OR_RETURN(FragmentReader reader, FragmentReader::Make(*table_, fragment(), targets_));
    const uint64_t fitting = kWindowBytes / std::max<uint64_t>(reader.bytes_per_row(), 1);
    window_rows_ = std::clamp<int64_t>(static_cast<int64_t>(fitting), 1, kWindowRowsMax);
    reader_ = std::move(reader);
    offset_ = 0;
    if (options_.with_row_id || options_.with_created_version || options_.with_updated_version) {
      OG_ASSIGN_OR_RETURN(lineage_, table_->Lineage(fragment().id));
    }
    return Status::OK();
  }

  Status ReadWindow() {
    const int64_t offset = offset_;
    const int64_t rows =
        std::min(window_rows_, static_cast<int64_t>(fragment().physical_rows) - offset);
    offset_ += rows;
    const int64_t deleted = static_cast<int64_t>(
        deletions_.CountRange(static_cast<uint64_t>(offset), static_cast<uint64_t>(offset + rows)));
    if (deleted == rows) {
      return Status::OK();
    }
    OG_ASSIGN_OR_RETURN(arrow::ArrayVector arrays, reader_->ReadRange(offset, rows));
    OG_RETURN_NOT_OK(AddSystemColumns(offset, rows, &arrays));
    auto batch = arrow::RecordBatch::Make(schema_, rows, std::move(arrays));
    if (deleted > 0) {
      OG_ASSIGN_OR_RETURN(batch, DropDeleted(batch, deletions_, offset));
    }
    window_ = std::move(batch);
    window_at_ = 0;
    return Status::OK();
  }

  Status AddSystemColumns(int64_t offset, int64_t rows, arrow::ArrayVector* arrays) const {
    const uint64_t begin = static_cast<uint64_t>(offset);
    const uint64_t end = begin + static_cast<uint64_t>(rows);
    const auto add = [&](bool wanted, const auto& fill) -> Status {
      if (!wanted) {
        return Status::OK();
      }
      std::vector<uint64_t> values;
      values.reserve(static_cast<size_t>(rows));
      fill(&values);
      OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> array, ArrayOf(values));
      arrays->push_back(std::move(array));
      return Status::OK();
    };
    OG_RETURN_NOT_OK(
        add(options_.with_row_id, [&](auto* out) { lineage_.row_ids.AppendTo(begin, end, out); }));
    OG_RETURN_NOT_OK(add(options_.with_row_address, [&](auto* out) {
      for (uint64_t at = begin; at < end; ++at) {
        out->push_back(MakeRowAddress(fragment().id, at));
      }
    }));
    OG_RETURN_NOT_OK(add(options_.with_created_version,
                         [&](auto* out) { lineage_.created.AppendTo(begin, end, out); }));
    return add(options_.with_updated_version,
               [&](auto* out) { lineage_.updated.AppendTo(begin, end, out); });
  }

  const std::shared_ptr<const Table> table_;
  const ScanOptions options_;
  const std::vector<ColumnTarget> targets_;
  const std::vector<const Fragment*> fragments_;
  const std::shared_ptr<arrow::Schema> schema_;

  // Where the scan stands: a fragment, open while reader_ is set, and a row in it.
  size_t fragment_at_ = 0;
  std::optional<FragmentReader> reader_;
  DeletionVector deletions_;
  RowLineage lineage_;
  int64_t offset_ = 0;
  int64_t window_rows_ = 0;
  // Rows read but not yet given out.
  std::shared_ptr<arrow::RecordBatch> window_;
  int64_t window_at_ = 0;
};

Result<std::vector<const Fragment*>> FragmentsOf(const Table& table, const ScanOptions& options) {
  std::vector<const Fragment*> fragments;
  for (const Fragment& fragment : table.manifest().fragments) {
    if (!options.fragments ||
        std::ranges::find(*options.fragments, fragment.id) != options.fragments->end()) {
      fragments.push_back(&fragment);
    }
  }
  if (options.fragments && fragments.size() != options.fragments->size()) {
    return Invalid("scan.unknown_fragment",
                   fmt::format("not all fragments asked for stand in version {} of {}",
                               table.version(), table.location().path),
                   {.object = table.location().path});
  }
  return fragments;
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatchReader>> Table::Scan(const ScanOptions& options) const {
  if (options.batch_rows < 1) {
    return Invalid("scan.batch_rows",
                   fmt::format("a scan in batches of {} rows; at least 1", options.batch_rows));
  }
  if ((options.with_created_version || options.with_updated_version) && !stable_row_ids()) {
    return Invalid(
        "scan.no_lineage",
        fmt::format("table {} keeps no row versions: it has no stable row ids", location_.path),
        {.object = location_.path});
  }
  OG_ASSIGN_OR_RETURN(std::vector<ColumnTarget> targets, ResolveColumns(*this, options.columns));
  OG_ASSIGN_OR_RETURN(std::vector<const Fragment*> fragments, FragmentsOf(*this, options));
  return std::make_shared<ScanReader>(shared_from_this(), options, std::move(targets),
                                      std::move(fragments));
}

}  // namespace omnigraph::lance
