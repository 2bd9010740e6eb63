#include <arrow/array/builder_primitive.h>
#include <arrow/array/concatenate.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>

#include "fragment_reader.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {
namespace {

Status CheckLive(const Table& table, std::span<const uint64_t> addresses) {
  OG_ASSIGN_OR_RETURN(const std::vector<bool> live, table.AreLive(addresses));
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) {
      return NotFound("take.no_row",
                      fmt::format("version {} of {} has no live row at fragment {}, offset {}",
                                  table.version(), table.location().path,
                                  FragmentOfAddress(addresses[i]), OffsetOfAddress(addresses[i])),
                      {.object = table.location().path});
    }
  }
  return Status::OK();
}

/// Columns of the sorted addresses, fragment after fragment.
Result<arrow::ArrayVector> TakeSorted(const Table& table, const std::vector<uint64_t>& sorted,
                                      const std::vector<ColumnTarget>& targets) {
  std::vector<arrow::ArrayVector> pieces(targets.size());
  for (size_t begin = 0; begin < sorted.size();) {
    const uint32_t id = FragmentOfAddress(sorted[begin]);
    std::vector<uint64_t> offsets;
    size_t end = begin;
    for (; end < sorted.size() && FragmentOfAddress(sorted[end]) == id; ++end) {
      offsets.push_back(OffsetOfAddress(sorted[end]));
    }
    OG_ASSIGN_OR_RETURN(const FragmentReader reader,
                        FragmentReader::Make(table, *table.manifest().FindFragment(id), targets));
    OG_ASSIGN_OR_RETURN(const arrow::ArrayVector arrays, reader.Take(offsets));
    for (size_t i = 0; i < arrays.size(); ++i) {
      pieces[i].push_back(arrays[i]);
    }
    begin = end;
  }
  arrow::ArrayVector columns;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (pieces[i].empty()) {
      OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> empty,
                          arrow::MakeEmptyArray(targets[i].field->type()));
      columns.push_back(std::move(empty));
      continue;
    }
    OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> joined, arrow::Concatenate(pieces[i]));
    columns.push_back(std::move(joined));
  }
  return columns;
}

/// Rows of a batch at these places, in this order.
Result<std::shared_ptr<arrow::RecordBatch>> Pick(const std::shared_ptr<arrow::RecordBatch>& batch,
                                                 const std::vector<uint64_t>& places) {
  arrow::UInt64Builder builder;
  OG_RETURN_NOT_OK(builder.AppendValues(places));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> indices, builder.Finish());
  arrow::compute::ExecContext context;
  context.set_use_threads(false);
  OG_ASSIGN_OR_RETURN(
      const arrow::Datum taken,
      arrow::compute::Take(batch, indices, arrow::compute::TakeOptions::NoBoundsCheck(), &context));
  return taken.record_batch();
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> Table::Take(
    std::span<const uint64_t> addresses, const std::vector<std::string>& columns) const {
  OG_ASSIGN_OR_RETURN(
      const std::vector<ColumnTarget> targets,
      ResolveColumns(*this, columns.empty() ? std::nullopt : std::optional(columns)));
  OG_RETURN_NOT_OK(CheckLive(*this, addresses));
  std::vector<uint64_t> sorted(addresses.begin(), addresses.end());
  std::ranges::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  OG_ASSIGN_OR_RETURN(arrow::ArrayVector arrays, TakeSorted(*this, sorted, targets));
  arrow::FieldVector fields;
  for (const ColumnTarget& target : targets) {
    fields.push_back(target.field);
  }
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema(std::move(fields)), static_cast<int64_t>(sorted.size()), std::move(arrays));
  if (std::ranges::equal(sorted, addresses)) {
    return batch;
  }
  std::vector<uint64_t> places;
  places.reserve(addresses.size());
  for (const uint64_t address : addresses) {
    places.push_back(
        static_cast<uint64_t>(std::ranges::lower_bound(sorted, address) - sorted.begin()));
  }
  return Pick(batch, places);
}

}  // namespace omnigraph::lance
