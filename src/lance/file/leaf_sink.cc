#include "leaf_sink.h"

#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <limits>

namespace omnigraph::lance {
namespace {

constexpr int64_t kOffset32Max = std::numeric_limits<int32_t>::max();

}  // namespace

Status LeafSink::TooLarge() const {
  return Exhausted("lance.file.too_large",
                   "read a column of 32-bit offsets: more than 2 GiB in one batch, read fewer rows",
                   Place{.object = std::string(context_->object)});
}

Status LeafSink::Reserve(int64_t values) {
  const LeafForm& form = path_->form;
  if (form.kind == LeafForm::Kind::kVariable) {
    return offsets_.Reserve((values + 1) * form.offset_bits / 8);
  }
  if (form.kind != LeafForm::Kind::kFixed) {
    return Status::OK();
  }
  int64_t bits = 0;
  if (__builtin_mul_overflow(values, form.value_bits(), &bits)) {
    return TooLarge();
  }
  return form.item_bits == 1 ? bits_.Reserve(bits) : bytes_.Reserve(bits / 8);
}

Status LeafSink::AppendValidSlots(int64_t count) {
  slots_ += count;
  if (!def_.empty()) {
    def_.resize(static_cast<size_t>(slots_), 0);
  }
  return Status::OK();
}

Status LeafSink::AppendSlots(const std::vector<uint8_t>& rep, const std::vector<uint8_t>& def,
                             size_t begin, size_t end) {
  if (path_->row_level > 0) {
    rep_.insert(rep_.end(), rep.begin() + static_cast<std::ptrdiff_t>(begin),
                rep.begin() + static_cast<std::ptrdiff_t>(end));
  }
  if (def.empty()) {
    return AppendValidSlots(static_cast<int64_t>(end - begin));
  }
  if (def_.empty()) {
    def_.resize(static_cast<size_t>(slots_), 0);
  }
  def_.insert(def_.end(), def.begin() + static_cast<std::ptrdiff_t>(begin),
              def.begin() + static_cast<std::ptrdiff_t>(end));
  slots_ += static_cast<int64_t>(end - begin);
  return Status::OK();
}

Status LeafSink::AppendSlot(uint8_t rep, uint8_t def) {
  if (path_->row_level > 0) {
    rep_.push_back(rep);
  }
  if (def != 0 && def_.empty()) {
    def_.resize(static_cast<size_t>(slots_), 0);
    def_.push_back(def);
  } else if (!def_.empty()) {
    def_.push_back(def);
  }
  ++slots_;
  return Status::OK();
}

Status LeafSink::AppendItemBits(const uint8_t* bits, int64_t first, int64_t count,
                                arrow::TypedBufferBuilder<bool>* to) {
  OG_RETURN_NOT_OK(to->Reserve(count));
  const int64_t at = to->length();
  if (bits == nullptr) {
    to->UnsafeAppend(count, true);
    return Status::OK();
  }
  to->UnsafeAppend(count, false);
  arrow::internal::CopyBitmap(bits, first, count, to->mutable_data(), at);
  return Status::OK();
}

Status LeafSink::AppendValidity(const std::vector<const uint8_t*>& validity, int64_t begin,
                                int64_t end) {
  int64_t items = 1;
  for (size_t d = 0; d < validity_.size(); ++d) {
    items *= path_->form.dims[d];
    const uint8_t* bits = validity.empty() ? nullptr : validity[d];
    Validity& to = validity_[d];
    if (bits == nullptr && !to.used) {
      continue;
    }
    if (!to.used) {
      to.used = true;
      OG_RETURN_NOT_OK(AppendItemBits(nullptr, 0, values_ * items, &to.bits));
    }
    OG_RETURN_NOT_OK(AppendItemBits(bits, begin * items, (end - begin) * items, &to.bits));
  }
  return Status::OK();
}

template <typename Offset>
Status LeafSink::AppendOffsets(const ValueView& view, int64_t begin, int64_t end) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Offset));
  const int64_t count = end - begin;
  const int64_t first = view.OffsetAt(begin);
  const int64_t size = view.OffsetAt(end) - first;
  if (size > std::numeric_limits<Offset>::max() - end_) {
    return TooLarge();
  }
  OG_RETURN_NOT_OK(offsets_.Reserve((count + 1) * kWidth));
  OG_RETURN_NOT_OK(bytes_.Append(view.data + first, size));
  if (offsets_.length() == 0) {
    const Offset zero = 0;
    offsets_.UnsafeAppend(&zero, kWidth);
  }
  auto* to = reinterpret_cast<Offset*>(offsets_.mutable_data() + offsets_.length());
  const auto shift = static_cast<Offset>(end_ - first);
  if (view.offset_bits == 32) {
    const auto* from = static_cast<const int32_t*>(view.offsets) + begin + 1;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<Offset>(from[i] + shift);
    }
  } else {
    const auto* from = static_cast<const int64_t*>(view.offsets) + begin + 1;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = static_cast<Offset>(from[i] + (end_ - first));
    }
  }
  offsets_.UnsafeAdvance(count * kWidth);
  end_ += size;
  return Status::OK();
}

Status LeafSink::AppendValues(const ValueView& view, int64_t begin, int64_t end) {
  const LeafForm& form = path_->form;
  if (form.kind == LeafForm::Kind::kVariable) {
    OG_RETURN_NOT_OK(form.offset_bits == 32 ? AppendOffsets<int32_t>(view, begin, end)
                                            : AppendOffsets<int64_t>(view, begin, end));
  } else if (form.item_bits == 1) {
    const int64_t items = form.items_per_value();
    OG_RETURN_NOT_OK(AppendItemBits(view.data, begin * items, (end - begin) * items, &bits_));
  } else if (form.kind == LeafForm::Kind::kFixed) {
    const int64_t width = form.value_bits() / 8;
    OG_RETURN_NOT_OK(bytes_.Append(view.data + begin * width, (end - begin) * width));
  }
  OG_RETURN_NOT_OK(AppendValidity(view.validity, begin, end));
  values_ += end - begin;
  return Status::OK();
}

Status LeafSink::RepeatValue(const ValueView& view, int64_t index, int64_t count) {
  OG_RETURN_NOT_OK(Reserve(count));
  for (int64_t i = 0; i < count; ++i) {
    OG_RETURN_NOT_OK(AppendValues(view, index, index + 1));
  }
  return Status::OK();
}

Status LeafSink::PushOffset(int64_t size) {
  const int64_t limit =
      path_->form.offset_bits == 32 ? kOffset32Max : std::numeric_limits<int64_t>::max();
  if (size > limit - end_) {
    return TooLarge();
  }
  const int64_t width = path_->form.offset_bits / 8;
  const int64_t zero = 0;
  if (offsets_.length() == 0) {
    OG_RETURN_NOT_OK(offsets_.Append(&zero, width));
  }
  end_ += size;
  return offsets_.Append(&end_, width);
}

Status LeafSink::AppendVariable(const uint8_t* data, int64_t size) {
  OG_RETURN_NOT_OK(PushOffset(size));
  ++values_;
  return size == 0 ? Status::OK() : bytes_.Append(data, size);
}

Status LeafSink::AppendFixed(const uint8_t* data, const std::vector<const uint8_t*>& validity) {
  OG_RETURN_NOT_OK(bytes_.Append(data, path_->form.value_bits() / 8));
  OG_RETURN_NOT_OK(AppendValidity(validity, 0, 1));
  ++values_;
  return Status::OK();
}

Status LeafSink::AppendEmpty(int64_t count) {
  const LeafForm& form = path_->form;
  if (form.kind == LeafForm::Kind::kVariable) {
    OG_RETURN_NOT_OK(Reserve(count));
    for (int64_t i = 0; i < count; ++i) {
      OG_RETURN_NOT_OK(PushOffset(0));
    }
  } else if (form.kind == LeafForm::Kind::kFixed) {
    int64_t bits = 0;
    if (__builtin_mul_overflow(count, form.value_bits(), &bits)) {
      return TooLarge();
    }
    OG_RETURN_NOT_OK(form.item_bits == 1 ? bits_.Append(bits, false) : bytes_.Append(bits / 8, 0));
  }
  OG_RETURN_NOT_OK(AppendValidity({}, 0, count));
  values_ += count;
  return Status::OK();
}

Result<std::shared_ptr<arrow::ArrayData>> LeafSink::Finish(std::shared_ptr<arrow::Buffer> nulls,
                                                           int64_t null_count) {
  using arrow::ArrayData;
  const LeafForm& form = path_->form;
  if (form.kind == LeafForm::Kind::kNull) {
    return ArrayData::Make(path_->type, values_, {nullptr}, values_);
  }
  if (form.kind == LeafForm::Kind::kVariable) {
    if (offsets_.length() == 0) {
      const int64_t zero = 0;
      OG_RETURN_NOT_OK(offsets_.Append(&zero, form.offset_bits / 8));
    }
    OG_ASSIGN_OR_RETURN(auto offsets, offsets_.Finish());
    OG_ASSIGN_OR_RETURN(auto bytes, bytes_.Finish());
    return ArrayData::Make(path_->type, values_,
                           {std::move(nulls), std::move(offsets), std::move(bytes)}, null_count);
  }
  Result<std::shared_ptr<arrow::Buffer>> items =
      form.item_bits == 1 ? bits_.Finish() : bytes_.Finish();
  OG_RETURN_NOT_OK(items.status());
  // From the innermost item outwards.
  std::vector<std::shared_ptr<arrow::DataType>> types = {path_->type};
  for (size_t d = 0; d < form.dims.size(); ++d) {
    types.push_back(types.back()->field(0)->type());
  }
  int64_t length = values_ * form.items_per_value();
  std::shared_ptr<ArrayData> array;
  for (size_t d = form.dims.size(); d > 0; --d) {
    Validity& validity = validity_[d - 1];
    std::shared_ptr<arrow::Buffer> bits;
    if (validity.used) {
      OG_ASSIGN_OR_RETURN(bits, validity.bits.Finish());
    }
    const int64_t unknown = bits == nullptr ? 0 : arrow::kUnknownNullCount;
    if (array == nullptr) {
      array = ArrayData::Make(types[d], length, {std::move(bits), *items}, unknown);
    } else {
      array = ArrayData::Make(types[d], length, {std::move(bits)}, {std::move(array)}, unknown);
    }
    length /= form.dims[d - 1];
  }
  if (array == nullptr) {
    return ArrayData::Make(path_->type, values_, {std::move(nulls), *items}, null_count);
  }
  return ArrayData::Make(path_->type, values_, {std::move(nulls)}, {std::move(array)}, null_count);
}

}  // namespace omnigraph::lance
