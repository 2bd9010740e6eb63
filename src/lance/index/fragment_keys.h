/// \file
/// The keys of one fragment in memory, found by hash: for fragments that no segment covers.
/// Private.
#pragma once

#include <arrow/array.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "key_column.h"
#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Keys of the physical rows of a fragment, deleted ones too. Immutable.
class FragmentKeys {
 public:
  /// Errors and cost: as VisitKeys.
  static Result<std::shared_ptr<const FragmentKeys>> Read(const Table& table,
                                                          const std::vector<DataFileRef>& files,
                                                          uint64_t rows, const KeyColumn& column);

  /// Append the offsets of all rows with this key, whose XxHash64 is `hash`.
  void Find(std::string_view key, uint64_t hash, std::vector<uint32_t>* offsets) const;
  uint64_t bytes() const { return bytes_; }

 private:
  struct Slot {
    uint32_t tag = 0;
    uint32_t row = 0;  ///< 1 + number of the row; 0 = free
  };

  std::string_view KeyAt(uint32_t row) const;
  void Insert(std::string_view key, uint32_t row);

  std::vector<std::shared_ptr<arrow::StringArray>> batches_;
  std::vector<uint64_t> first_rows_;  // of each batch
  std::vector<Slot> slots_;           // open addressing; a power of two of them
  uint64_t bytes_ = 0;
};

}  // namespace omnigraph::lance
