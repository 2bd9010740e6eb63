#include "btree_segment.h"

#include <arrow/array/builder_binary.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "btree_format.h"
#include "omnigraph/lance/index/btree.h"

namespace omnigraph::lance {
namespace {

/// A whole decimal number; nullopt for anything else.
std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

std::optional<uint64_t> SizeOfFile(const IndexMetadata& index, std::string_view name) {
  for (const IndexFileRef& file : index.files) {
    if (file.path == name && file.size_bytes > 0) {
      return file.size_bytes;
    }
  }
  return std::nullopt;
}

/// First number in [begin, end) for which `after` holds; it holds for all that follow.
template <typename After>
uint32_t FirstPage(uint32_t begin, uint32_t end, const After& after) {
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (after(middle)) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

}  // namespace

uint64_t BTreePage::bytes() const {
  return static_cast<uint64_t>(keys->total_values_length()) + ids.size() * 12 + 256;
}

std::pair<int64_t, int64_t> BTreePage::Find(std::string_view key) const {
  const int64_t rows = keys->length();
  int64_t begin = 0;
  int64_t end = rows;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (keys->GetView(middle) < key) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  while (end < rows && keys->GetView(end) == key) {
    ++end;
  }
  return {begin, end};
}

bool IsBTreeOn(const IndexMetadata& index, int32_t field_id) {
  const int32_t version = index.index_version.value_or(kBTreeOfRowIds);
  return index.has_fragment_bitmap && index.details_type_url == kBTreeDetailsUrl &&
         index.field_ids.size() == 1 && index.field_ids[0] == field_id &&
         (version == kBTreeOfRowIds || version == kBTreeOfAddresses);
}

bool HoldsAddresses(const IndexMetadata& index) {
  return index.index_version.value_or(kBTreeOfRowIds) == kBTreeOfAddresses;
}

Result<std::vector<std::optional<uint64_t>>> LiveAddresses(const Table& table,
                                                           const IndexMetadata& index,
                                                           std::span<const uint64_t> ids) {
  std::vector<std::optional<uint64_t>> addresses;
  if (HoldsAddresses(index)) {
    addresses.assign(ids.begin(), ids.end());
    OG_ASSIGN_OR_RETURN(const std::vector<bool> live, table.AreLive(ids));
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!live[i]) {
        addresses[i].reset();
      }
    }
  } else {
    OG_ASSIGN_OR_RETURN(addresses, table.AddressesOfRowIds(ids));
  }
  for (std::optional<uint64_t>& address : addresses) {
    if (address && !std::ranges::binary_search(index.fragment_ids, FragmentOfAddress(*address))) {
      address.reset();
    }
  }
  return addresses;
}

Status BTreeSegment::Corrupt(std::string_view what) const {
  return Corruption("index.btree", fmt::format("read index segment {}: {}", folder_, what),
                    folder_);
}

Result<std::shared_ptr<const BTreeSegment>> BTreeSegment::Open(const TableLocation& location,
                                                               const IndexMetadata& index) {
  std::shared_ptr<BTreeSegment> segment(new BTreeSegment());
  segment->folder_ = location.Child(fmt::format("{}/{}", kIndicesFolder, index.uuid.ToString()));
  const auto open_part = [&](std::string_view name) {
    return FileReader::Open(location.store, fmt::format("{}/{}", segment->folder_, name),
                            SizeOfFile(index, name));
  };
  OG_ASSIGN_OR_RETURN(segment->table_, open_part(kPageLookupFile));
  OG_RETURN_NOT_OK(segment->ReadParameters());
  OG_ASSIGN_OR_RETURN(segment->data_, open_part(kPageDataFile));
  OG_RETURN_NOT_OK(segment->ReadLookup());
  OG_RETURN_NOT_OK(segment->CheckOrder());
  return std::shared_ptr<const BTreeSegment>(std::move(segment));
}

Status BTreeSegment::ReadParameters() {
  const auto& metadata = table_->schema().metadata();
  const auto partitioned = metadata.find(std::string(kRangePartitionedKey));
  if (partitioned != metadata.end() && partitioned->second != "false") {
    return Unsupported("index.btree",
                       fmt::format("read index segment {}: it is partitioned by range", folder_),
                       {.object = folder_});
  }
  const auto batch = metadata.find(std::string(kBatchSizeKey));
  const std::optional<int64_t> rows =
      batch == metadata.end() ? std::nullopt : ParseNumber(batch->second);
  if (!rows || *rows <= 0 || *rows > UINT32_MAX) {
    return Corrupt("its page size is missing or no number");
  }
  if (*rows > kPageRowsMax) {
    return Unsupported("index.btree",
                       fmt::format("read index segment {}: pages of {} rows", folder_, *rows),
                       {.object = folder_});
  }
  batch_rows_ = *rows;
  const auto bloom = metadata.find(std::string(kBloomKey));
  if (bloom == metadata.end()) {
    return Status::OK();
  }
  const std::optional<int64_t> number = ParseNumber(bloom->second);
  if (!number || *number <= 0 || *number >= table_->num_global_buffers()) {
    return Corrupt("it names a Bloom filter that is not there");
  }
  bloom_buffer_ = static_cast<int32_t>(*number);
  return Status::OK();
}

Status BTreeSegment::ReadLookup() {
  const auto request =
      [&](const FileReader& file,
          const std::vector<std::string>& names) -> Result<std::vector<ColumnRequest>> {
    auto columns = file.RequestColumns(names);
    return columns.ok() || !IsNotFound(columns.status()) ? columns : Corrupt("a column is missing");
  };
  OG_ASSIGN_OR_RETURN(const auto wanted,
                      request(*table_, {"min", "max", "null_count", "page_idx"}));
  OG_ASSIGN_OR_RETURN(columns_, request(*data_, {"values", "ids"}));
  const arrow::DataType& values = *columns_[0].field->type();
  if (columns_[1].field->type()->id() != arrow::Type::UINT64 ||
      !wanted[0].field->type()->Equals(values) || !wanted[1].field->type()->Equals(values) ||
      wanted[2].field->type()->id() != arrow::Type::UINT32 ||
      wanted[3].field->type()->id() != arrow::Type::UINT32) {
    return Corrupt("its columns have other types");
  }
  // Before a row is read: a few bytes of a file can stand for any number of equal rows. Numbers of
  // pages differ, and no codec puts so many into a byte.
  constexpr uint64_t kPagesPerByteMax = 256;
  const int64_t pages = data_->rows() / batch_rows_ + (data_->rows() % batch_rows_ != 0 ? 1 : 0);
  if (table_->rows() != pages || pages > UINT32_MAX ||
      static_cast<uint64_t>(pages) / kPagesPerByteMax > table_->size()) {
    return Corrupt(fmt::format("{} rows in pages of {}, and {} pages in its table of {} bytes",
                               data_->rows(), batch_rows_, table_->rows(), table_->size()));
  }
  OG_ASSIGN_OR_RETURN(lookup_, table_->ReadRange(wanted, 0, pages));
  if (bloom_buffer_ != 0) {
    bloom_bytes_ = BloomFilter::EncodedBytes(rows());
  }
  return Status::OK();
}

/// Check that pages follow each other, and learn where values begin.
Status BTreeSegment::CheckOrder() {
  const auto& numbers = static_cast<const arrow::UInt32Array&>(*lookup_->column(3));
  for (int64_t page = 0; page < lookup_->num_rows(); ++page) {
    if (numbers.IsNull(page) || numbers.Value(page) != page) {
      return Corrupt("its pages are not numbered in order");
    }
  }
  if (columns_[0].field->type()->id() != arrow::Type::STRING) {
    return Status::OK();
  }
  mins_ = static_cast<const arrow::StringArray*>(lookup_->column(0).get());
  maxes_ = static_cast<const arrow::StringArray*>(lookup_->column(1).get());
  while (first_keyed_page_ < pages() && maxes_->IsNull(first_keyed_page_)) {
    ++first_keyed_page_;
  }
  for (uint32_t page = first_keyed_page_; page < pages(); ++page) {
    const bool first = page == first_keyed_page_;
    if (maxes_->IsNull(page) || (mins_->IsNull(page) && !first) ||
        (!mins_->IsNull(page) && mins_->GetView(page) > maxes_->GetView(page)) ||
        (!first && maxes_->GetView(page - 1) > mins_->GetView(page))) {
      return Corrupt(fmt::format("page {} is out of order", page));
    }
  }
  return Status::OK();
}

Status BTreeSegment::CheckUtf8() const {
  return mins_ != nullptr ? Status::OK() : Corrupt("its values are not utf8 as the column is");
}

uint64_t BTreeSegment::bytes() const {
  uint64_t bytes = 4096 + 8 * uint64_t{pages()};
  if (mins_ != nullptr) {
    bytes += static_cast<uint64_t>(mins_->total_values_length() + maxes_->total_values_length()) +
             16 * uint64_t{pages()};
  }
  return bytes;
}

uint64_t BTreeSegment::page_bytes() const {
  return data_->size() / std::max<uint64_t>(1, pages());
}

int64_t BTreeSegment::PageEnd(uint32_t page) const {
  return std::min(data_->rows(), PageBegin(page) + batch_rows_);
}

BTreeSegment::PageSpan BTreeSegment::PagesOf(std::string_view key) const {
  const uint32_t begin = FirstPage(first_keyed_page_, pages(),
                                   [&](uint32_t page) { return maxes_->GetView(page) >= key; });
  uint32_t end = begin;
  while (end < pages() && (mins_->IsNull(end) || mins_->GetView(end) <= key)) {
    ++end;
  }
  return {begin, end};
}

Result<std::shared_ptr<const BloomFilter>> BTreeSegment::ReadBloom() const {
  OG_CHECK(bloom_buffer_ > 0);
  OG_ASSIGN_OR_RETURN(auto bytes, table_->ReadGlobalBuffer(bloom_buffer_));
  OG_ASSIGN_OR_RETURN(BloomFilter filter, BloomFilter::Parse(std::move(bytes), table_->path()));
  return std::make_shared<const BloomFilter>(std::move(filter));
}

Result<std::shared_ptr<const BTreePage>> BTreeSegment::CutPage(const arrow::RecordBatch& batch,
                                                               int64_t begin, uint32_t page) const {
  const auto& keys = static_cast<const arrow::StringArray&>(*batch.column(0));
  const auto& ids = static_cast<const arrow::UInt64Array&>(*batch.column(1));
  const int64_t end = begin + PageEnd(page) - PageBegin(page);
  while (begin < end && keys.IsNull(begin)) {
    ++begin;
  }
  // A copy of its own: the batch holds all pages that were read with this one.
  arrow::StringBuilder builder;
  OG_RETURN_NOT_OK(builder.Reserve(end - begin));
  OG_RETURN_NOT_OK(builder.ReserveData(keys.value_offset(end) - keys.value_offset(begin)));
  for (int64_t row = begin; row < end; ++row) {
    if (keys.IsNull(row) || ids.IsNull(row) ||
        (row > begin && keys.GetView(row) < keys.GetView(row - 1))) {
      return Corrupt(fmt::format("the rows of page {} are out of order", page));
    }
    builder.UnsafeAppend(keys.GetView(row));
  }
  if (begin < end && ((!mins_->IsNull(page) && keys.GetView(begin) < mins_->GetView(page)) ||
                      maxes_->IsNull(page) || keys.GetView(end - 1) > maxes_->GetView(page))) {
    return Corrupt(fmt::format("page {} holds keys outside its bounds", page));
  }
  auto cut = std::make_shared<BTreePage>();
  OG_RETURN_NOT_OK(builder.Finish(&cut->keys));
  cut->ids.assign(ids.raw_values() + begin, ids.raw_values() + end);
  return std::shared_ptr<const BTreePage>(std::move(cut));
}

Result<std::vector<std::shared_ptr<const BTreePage>>> BTreeSegment::ReadPages(
    std::span<const uint32_t> pages) const {
  std::vector<uint64_t> rows;
  for (const uint32_t page : pages) {
    const size_t at = rows.size();
    rows.resize(at + static_cast<size_t>(PageEnd(page) - PageBegin(page)));
    std::iota(rows.begin() + static_cast<int64_t>(at), rows.end(),
              static_cast<uint64_t>(PageBegin(page)));
  }
  OG_ASSIGN_OR_RETURN(const auto batch, data_->Take(columns_, rows));
  std::vector<std::shared_ptr<const BTreePage>> out;
  int64_t begin = 0;
  for (const uint32_t page : pages) {
    OG_ASSIGN_OR_RETURN(auto cut, CutPage(*batch, begin, page));
    out.push_back(std::move(cut));
    begin += PageEnd(page) - PageBegin(page);
  }
  return out;
}

Result<std::shared_ptr<arrow::RecordBatch>> BTreeSegment::ReadRows(int64_t offset,
                                                                   int64_t count) const {
  return data_->ReadRange(columns_, offset, count);
}

}  // namespace omnigraph::lance
