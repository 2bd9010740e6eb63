/// Full-zip pages: control word, length and value of each slot side by side
/// (docs/format/lance-file.md).

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <bit>

#include "encode_layouts.h"

namespace omnigraph::lance {
namespace {

/// Control words of a page.
struct Control {
  int bits_rep = 0;
  int bits_def = 0;
  int64_t bytes = 0;

  explicit Control(const ShreddedLeaf& leaf, const PageLevels& levels)
      : bits_rep(levels.has_rep ? std::bit_width(leaf.path->row_level) : 0),
        bits_def(std::bit_width(levels.max_def)) {
    const int bits = bits_rep + bits_def;
    bytes = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
  }

  void Put(uint32_t rep, uint32_t def, PageBytes* out) const {
    const uint32_t word = (rep << bits_def) | def;
    out->PutBytes(&word, bytes);
  }
};

/// Slots of a leaf, uniform for paths with and without levels.
class SlotReader {
 public:
  SlotReader(const ShreddedLeaf& leaf, const PageLevels& levels) : leaf_(leaf), levels_(levels) {}
  uint16_t rep(int64_t slot) const {
    return leaf_.rep.empty() ? 0 : leaf_.rep[static_cast<size_t>(slot)];
  }
  uint16_t canonical_def(int64_t slot) const {
    return leaf_.def.empty() ? 0 : leaf_.def[static_cast<size_t>(slot)];
  }
  uint16_t def(int64_t slot) const { return levels_.of_canonical[canonical_def(slot)]; }
  bool starts_row(int64_t slot) const {
    return leaf_.rep.empty() || rep(slot) == leaf_.path->row_level;
  }
  bool has_value(int64_t slot) const { return canonical_def(slot) < leaf_.path->special_level; }

 private:
  const ShreddedLeaf& leaf_;
  const PageLevels& levels_;
};

void DescribePage(const ShreddedLeaf& leaf, const PageLevels& levels, const Control& control,
                  pb::FullZipLayout* layout) {
  layout->set_bits_rep(static_cast<uint32_t>(control.bits_rep));
  layout->set_bits_def(static_cast<uint32_t>(control.bits_def));
  layout->set_num_items(static_cast<uint32_t>(leaf.slots));
  layout->set_num_visible_items(static_cast<uint32_t>(leaf.values->length));
  for (const pb::Layer layer : levels.layers) {
    layout->add_layers(layer);
  }
}

/// Append the index of row positions in the fewest bytes that hold the last one.
Status PutRowIndex(const std::vector<uint64_t>& positions, PageBytes* out, EncodedPage* page) {
  const auto bits = static_cast<int>(std::bit_width(positions.back()));
  const int64_t width = bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
  out->PadTo(kBufferAlignment, kGapByte);
  page->buffers.emplace_back(out->position(), static_cast<int64_t>(positions.size()) * width);
  for (const uint64_t position : positions) {
    out->PutBytes(&position, width);
  }
  return Status::OK();
}

template <typename Offset>
Result<EncodedPage> EncodeVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                   const VariableValues& values) {
  const Control control(leaf, levels);
  const SlotReader slots(leaf, levels);
  const auto* offsets = static_cast<const Offset*>(values.offsets);
  const int64_t data_bytes = offsets[leaf.values->length] - offsets[0];
  const int64_t zipped =
      leaf.slots * (control.bytes + static_cast<int64_t>(sizeof(Offset))) + data_bytes;
  OG_ASSIGN_OR_RETURN(PageBytes out,
                      PageBytes::Allocate(zipped + (leaf.rows + 1) * 8 + 2 * kBufferAlignment));
  std::vector<uint64_t> positions;
  positions.reserve(static_cast<size_t>(leaf.rows) + 1);
  int64_t value = 0;
  for (int64_t slot = 0; slot < leaf.slots; ++slot) {
    if (slots.starts_row(slot)) {
      positions.push_back(static_cast<uint64_t>(out.position()));
    }
    control.Put(slots.rep(slot), slots.def(slot), &out);
    if (!slots.has_value(slot)) {
      continue;
    }
    if (slots.canonical_def(slot) == 0) {
      const Offset size = offsets[value + 1] - offsets[value];
      out.Put<Offset>(size);
      out.PutBytes(values.data + offsets[value], size);
    }
    ++value;
  }
  positions.push_back(static_cast<uint64_t>(out.position()));
  EncodedPage page;
  page.rows = leaf.rows;
  page.buffers.emplace_back(0, out.position());
  OG_RETURN_NOT_OK(PutRowIndex(positions, &out, &page));
  pb::FullZipLayout* layout = page.layout.mutable_full_zip();
  DescribePage(leaf, levels, control, layout);
  layout->set_bits_per_offset(static_cast<uint32_t>(leaf.path->form.offset_bits));
  DescribeValues(leaf.path->form, {}, layout->mutable_value_compression());
  page.bytes = out.Finish();
  return page;
}

/// Validity bits that stand before the items of each value, byte-aligned per dimension.
struct ZippedValidity {
  std::vector<std::pair<const uint8_t*, int64_t>> parts;  // bits and bits per value
  int64_t bytes = 0;

  ZippedValidity(const LeafForm& form, const ItemValidity& validity) {
    int64_t items = 1;
    for (size_t d = 0; d < form.dims.size(); ++d) {
      items *= form.dims[d];
      if (!validity.bits[d].empty()) {
        parts.emplace_back(validity.bits[d].data(), items);
        bytes += arrow::bit_util::BytesForBits(items);
      }
    }
  }

  void Put(int64_t value, PageBytes* out) const {
    for (const auto& [bits, items] : parts) {
      const int64_t size = arrow::bit_util::BytesForBits(items);
      std::memset(out->cursor(), 0, static_cast<size_t>(size));
      arrow::internal::CopyBitmap(bits, value * items, items, out->cursor(), 0);
      out->Skip(size);
    }
  }
};

}  // namespace

Result<EncodedPage> EncodeFullZipFixed(const ShreddedLeaf& leaf, const PageLevels& levels,
                                       const FixedValues& values) {
  const LeafForm& form = leaf.path->form;
  const Control control(leaf, levels);
  const SlotReader slots(leaf, levels);
  const ZippedValidity validity(form, values.validity);
  const int64_t width = form.value_bits() / 8;
  const int64_t zipped = leaf.slots * (control.bytes + validity.bytes + width);
  const int64_t index_bytes = levels.has_rep ? (leaf.rows + 1) * 8 : 0;
  OG_ASSIGN_OR_RETURN(PageBytes out,
                      PageBytes::Allocate(zipped + index_bytes + 2 * kBufferAlignment));
  EncodedPage page;
  page.rows = leaf.rows;
  std::vector<uint64_t> positions;
  if (control.bytes == 0 && validity.bytes == 0) {
    out.PutBytes(values.data, leaf.values->length * width);
  } else {
    int64_t value = 0;
    for (int64_t slot = 0; slot < leaf.slots; ++slot) {
      if (levels.has_rep && slots.starts_row(slot)) {
        positions.push_back(static_cast<uint64_t>(out.position()));
      }
      control.Put(slots.rep(slot), slots.def(slot), &out);
      if (slots.has_value(slot)) {
        validity.Put(value, &out);
        out.PutBytes(values.data + value * width, width);
        ++value;
      }
    }
  }
  page.buffers.emplace_back(0, out.position());
  if (levels.has_rep) {
    positions.push_back(static_cast<uint64_t>(out.position()));
    OG_RETURN_NOT_OK(PutRowIndex(positions, &out, &page));
  }
  pb::FullZipLayout* layout = page.layout.mutable_full_zip();
  DescribePage(leaf, levels, control, layout);
  layout->set_bits_per_value(static_cast<uint32_t>((validity.bytes + width) * 8));
  DescribeValues(form, values.validity, layout->mutable_value_compression());
  page.bytes = out.Finish();
  return page;
}

Result<EncodedPage> EncodeFullZipVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                          const VariableValues& values) {
  return leaf.path->form.offset_bits == 32 ? EncodeVariable<int32_t>(leaf, levels, values)
                                           : EncodeVariable<int64_t>(leaf, levels, values);
}

}  // namespace omnigraph::lance
