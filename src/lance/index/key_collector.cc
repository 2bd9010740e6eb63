#include "key_collector.h"

#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>

#include <numeric>
#include <utility>
#include <vector>

#include "sort_keys.h"

namespace omnigraph::lance {
namespace {

/// What one array of 32-bit offsets can hold.
constexpr int64_t kKeyBytesMax = INT32_MAX;

Result<std::shared_ptr<arrow::Array>> Join(const arrow::ArrayVector& arrays,
                                           const std::shared_ptr<arrow::DataType>& type) {
  if (arrays.empty()) {
    return arrow::MakeEmptyArray(type);
  }
  return arrays.size() == 1 ? arrays[0] : arrow::Concatenate(arrays);
}

}  // namespace

void KeyCollector::Add(std::shared_ptr<arrow::StringArray> keys, uint64_t first_row_id) {
  std::vector<uint64_t> ids(static_cast<size_t>(keys->length()));
  std::iota(ids.begin(), ids.end(), first_row_id);
  const int64_t count = keys->length();
  Add(std::move(keys),
      std::make_shared<arrow::UInt64Array>(count, arrow::Buffer::FromVector(std::move(ids))));
}

void KeyCollector::Add(std::shared_ptr<arrow::StringArray> keys,
                       std::shared_ptr<arrow::UInt64Array> row_ids) {
  OG_CHECK(keys->length() == row_ids->length() && row_ids->null_count() == 0);
  if (keys->length() == 0) {
    return;
  }
  rows_ += keys->length();
  key_bytes_ += keys->total_values_length();
  nulls_ += keys->null_count();
  keys_.push_back(std::move(keys));
  row_ids_.push_back(std::move(row_ids));
}

Result<KeyRows> KeyCollector::Sort() {
  if (nulls_ > 0) {
    return Unsupported("index.null_key", "index a column: it holds nulls");
  }
  if (key_bytes_ > kKeyBytesMax || rows_ > kKeyBytesMax) {
    return Exhausted("index.segment_size",
                     "index a column: more than 2 GiB of keys in one segment; cover fewer rows");
  }
  OG_ASSIGN_OR_RETURN(const auto keys, Join(keys_, arrow::utf8()));
  OG_ASSIGN_OR_RETURN(const auto row_ids, Join(row_ids_, arrow::uint64()));
  keys_.clear();
  row_ids_.clear();
  return SortByKey({std::static_pointer_cast<arrow::StringArray>(keys),
                    std::static_pointer_cast<arrow::UInt64Array>(row_ids)});
}

}  // namespace omnigraph::lance
