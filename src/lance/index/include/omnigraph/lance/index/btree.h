/// \file
/// BTREE segments on a utf8 column: building one, adding one to a change, merging them in tiers.
///
/// A segment is two Lance files under `_indices/<uuid>/` that official readers use as they are,
/// with a Bloom filter of ours in the smaller one. Format: docs/format/lance-btree.md.
///
/// Segments are derived data: losing one makes lookups slower, never wrong. The number of segments
/// grows with the logarithm of the rows, and the bytes written per row for merging with it.
#pragma once

#include <arrow/array.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// Details type of a BTREE entry; its value is empty.
inline constexpr std::string_view kBTreeDetailsUrl = "/lance.table.BTreeIndexDetails";

struct BTreeOptions {
  /// Column to index: top-level, utf8.
  std::string column = "id";
  /// Rows of one page. Smaller: fewer bytes per key that is looked up, a longer page table.
  uint32_t page_rows = 256;
  /// A change gets a segment once so many rows, or so many fragments, would stand uncovered. Small
  /// changes then cost no puts for the index; lookups keep the columns of so few rows in memory.
  uint64_t uncovered_rows_max = 4096;
  size_t uncovered_fragments_max = 16;
  /// Segments of one size class that are merged into one; a class spans a factor of this.
  uint32_t merge_fan = 8;
  /// A merge makes no segment larger than about this, and one segment covers no more than this of
  /// a large change. It bounds the memory and the time that one commit spends on the index.
  uint64_t segment_bytes_max = uint64_t{128} << 20;
};

/// What the entries of the index on `column` are called: `<column>_idx`.
std::string BTreeIndexName(std::string_view column);

/// Which rows a segment stands for.
struct BTreeCoverage {
  std::string column = "id";
  int32_t field_id = 0;
  uint64_t dataset_version = 0;
  /// Ascending. Every row of these fragments with a value is in the segment.
  std::vector<uint32_t> fragment_ids;
  /// The ids given are addresses though the table has stable row ids, as Lance 14 writes them.
  bool addresses = false;
};

/// Builds one segment in memory. Single-owner.
class BTreeBuilder {
 public:
  explicit BTreeBuilder(uint32_t page_rows = BTreeOptions().page_rows);
  ~BTreeBuilder();
  BTreeBuilder(BTreeBuilder&&) noexcept;

  /// Rows whose row ids go on from `first_row_id`. The array is shared until Finish.
  void Add(std::shared_ptr<arrow::StringArray> keys, uint64_t first_row_id);
  /// Rows with a row id each. REQUIRES: equal lengths, no null row ids.
  void Add(std::shared_ptr<arrow::StringArray> keys, std::shared_ptr<arrow::UInt64Array> row_ids);

  int64_t rows() const;

  /// Sort (nothing to do where the keys came in order), put both files (ordered strength), and
  /// return the entry for Change::new_indices. Call once.
  ///
  /// Row ids are stable ids where the table has them, else addresses.
  /// Errors: any kind from ObjectStore.
  /// Cost:   two puts.
  Result<IndexMetadata> Finish(const TableLocation& location, const BTreeCoverage& coverage);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Cover the added fragments of `change`, and older ones that are not covered, with a new segment,
/// merged with older ones where a tier is full (those go to `removed_indices`). Does nothing while
/// few rows are uncovered, or when the change has its segment already.
///
/// `keys`: the values of the added rows in row order, all added fragments joined, cut anywhere;
/// empty: they are read back from the added data files. Fragments that keep old row ids
/// (compaction) have no keys here: Table carries their coverage over. Ids are those that a commit
/// on `base` assigns: Rebase onto a version that assigned ids itself drops the segment, and the
/// removals that belong to it; the rows are then scanned for until a later change covers them, or
/// call this again with the new base. The segment holds stable row ids; or addresses, where the
/// index has segments of addresses (Lance 14 made them, and refuses a mixture).
///
/// Errors: kInvalid (`index.column`: no utf8 column of this name that is not nullable;
///         `index.keys`: `keys` do not match the added rows), kCorruption, any kind from
///         ObjectStore.
/// Cost:   nothing, or two puts; every row is written again about once per tier.
Status AddBTreeSegment(const Table& base, const std::vector<std::shared_ptr<arrow::Array>>& keys,
                       Change* change, const BTreeOptions& options = {});

/// A change that covers what no segment covers, and merges where due. Empty where all is well.
///
/// Errors and cost: as AddBTreeSegment; reads the column of uncovered fragments.
Result<Change> CoverRows(const Table& table, const BTreeOptions& options = {});

}  // namespace omnigraph::lance
