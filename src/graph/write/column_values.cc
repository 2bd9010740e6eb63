#include "column_values.h"

#include <arrow/array/data.h>

#include <limits>
#include <utility>

namespace omnigraph::write {
namespace {

/// A column that grew larger in one batch gives its memory back.
constexpr size_t kKeptBytes = 16 << 10;

void AppendBit(std::string* bits, int64_t at, bool value) {
  if (at % 8 == 0) {
    bits->push_back('\0');
  }
  if (value) {
    bits->back() = static_cast<char>(bits->back() | (1 << (at % 8)));
  }
}

/// Back to `size` first elements.
template <typename Container>
void Restart(Container* container, size_t size) {
  container->resize(size);
  if (container->capacity() * sizeof(typename Container::value_type) > kKeptBytes) {
    container->shrink_to_fit();
  }
}

template <typename Offset>
size_t BytesOf(const std::vector<Offset>& offsets) {
  return offsets.size() * sizeof(Offset);
}

}  // namespace

BatchMemory::BatchMemory(int64_t bytes)
    : all_(arrow::Buffer::FromString(std::string(static_cast<size_t>(bytes), '\0'))) {}

std::shared_ptr<arrow::Buffer> BatchMemory::Copy(const void* data, size_t bytes) {
  OG_CHECK(used_ + Padded(bytes) <= all_->size());
  if (bytes > 0) {
    // The string is ours alone until the batch is out.
    std::memcpy(const_cast<uint8_t*>(all_->data()) + used_, data, bytes);
  }
  auto piece = std::make_shared<arrow::Buffer>(all_, used_, static_cast<int64_t>(bytes));
  used_ += Padded(bytes);
  return piece;
}

ColumnValues::Layout ColumnValues::LayoutOf(arrow::Type::type type) {
  switch (type) {
    case arrow::Type::BOOL:
      return Layout::kBits;
    case arrow::Type::STRING:
      return Layout::kText;
    case arrow::Type::LARGE_BINARY:
      return Layout::kBlob;
    case arrow::Type::LIST:
      return Layout::kList;
    case arrow::Type::FIXED_SIZE_LIST:
      return Layout::kVector;
    default:
      return Layout::kFixed;
  }
}

ColumnValues::ColumnValues(const std::shared_ptr<arrow::DataType>& type)
    : type_(type), layout_(LayoutOf(type->id())) {
  if (layout_ == Layout::kFixed) {
    width_ = static_cast<size_t>(type->byte_width());
  } else if (layout_ == Layout::kVector) {
    width_ = static_cast<size_t>(static_cast<const arrow::FixedSizeListType&>(*type).list_size());
  }
  if (layout_ == Layout::kList || layout_ == Layout::kVector) {
    items_ = std::make_unique<ColumnValues>(type->field(0)->type());
  }
  offsets_.assign(layout_ == Layout::kText || layout_ == Layout::kList ? 1 : 0, 0);
  large_offsets_.assign(layout_ == Layout::kBlob ? 1 : 0, 0);
}

void ColumnValues::NoteValid() {
  if (nulls_ > 0) {
    AppendBit(&validity_, rows_, true);
  }
  ++rows_;
}

/// Say where the value ends that was just added, and count it.
void ColumnValues::EndValue() {
  if (layout_ == Layout::kText) {
    offsets_.push_back(static_cast<int32_t>(values_.size()));
  } else if (layout_ == Layout::kBlob) {
    large_offsets_.push_back(static_cast<int64_t>(values_.size()));
  } else if (layout_ == Layout::kList) {
    offsets_.push_back(static_cast<int32_t>(items_->rows_));
  }
  NoteValid();
}

void ColumnValues::AppendFilling() {
  if (layout_ == Layout::kBits) {
    AppendBit(&values_, rows_, false);
  } else if (layout_ == Layout::kFixed) {
    values_.append(width_, '\0');
  } else if (layout_ == Layout::kVector) {
    for (size_t i = 0; i < width_; ++i) {
      items_->AppendFilling();
    }
  }
  EndValue();
}

void ColumnValues::AppendNull() {
  if (nulls_ == 0) {
    for (int64_t at = 0; at < rows_; ++at) {
      AppendBit(&validity_, at, true);
    }
  }
  ++nulls_;
  if (layout_ == Layout::kVector) {
    // The values under a null vector are null too: one rule for every reader.
    for (size_t i = 0; i < width_; ++i) {
      items_->AppendNull();
    }
    NoteValid();
  } else {
    AppendFilling();
  }
  validity_.back() = static_cast<char>(validity_.back() & ~(1 << ((rows_ - 1) % 8)));
}

void ColumnValues::AppendBool(bool value) {
  AppendBit(&values_, rows_, value);
  NoteValid();
}

Status ColumnValues::AppendBytes(std::string_view bytes) {
  constexpr size_t kTextMax = std::numeric_limits<int32_t>::max() - 1;
  if (layout_ == Layout::kText && bytes.size() > kTextMax - values_.size()) {
    return Exhausted("row.memory", "a column of one batch grows past 2 GiB");
  }
  values_.append(bytes);
  EndValue();
  return Status::OK();
}

void ColumnValues::AppendList() {
  EndValue();
}

int64_t ColumnValues::padded_bytes() const {
  return BatchMemory::Padded(validity_.size()) + BatchMemory::Padded(BytesOf(offsets_)) +
         BatchMemory::Padded(BytesOf(large_offsets_)) + BatchMemory::Padded(values_.size()) +
         (items_ != nullptr ? items_->padded_bytes() : 0);
}

std::shared_ptr<arrow::ArrayData> ColumnValues::Take(BatchMemory* memory) {
  std::vector<std::shared_ptr<arrow::Buffer>> buffers;
  buffers.reserve(3);
  buffers.push_back(nulls_ > 0 ? memory->Copy(validity_.data(), validity_.size()) : nullptr);
  if (layout_ == Layout::kText || layout_ == Layout::kList) {
    buffers.push_back(memory->Copy(offsets_.data(), BytesOf(offsets_)));
    Restart(&offsets_, 1);
  } else if (layout_ == Layout::kBlob) {
    buffers.push_back(memory->Copy(large_offsets_.data(), BytesOf(large_offsets_)));
    Restart(&large_offsets_, 1);
  }
  if (items_ == nullptr) {
    buffers.push_back(memory->Copy(values_.data(), values_.size()));
  }
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  if (items_ != nullptr) {
    children.push_back(items_->Take(memory));
  }
  Restart(&validity_, 0);
  Restart(&values_, 0);
  return arrow::ArrayData::Make(type_, std::exchange(rows_, 0), std::move(buffers),
                                std::move(children), std::exchange(nulls_, 0));
}

}  // namespace omnigraph::write
