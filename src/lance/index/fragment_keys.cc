#include "fragment_keys.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "omnigraph/base/hash.h"

namespace omnigraph::lance {
namespace {

uint32_t TagOf(uint64_t hash) {
  return static_cast<uint32_t>(hash >> 32);
}

}  // namespace

Result<std::shared_ptr<const FragmentKeys>> FragmentKeys::Read(
    const Table& table, const std::vector<DataFileRef>& files, uint64_t rows,
    const KeyColumn& column) {
  auto keys = std::make_shared<FragmentKeys>();
  keys->slots_.resize(std::bit_ceil(std::max<uint64_t>(4, rows + rows / 2)));
  keys->bytes_ = keys->slots_.size() * sizeof(Slot) + 1024;
  OG_RETURN_NOT_OK(VisitKeys(
      table, files, rows, column, [&](std::shared_ptr<arrow::StringArray> batch, uint64_t first) {
        keys->bytes_ += static_cast<uint64_t>(batch->total_values_length() + batch->length() * 4);
        for (int64_t i = 0; i < batch->length(); ++i) {
          if (!batch->IsNull(i)) {
            keys->Insert(batch->GetView(i),
                         static_cast<uint32_t>(first) + static_cast<uint32_t>(i));
          }
        }
        keys->batches_.push_back(std::move(batch));
        keys->first_rows_.push_back(first);
        return Status::OK();
      }));
  return std::shared_ptr<const FragmentKeys>(std::move(keys));
}

std::string_view FragmentKeys::KeyAt(uint32_t row) const {
  const auto after = std::upper_bound(first_rows_.begin(), first_rows_.end(), row);
  const auto batch = static_cast<size_t>(after - first_rows_.begin()) - 1;
  return batches_[batch]->GetView(static_cast<int64_t>(row - first_rows_[batch]));
}

void FragmentKeys::Insert(std::string_view key, uint32_t row) {
  const uint64_t hash = XxHash64(key);
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].row != 0) {
    at = (at + 1) & (slots_.size() - 1);
  }
  slots_[at] = {TagOf(hash), row + 1};
}

void FragmentKeys::Find(std::string_view key, uint64_t hash, std::vector<uint32_t>* offsets) const {
  for (size_t at = hash & (slots_.size() - 1); slots_[at].row != 0;
       at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].tag == TagOf(hash) && KeyAt(slots_[at].row - 1) == key) {
      offsets->push_back(slots_[at].row - 1);
    }
  }
}

}  // namespace omnigraph::lance
