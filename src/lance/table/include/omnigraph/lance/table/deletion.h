/// \file
/// Deletion vectors: the set of deleted row offsets of one fragment, and its two file forms.
///
/// Read: Arrow IPC (`.arrow`) and 32-bit Roaring (`.bin`); written: Roaring only.
/// Format: docs/format/lance-table.md, Deletion files.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/lance/table/manifest.h"

namespace omnigraph::lance {

/// The deleted row offsets of one fragment. Immutable; copies share the set.
class DeletionVector {
 public:
  /// Nothing deleted.
  DeletionVector();

  /// Offsets in any order; repeats are fine.
  static DeletionVector FromOffsets(std::span<const uint32_t> offsets);
  /// Parse a portable Roaring bitmap. Errors: kCorruption (`deletion.roaring`).
  static Result<DeletionVector> ParseRoaring(std::string_view bytes, std::string_view object);
  /// Parse an Arrow IPC file with one uint32 column. Errors: kCorruption (`deletion.arrow`).
  static Result<DeletionVector> ParseArrow(std::shared_ptr<arrow::Buffer> bytes,
                                           std::string_view object);

  bool Contains(uint32_t offset) const;
  uint64_t size() const;
  bool empty() const { return size() == 0; }
  /// Largest offset; 0 when empty.
  uint32_t max() const;
  /// Ascending.
  std::vector<uint32_t> ToOffsets() const;
  /// This set and more offsets (in any order).
  DeletionVector With(std::span<const uint32_t> offsets) const;
  /// Number of deleted offsets in [begin, end).
  uint64_t CountRange(uint64_t begin, uint64_t end) const;
  /// Portable Roaring bytes, deterministic for a set.
  std::string EncodeRoaring() const;

 private:
  struct Rep;
  explicit DeletionVector(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;
};

/// Path of a deletion file below its table: `_deletions/<fragment>-<read version>-<id>.<ext>`.
std::string DeletionFilePath(uint64_t fragment_id, const DeletionFileRef& file);

/// Read a fragment's deletion file; the empty set where it has none.
///
/// Errors: kCorruption (absent file, unreadable, offsets beyond the fragment, wrong count), any
///         kind from ObjectStore.
/// Cost:   one get.
Result<DeletionVector> ReadDeletions(const TableLocation& location, const Fragment& fragment);

/// Put a new `.bin` deletion file for a fragment (ordered strength) and return its reference.
///
/// Errors: any kind from ObjectStore.
/// Cost:   one put.
Result<DeletionFileRef> WriteDeletions(const TableLocation& location, uint64_t fragment_id,
                                       uint64_t read_version, const DeletionVector& deletions);

}  // namespace omnigraph::lance
