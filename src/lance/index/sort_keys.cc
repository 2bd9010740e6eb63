#include "sort_keys.h"

#include <arrow/buffer.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

namespace omnigraph::lance {
namespace {

/// A key by eight of its bytes, behind what all keys have in common.
struct Entry {
  uint64_t bytes;  // big endian, so that they compare as the key does; short keys end in zeros
  uint32_t row;
};

bool IsSorted(const arrow::StringArray& keys) {
  for (int64_t i = 1; i < keys.length(); ++i) {
    if (keys.GetView(i) < keys.GetView(i - 1)) {
      return false;
    }
  }
  return true;
}

/// Length of the longest prefix of all keys.
size_t CommonPrefix(const arrow::StringArray& keys) {
  const std::string_view first = keys.GetView(0);
  size_t length = first.size();
  for (int64_t i = 1; i < keys.length() && length > 0; ++i) {
    const std::string_view key = keys.GetView(i);
    length = std::min(length, key.size());
    if (std::memcmp(first.data(), key.data(), length) != 0) {
      length = static_cast<size_t>(
          std::mismatch(first.begin(), first.begin() + static_cast<int64_t>(length), key.begin())
              .first -
          first.begin());
    }
  }
  return length;
}

std::vector<Entry> SortedEntries(const arrow::StringArray& keys) {
  const size_t common = CommonPrefix(keys);
  std::vector<Entry> entries(static_cast<size_t>(keys.length()));
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string_view rest = keys.GetView(static_cast<int64_t>(i)).substr(common);
    uint64_t word = 0;
    std::memcpy(&word, rest.data(), std::min(rest.size(), sizeof(word)));
    entries[i] = {__builtin_bswap64(word), static_cast<uint32_t>(i)};
  }
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.bytes != b.bytes) {
      return a.bytes < b.bytes;
    }
    const int order = keys.GetView(a.row).compare(keys.GetView(b.row));
    return order != 0 ? order < 0 : a.row < b.row;
  });
  return entries;
}

}  // namespace

Result<KeyRows> SortByKey(KeyRows rows) {
  const arrow::StringArray& keys = *rows.keys;
  if (IsSorted(keys)) {
    return rows;
  }
  const std::vector<Entry> entries = SortedEntries(keys);
  const int64_t count = keys.length();
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> offsets,
                      arrow::AllocateBuffer((count + 1) * static_cast<int64_t>(sizeof(int32_t))));
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> data,
                      arrow::AllocateBuffer(keys.total_values_length()));
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> ids,
                      arrow::AllocateBuffer(count * static_cast<int64_t>(sizeof(uint64_t))));
  auto* ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
  auto* sorted_ids = reinterpret_cast<uint64_t*>(ids->mutable_data());
  const uint64_t* given_ids = rows.row_ids->raw_values();
  int32_t end = 0;
  *ends++ = 0;
  for (const Entry& entry : entries) {
    const std::string_view key = keys.GetView(entry.row);
    std::memcpy(data->mutable_data() + end, key.data(), key.size());
    end += static_cast<int32_t>(key.size());
    *ends++ = end;
    *sorted_ids++ = given_ids[entry.row];
  }
  return KeyRows{std::make_shared<arrow::StringArray>(count, std::move(offsets), std::move(data)),
                 std::make_shared<arrow::UInt64Array>(count, std::move(ids))};
}

}  // namespace omnigraph::lance
