// How many bytes the rows of a batch take. Asked for every append, so the layouts that tables have
// are counted here; Arrow's own walk builds arrays of ranges and costs more than all else of a row.
#include <arrow/array/data.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <optional>

#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::lance {
namespace {

// Rows [first, first + rows) of an array, its own offset included in `first`.
struct RowRange {
  int64_t first = 0;
  int64_t rows = 0;
};

template <typename Offset>
RowRange ChildRange(const arrow::ArrayData& data, RowRange range) {
  if (range.rows == 0) {
    return {};  // the offsets of no rows may be missing
  }
  const Offset* offsets = data.GetValues<Offset>(1, range.first);
  return {offsets[0], offsets[range.rows] - offsets[0]};
}

std::optional<int64_t> RangeBytes(const arrow::ArrayData& data, RowRange range);

// Of the rows of a child, named without the child's own offset.
std::optional<int64_t> ChildBytes(const arrow::ArrayData& data, size_t child, RowRange range) {
  const arrow::ArrayData& rows = *data.child_data[child];
  return RangeBytes(rows, {rows.offset + range.first, range.rows});
}

std::optional<int64_t> ValueBytes(const arrow::ArrayData& data, RowRange range) {
  const arrow::DataType& type = *data.type;
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return (range.rows + 1) * 4 + ChildRange<int32_t>(data, range).rows;
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return (range.rows + 1) * 8 + ChildRange<int64_t>(data, range).rows;
    case arrow::Type::LIST: {
      const auto items = ChildBytes(data, 0, ChildRange<int32_t>(data, range));
      return items.has_value() ? std::optional((range.rows + 1) * 4 + *items) : std::nullopt;
    }
    case arrow::Type::FIXED_SIZE_LIST: {
      const int64_t width = static_cast<const arrow::FixedSizeListType&>(type).list_size();
      return ChildBytes(data, 0, {range.first * width, range.rows * width});
    }
    default:
      if (!arrow::is_primitive(type.id())) {
        return std::nullopt;
      }
      return arrow::bit_util::BytesForBits(
          range.rows * static_cast<const arrow::FixedWidthType&>(type).bit_width());
  }
}

// Nothing for a layout that is not counted here.
std::optional<int64_t> RangeBytes(const arrow::ArrayData& data, RowRange range) {
  const std::optional<int64_t> values = ValueBytes(data, range);
  const bool has_nulls = !data.buffers.empty() && data.buffers[0] != nullptr;
  return values.has_value() && has_nulls
             ? std::optional(*values + arrow::bit_util::BytesForBits(range.rows))
             : values;
}

}  // namespace

int64_t EstimateEntryBytes(const arrow::RecordBatch& batch) {
  int64_t sum = 0;
  for (int i = 0; i < batch.num_columns(); ++i) {
    const arrow::ArrayData& data = *batch.column_data(i);
    const std::optional<int64_t> bytes = RangeBytes(data, {data.offset, data.length});
    if (!bytes.has_value()) {
      const Result<int64_t> all = arrow::util::ReferencedBufferSize(batch);
      return all.ok() ? *all : arrow::util::TotalBufferSize(batch);
    }
    sum += *bytes;
  }
  return sum;
}

}  // namespace omnigraph::lance
