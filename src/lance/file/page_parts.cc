#include "page_parts.h"

#include <arrow/array/data.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>

namespace omnigraph::lance {
namespace {

using arrow::ArrayData;

Result<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t size) {
  OG_ASSIGN_OR_RETURN(auto buffer, arrow::AllocateBuffer(size));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

bool IsValid(const ArrayData& array, int64_t index) {
  return array.buffers[0] == nullptr ||
         arrow::bit_util::GetBit(array.buffers[0]->data(), array.offset + index);
}

/// Mark items of null values invalid, down to the items of `depth`; true if any bit is 0.
/// `parent_bits` has one bit per value around; empty = all valid.
bool ItemBits(const ArrayData& items, int64_t count, int32_t dim,
              const std::vector<uint8_t>& parent_bits, std::vector<uint8_t>* bits) {
  bits->assign(static_cast<size_t>(arrow::bit_util::BytesForBits(count)), 0);
  bool any = false;
  for (int64_t i = 0; i < count; ++i) {
    const bool valid = IsValid(items, i) && (parent_bits.empty() ||
                                             arrow::bit_util::GetBit(parent_bits.data(), i / dim));
    if (valid) {
      arrow::bit_util::SetBit(bits->data(), i);
    }
    any |= !valid;
  }
  return any;
}

/// Bits of the leaf's own validity by its definition levels; empty = all valid.
std::vector<uint8_t> ValueBits(const ShreddedLeaf& leaf) {
  std::vector<uint8_t> bits;
  if (leaf.def.empty()) {
    return bits;
  }
  bits.assign(static_cast<size_t>(arrow::bit_util::BytesForBits(leaf.values->length)), 0);
  int64_t value = 0;
  bool any = false;
  for (const uint16_t def : leaf.def) {
    if (def >= leaf.path->special_level) {
      continue;
    }
    if (def == 0) {
      arrow::bit_util::SetBit(bits.data(), value);
    }
    any |= def != 0;
    ++value;
  }
  if (!any) {
    bits.clear();
  }
  return bits;
}

template <typename Offset>
Result<VariableValues> Compact(const ArrayData& array, const std::vector<uint8_t>& bits,
                               const Offset* offsets, const uint8_t* data) {
  VariableValues out;
  OG_ASSIGN_OR_RETURN(out.owned_offsets,
                      NewBuffer((array.length + 1) * static_cast<int64_t>(sizeof(Offset))));
  OG_ASSIGN_OR_RETURN(out.owned_data, NewBuffer(offsets[array.length] - offsets[0]));
  auto* to_offsets = reinterpret_cast<Offset*>(out.owned_offsets->mutable_data());
  uint8_t* to_data = out.owned_data->mutable_data();
  Offset at = 0;
  for (int64_t i = 0; i < array.length; ++i) {
    to_offsets[i] = at;
    if (arrow::bit_util::GetBit(bits.data(), i)) {
      const Offset size = offsets[i + 1] - offsets[i];
      std::memcpy(to_data + at, data + offsets[i], static_cast<size_t>(size));
      at += size;
    }
  }
  to_offsets[array.length] = at;
  out.offsets = to_offsets;
  out.data = to_data;
  return out;
}

template <typename Offset>
Result<VariableValues> CollectVariableOf(const ShreddedLeaf& leaf) {
  const ArrayData& array = *leaf.values;
  static const Offset kNoOffsets[1] = {0};
  const Offset* offsets =
      array.length == 0 || array.buffers[1] == nullptr ? kNoOffsets : array.GetValues<Offset>(1);
  const uint8_t* data = array.buffers[2] == nullptr ? nullptr : array.buffers[2]->data();
  const std::vector<uint8_t> bits = ValueBits(leaf);
  for (int64_t i = 0; !bits.empty() && i < array.length; ++i) {
    if (!arrow::bit_util::GetBit(bits.data(), i) && offsets[i + 1] != offsets[i]) {
      return Compact<Offset>(array, bits, offsets, data);
    }
  }
  VariableValues out;
  out.offsets = offsets;
  out.data = data;
  return out;
}

}  // namespace

PageLevels NumberLevels(const ShreddedLeaf& leaf) {
  const LeafPath& path = *leaf.path;
  std::vector<uint8_t> occurs(static_cast<size_t>(path.max_level) + 1, 0);
  for (const uint16_t def : leaf.def) {
    occurs[def] = 1;
  }
  PageLevels out;
  out.of_canonical.assign(occurs.size(), 0);
  for (const LeafLayer& layer : path.layers) {
    const bool null = occurs[layer.null_level] != 0;
    const bool empty = layer.is_list && occurs[layer.empty_level] != 0;
    if (null) {
      out.of_canonical[layer.null_level] = ++out.max_def;
    }
    if (empty) {
      out.of_canonical[layer.empty_level] = ++out.max_def;
    }
    if (!layer.is_list) {
      out.layers.push_back(null ? pb::LAYER_NULLABLE_ITEM : pb::LAYER_ALL_VALID_ITEM);
    } else if (null) {
      out.layers.push_back(empty ? pb::LAYER_NULL_AND_EMPTY_LIST : pb::LAYER_NULLABLE_LIST);
    } else {
      out.layers.push_back(empty ? pb::LAYER_EMPTYABLE_LIST : pb::LAYER_ALL_VALID_LIST);
    }
  }
  out.has_rep = path.row_level > 0;
  out.has_def = out.max_def > 0;
  return out;
}

Result<FixedValues> CollectFixed(const ShreddedLeaf& leaf) {
  const LeafForm& form = leaf.path->form;
  FixedValues out;
  out.validity.bits.resize(form.dims.size());
  std::vector<uint8_t> parent_bits = ValueBits(leaf);
  const std::vector<uint8_t> value_bits = parent_bits;
  const ArrayData* array = leaf.values.get();
  int64_t count = array->length;
  int64_t offset = array->offset;
  std::shared_ptr<ArrayData> child;
  for (size_t d = 0; d < form.dims.size(); ++d) {
    child = array->child_data[0]->Slice(offset * form.dims[d], count * form.dims[d]);
    count *= form.dims[d];
    array = child.get();
    offset = array->offset;
    if (array->GetNullCount() > 0 || !parent_bits.empty()) {
      std::vector<uint8_t> bits;
      if (ItemBits(*array, count, form.dims[d], parent_bits, &bits)) {
        out.validity.any = true;
        out.validity.bits[d] = bits;
        parent_bits = std::move(bits);
        continue;
      }
    }
    parent_bits.clear();
  }
  const uint8_t* data =
      count == 0 || array->buffers[1] == nullptr ? nullptr : array->buffers[1]->data();
  const int64_t bytes = arrow::bit_util::BytesForBits(count * form.item_bits);
  const bool has_null = !value_bits.empty();
  if (form.item_bits == 1 && count > 0 && (offset % 8 != 0 || has_null)) {
    OG_ASSIGN_OR_RETURN(out.owned, NewBuffer(bytes));
    arrow::internal::CopyBitmap(data, offset, count, out.owned->mutable_data(), 0);
  } else {
    out.data = data == nullptr ? nullptr : data + offset * form.item_bits / 8;
    if (has_null && count > 0) {
      OG_ASSIGN_OR_RETURN(out.owned, NewBuffer(bytes));
      std::memcpy(out.owned->mutable_data(), out.data, static_cast<size_t>(bytes));
    }
  }
  if (out.owned != nullptr) {
    out.data = out.owned->data();
    // Nothing of what stood below a null leaves the process.
    const int64_t items = form.items_per_value();
    for (int64_t i = 0; has_null && i < leaf.values->length; ++i) {
      if (!arrow::bit_util::GetBit(value_bits.data(), i)) {
        if (form.item_bits == 1) {
          arrow::bit_util::SetBitsTo(out.owned->mutable_data(), i * items, items, false);
        } else {
          const int64_t width = form.value_bits() / 8;
          std::memset(out.owned->mutable_data() + i * width, 0, static_cast<size_t>(width));
        }
      }
    }
  }
  return out;
}

Result<VariableValues> CollectVariable(const ShreddedLeaf& leaf) {
  return leaf.path->form.offset_bits == 32 ? CollectVariableOf<int32_t>(leaf)
                                           : CollectVariableOf<int64_t>(leaf);
}

void DescribeValues(const LeafForm& form, const ItemValidity& validity, pb::ValueEncoding* out) {
  if (form.kind == LeafForm::Kind::kVariable) {
    out->mutable_variable()->mutable_offsets()->mutable_flat()->set_bits_per_value(
        static_cast<uint64_t>(form.offset_bits));
    return;
  }
  for (size_t d = 0; d < form.dims.size(); ++d) {
    pb::FixedSizeList* list = out->mutable_fixed_size_list();
    list->set_items_per_value(static_cast<uint64_t>(form.dims[d]));
    list->set_has_validity(validity.any && !validity.bits[d].empty());
    out = list->mutable_values();
  }
  out->mutable_flat()->set_bits_per_value(static_cast<uint64_t>(form.item_bits));
}

Result<PageBytes> PageBytes::Allocate(int64_t capacity) {
  PageBytes out;
  OG_ASSIGN_OR_RETURN(out.buffer_, NewBuffer(capacity));
  out.data_ = out.buffer_->mutable_data();
  return out;
}

std::shared_ptr<arrow::Buffer> PageBytes::Finish() {
  OG_CHECK(position_ <= buffer_->size());
  return arrow::SliceBuffer(buffer_, 0, position_);
}

}  // namespace omnigraph::lance
