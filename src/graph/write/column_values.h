/// \file
/// The values of one column while rows are gathered, and the Arrow array that they become.
///
/// Arrow's builders give their memory away with every batch: a stream of one-row batches then
/// spends most of its time in the allocator. Here the memory stays, and a batch is one allocation.
#pragma once

#include <arrow/buffer.h>
#include <arrow/type.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::write {

/// Memory of one batch, handed out piece by piece to its columns. From the plain allocator: aligned
/// memory, as Arrow's pools give it, costs a small batch more than all its columns. Single-owner.
class BatchMemory {
 public:
  explicit BatchMemory(int64_t bytes);

  /// Bytes that a piece takes.
  static int64_t Padded(size_t bytes) {
    constexpr int64_t kAlignment = 64;
    return (static_cast<int64_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
  }
  /// A copy of `bytes`, zeros up to the next piece. REQUIRES: all pieces fit.
  std::shared_ptr<arrow::Buffer> Copy(const void* data, size_t bytes);

 private:
  std::shared_ptr<arrow::Buffer> all_;
  int64_t used_ = 0;
};

/// Thread-compatible. REQUIRES of all appends: the one that fits the type.
class ColumnValues {
 public:
  /// Types that schema::ArrowTypeOf makes.
  explicit ColumnValues(const std::shared_ptr<arrow::DataType>& type);

  void AppendNull();
  /// "", 0, false, an empty list, a vector of zeros.
  void AppendFilling();
  void AppendBool(bool value);
  template <typename T>
  void AppendNumber(T value) {
    values_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    NoteValid();
  }
  /// Text and blobs. Errors: kExhausted when the column grows past what its offsets can say.
  Status AppendBytes(std::string_view bytes);
  /// Close a list (or vector) whose elements were appended to items() just now.
  void AppendList();
  ColumnValues& items() { return *items_; }

  /// What Take() needs of the batch's memory.
  int64_t padded_bytes() const;
  /// The array of everything appended since the last call.
  std::shared_ptr<arrow::ArrayData> Take(BatchMemory* memory);

 private:
  enum class Layout : uint8_t { kBits, kFixed, kText, kBlob, kList, kVector };

  static Layout LayoutOf(arrow::Type::type type);
  void NoteValid();
  void EndValue();

  std::shared_ptr<arrow::DataType> type_;
  Layout layout_;
  size_t width_ = 0;  ///< kFixed: bytes of a value; kVector: elements
  int64_t rows_ = 0;
  int64_t nulls_ = 0;
  std::string validity_;  ///< bits; empty until the first null
  std::string values_;    ///< bits, numbers or text
  std::vector<int32_t> offsets_;
  std::vector<int64_t> large_offsets_;
  std::unique_ptr<ColumnValues> items_;
};

}  // namespace omnigraph::write
