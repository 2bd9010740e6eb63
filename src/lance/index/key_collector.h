/// \file
/// Gathers keys and row ids and hands them out sorted. Private.
#pragma once

#include <arrow/array.h>

#include <cstdint>
#include <memory>

#include "omnigraph/base/status.h"
#include "segment_writer.h"

namespace omnigraph::lance {

/// Single-owner. Arrays are shared, not copied, until Sort.
class KeyCollector {
 public:
  /// Row ids go on from `first_row_id`.
  void Add(std::shared_ptr<arrow::StringArray> keys, uint64_t first_row_id);
  /// REQUIRES: equal lengths, no null row ids.
  void Add(std::shared_ptr<arrow::StringArray> keys, std::shared_ptr<arrow::UInt64Array> row_ids);

  int64_t rows() const { return rows_; }
  int64_t key_bytes() const { return key_bytes_; }

  /// All rows, ascending by key. Call once.
  ///
  /// Errors: kUnsupported (`index.null_key`), kExhausted (`index.segment_size`: more than 2 GiB of
  ///         keys).
  Result<KeyRows> Sort();

 private:
  arrow::ArrayVector keys_;
  arrow::ArrayVector row_ids_;
  int64_t rows_ = 0;
  int64_t key_bytes_ = 0;
  int64_t nulls_ = 0;
};

}  // namespace omnigraph::lance
