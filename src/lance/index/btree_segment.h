/// \file
/// Reads one BTREE segment, ours or an official one. Private.
#pragma once

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bloom_filter.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// One page, decoded. Immutable.
struct BTreePage {
  /// Ascending, without nulls.
  std::shared_ptr<arrow::StringArray> keys;
  /// Of `keys`, row by row.
  std::vector<uint64_t> ids;

  uint64_t bytes() const;
  /// Rows [first, second) have this key.
  std::pair<int64_t, int64_t> Find(std::string_view key) const;
};

/// Whether a segment is one that this layer reads: a BTREE over exactly this field with a known
/// version and an exact fragment list.
bool IsBTreeOn(const IndexMetadata& index, int32_t field_id);
/// Whether a segment holds addresses though the table may have stable row ids.
bool HoldsAddresses(const IndexMetadata& index);

/// For each id of a segment the address of its live row in `table`, if that stands in a fragment
/// that the segment stands for: elsewhere an id that an outside update kept may have another key by
/// now. Errors and cost: as Table::AddressesOfRowIds.
Result<std::vector<std::optional<uint64_t>>> LiveAddresses(const Table& table,
                                                           const IndexMetadata& index,
                                                           std::span<const uint64_t> ids);

/// An open segment: its page table in memory. Immutable.
class BTreeSegment {
 public:
  /// Pages [begin, end).
  struct PageSpan {
    uint32_t begin = 0;
    uint32_t end = 0;
    bool empty() const { return begin == end; }
  };

  /// Errors: kNotFound (`store.not_found`) where a file is gone, kUnsupported (`index.btree`: forms
  ///         of the index that are not built), kCorruption (`index.btree`, `lance.file.*`), any
  ///         kind from ObjectStore.
  /// Cost:   the tails of two files, and the page table.
  static Result<std::shared_ptr<const BTreeSegment>> Open(const TableLocation& location,
                                                          const IndexMetadata& index);

  /// Path of the segment's folder.
  const std::string& folder() const { return folder_; }
  uint64_t rows() const { return static_cast<uint64_t>(data_->rows()); }
  uint32_t pages() const { return static_cast<uint32_t>(lookup_->num_rows()); }
  /// Columns `min`, `max`, `null_count`, `page_idx`.
  const arrow::RecordBatch& lookup() const { return *lookup_; }
  uint64_t bytes() const;
  /// Mean size of a stored page.
  uint64_t page_bytes() const;

  /// The pages that may hold a key. REQUIRES: values are utf8 (CheckUtf8).
  PageSpan PagesOf(std::string_view key) const;
  Status CheckUtf8() const;

  /// Size of the Bloom filter; 0 = it has none.
  uint64_t bloom_bytes() const { return bloom_bytes_; }
  /// Errors: kCorruption (`index.bloom`), any kind from ObjectStore. REQUIRES: bloom_bytes() > 0.
  Result<std::shared_ptr<const BloomFilter>> ReadBloom() const;

  /// Read pages and check them against the page table. REQUIRES: ascending numbers, utf8 values.
  ///
  /// Errors: kCorruption (`index.btree`, `lance.file.*`), any kind from ObjectStore.
  /// Cost:   at most two GetRanges.
  Result<std::vector<std::shared_ptr<const BTreePage>>> ReadPages(
      std::span<const uint32_t> pages) const;

  /// Rows [offset, offset + count) of the columns `values` and `ids`. Errors: as ReadPages.
  Result<std::shared_ptr<arrow::RecordBatch>> ReadRows(int64_t offset, int64_t count) const;

 private:
  BTreeSegment() = default;
  Status ReadLookup();
  Status ReadParameters();
  Status CheckOrder();
  Status Corrupt(std::string_view what) const;
  int64_t PageBegin(uint32_t page) const { return static_cast<int64_t>(page) * batch_rows_; }
  int64_t PageEnd(uint32_t page) const;
  Result<std::shared_ptr<const BTreePage>> CutPage(const arrow::RecordBatch& batch, int64_t begin,
                                                   uint32_t page) const;

  std::string folder_;
  std::shared_ptr<const FileReader> data_;
  std::shared_ptr<const FileReader> table_;
  std::vector<ColumnRequest> columns_;  // `values`, `ids`
  std::shared_ptr<arrow::RecordBatch> lookup_;
  int64_t batch_rows_ = 0;
  // Of utf8 values; pages of nulls alone have neither, they come first.
  const arrow::StringArray* mins_ = nullptr;
  const arrow::StringArray* maxes_ = nullptr;
  uint32_t first_keyed_page_ = 0;
  int32_t bloom_buffer_ = 0;
  uint64_t bloom_bytes_ = 0;
};

}  // namespace omnigraph::lance
