/// Mini-block pages: values in chunks of a power of two, each chunk with its own levels
/// (docs/format/lance-file.md).

#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <algorithm>
#include <bit>

#include "encode_layouts.h"

namespace omnigraph::lance {
namespace {

/// Which values and level slots one chunk holds.
struct Chunk {
  int64_t value_begin = 0;
  int64_t value_end = 0;
  int64_t slot_begin = 0;
  int64_t slot_end = 0;
};

/// Level slots of a page, as far as cutting needs them.
class SlotMap {
 public:
  SlotMap(const ShreddedLeaf& leaf, const PageLevels& levels)
      : counted_(levels.has_rep || levels.has_def), slots_(leaf.slots) {
    if (leaf.values->length == leaf.slots) {
      return;
    }
    slot_of_value_.reserve(static_cast<size_t>(leaf.values->length));
    for (int64_t slot = 0; slot < leaf.slots; ++slot) {
      if (leaf.def[static_cast<size_t>(slot)] < leaf.path->special_level) {
        slot_of_value_.push_back(static_cast<uint32_t>(slot));
      }
    }
  }

  /// End of the slots that go with values [.., value): specials go with the value before them.
  int64_t SlotEnd(int64_t value, int64_t values) const {
    if (value == values) {
      return slots_;
    }
    return slot_of_value_.empty() ? value : slot_of_value_[static_cast<size_t>(value)];
  }
  bool Fits(int64_t slot_begin, int64_t slot_end) const {
    return !counted_ || slot_end - slot_begin <= kChunkSlotsMax;
  }

 private:
  bool counted_;
  int64_t slots_;
  std::vector<uint32_t> slot_of_value_;
};

Status TooManySlots(const ShreddedLeaf& leaf) {
  const std::string message = "write a list column: more than " + std::to_string(kChunkSlotsMax) +
                              " empty or null lists between two values";
  return leaf.rows > 1 ? Exhausted("lance.file.page_slots", message)
                       : Unsupported("lance.file.row_slots", message + " of one row");
}

/// Cut values into chunks. `size_of(begin, end)` = bytes of these values; `wanted` = bytes of a
/// chunk, `log_max` = logarithm of its most values.
template <typename SizeOf>
Result<std::vector<Chunk>> CutChunks(const ShreddedLeaf& leaf, const PageLevels& levels,
                                     int64_t wanted, int log_max, const SizeOf& size_of) {
  const SlotMap map(leaf, levels);
  const int64_t values = leaf.values->length;
  std::vector<Chunk> chunks;
  int log = log_max;
  int64_t slot = 0;
  for (int64_t value = 0; value < values;) {
    const auto fits = [&](int64_t end) {
      return size_of(value, end) <= wanted && map.Fits(slot, map.SlotEnd(end, values));
    };
    int64_t end = values;
    const int64_t rest = values - value;
    if (rest > (int64_t{1} << log_max) || !fits(end)) {
      // Neighbouring chunks nearly always get the same power: start from the last one.
      log = std::min(log + 1, log_max);
      while (log > 1 && ((int64_t{1} << log) >= rest || !fits(value + (int64_t{1} << log)))) {
        --log;
      }
      end = std::min(values, value + (int64_t{1} << log));
    }
    const int64_t slot_end = map.SlotEnd(end, values);
    if (!map.Fits(slot, slot_end)) {
      return TooManySlots(leaf);
    }
    chunks.push_back(Chunk{value, end, slot, slot_end});
    value = end;
    slot = slot_end;
  }
  return chunks;
}

int64_t LevelBytes(const Chunk& chunk, bool present) {
  return present ? (chunk.slot_end - chunk.slot_begin) * static_cast<int64_t>(sizeof(uint16_t)) : 0;
}

/// Largest size of one encoded chunk around value buffers of `value_bytes` (each already padded to
/// 8).
int64_t ChunkBound(const Chunk& chunk, const PageLevels& levels, int64_t value_bytes,
                   int64_t value_buffers) {
  return AlignUp(6 + 4 * value_buffers, kChunkAlignment) +
         AlignUp(LevelBytes(chunk, levels.has_rep), kChunkAlignment) +
         AlignUp(LevelBytes(chunk, levels.has_def), kChunkAlignment) + value_bytes;
}

/// Header and levels of a chunk; value buffers follow.
void PutChunkHead(const ShreddedLeaf& leaf, const PageLevels& levels, const Chunk& chunk,
                  const std::vector<uint32_t>& value_sizes, PageBytes* out) {
  const bool counted = levels.has_rep || levels.has_def;
  out->Put<uint16_t>(counted ? static_cast<uint16_t>(chunk.slot_end - chunk.slot_begin) : 0);
  if (levels.has_rep) {
    out->Put<uint16_t>(static_cast<uint16_t>(LevelBytes(chunk, true)));
  }
  if (levels.has_def) {
    out->Put<uint16_t>(static_cast<uint16_t>(LevelBytes(chunk, true)));
  }
  for (const uint32_t size : value_sizes) {
    out->Put<uint32_t>(size);
  }
  out->PadTo(kChunkAlignment, kChunkPadByte);
  if (levels.has_rep) {
    out->PutBytes(leaf.rep.data() + chunk.slot_begin, LevelBytes(chunk, true));
    out->PadTo(kChunkAlignment, kChunkPadByte);
  }
  if (levels.has_def) {
    for (int64_t slot = chunk.slot_begin; slot < chunk.slot_end; ++slot) {
      out->Put<uint16_t>(levels.of_canonical[leaf.def[static_cast<size_t>(slot)]]);
    }
    out->PadTo(kChunkAlignment, kChunkPadByte);
  }
}

uint32_t ChunkWord(const Chunk& chunk, int64_t bytes, bool last) {
  const auto values = static_cast<uint64_t>(chunk.value_end - chunk.value_begin);
  const uint32_t log = last ? 0 : static_cast<uint32_t>(std::countr_zero(values));
  return (static_cast<uint32_t>(bytes / kChunkAlignment - 1) << 4) | log;
}

/// For each chunk: rows that end in it, and slots of a row that goes on in the next one.
void PutRepetitionIndex(const ShreddedLeaf& leaf, const std::vector<Chunk>& chunks,
                        PageBytes* out) {
  const uint16_t row_level = leaf.path->row_level;
  bool open = false;  // a row began in an earlier chunk
  for (size_t c = 0; c < chunks.size(); ++c) {
    uint64_t starts = 0;
    int64_t since_start = chunks[c].slot_end - chunks[c].slot_begin;
    for (int64_t slot = chunks[c].slot_begin; slot < chunks[c].slot_end; ++slot) {
      if (leaf.rep[static_cast<size_t>(slot)] == row_level) {
        ++starts;
        since_start = chunks[c].slot_end - slot;
      }
    }
    const bool goes_on = c + 1 < chunks.size() &&
                         leaf.rep[static_cast<size_t>(chunks[c + 1].slot_begin)] != row_level;
    out->Put<uint64_t>(starts + (open ? 1 : 0) - (goes_on ? 1 : 0));
    out->Put<uint64_t>(goes_on ? static_cast<uint64_t>(since_start) : 0);
    open = goes_on;
  }
}

void DescribePage(const ShreddedLeaf& leaf, const PageLevels& levels, uint64_t value_buffers,
                  pb::MiniBlockLayout* layout) {
  constexpr uint64_t kLevelBits = 16;
  if (levels.has_rep) {
    layout->mutable_rep_compression()->mutable_flat()->set_bits_per_value(kLevelBits);
    layout->set_repetition_index_depth(1);
  }
  if (levels.has_def) {
    layout->mutable_def_compression()->mutable_flat()->set_bits_per_value(kLevelBits);
  }
  for (const pb::Layer layer : levels.layers) {
    layout->add_layers(layer);
  }
  layout->set_num_buffers(value_buffers);
  layout->set_num_items(static_cast<uint64_t>(leaf.values->length));
  layout->set_has_large_chunk(true);
}

/// Lay out the whole page. `bound(chunk)` = most bytes of its padded value buffers; `put(chunk,
/// out)` writes one chunk.
template <typename Bound, typename Put>
Result<EncodedPage> AssemblePage(const ShreddedLeaf& leaf, const PageLevels& levels,
                                 const std::vector<Chunk>& chunks, int64_t value_buffers,
                                 const Bound& bound, const Put& put) {
  const int64_t meta_bytes = static_cast<int64_t>(chunks.size() * sizeof(uint32_t));
  int64_t capacity = 3 * kBufferAlignment + meta_bytes +
                     static_cast<int64_t>(chunks.size() * 2 * sizeof(uint64_t));
  for (const Chunk& chunk : chunks) {
    capacity += ChunkBound(chunk, levels, bound(chunk), value_buffers);
  }
  EncodedPage page;
  page.rows = leaf.rows;
  OG_ASSIGN_OR_RETURN(PageBytes out, PageBytes::Allocate(capacity));
  uint8_t* words = out.cursor();
  out.Skip(meta_bytes);
  page.buffers.emplace_back(0, meta_bytes);
  out.PadTo(kBufferAlignment, kGapByte);
  const int64_t chunks_at = out.position();
  for (size_t c = 0; c < chunks.size(); ++c) {
    const int64_t begin = out.position();
    put(chunks[c], &out);
    const uint32_t word = ChunkWord(chunks[c], out.position() - begin, c + 1 == chunks.size());
    std::memcpy(words + c * sizeof(uint32_t), &word, sizeof(uint32_t));
  }
  page.buffers.emplace_back(chunks_at, out.position() - chunks_at);
  if (levels.has_rep) {
    out.PadTo(kBufferAlignment, kGapByte);
    const int64_t index_at = out.position();
    PutRepetitionIndex(leaf, chunks, &out);
    page.buffers.emplace_back(index_at, out.position() - index_at);
  }
  DescribePage(leaf, levels, static_cast<uint64_t>(value_buffers),
               page.layout.mutable_mini_block());
  page.bytes = out.Finish();
  return page;
}

template <typename Offset>
Result<EncodedPage> EncodeVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                   const VariableValues& values, int chunk_log_max) {
  constexpr auto kWidth = static_cast<int64_t>(sizeof(Offset));
  const auto* offsets = static_cast<const Offset*>(values.offsets);
  const auto size_of = [&](int64_t begin, int64_t end) {
    return (end - begin + 1) * kWidth + (offsets[end] - offsets[begin]);
  };
  OG_ASSIGN_OR_RETURN(const auto chunks,
                      CutChunks(leaf, levels, kVariableChunkBytes, chunk_log_max, size_of));
  const auto padded = [&](const Chunk& chunk) {
    return AlignUp(size_of(chunk.value_begin, chunk.value_end), kWidth);
  };
  const auto put = [&](const Chunk& chunk, PageBytes* out) {
    const Offset begin = offsets[chunk.value_begin];
    PutChunkHead(leaf, levels, chunk, {static_cast<uint32_t>(padded(chunk))}, out);
    const auto first = static_cast<Offset>((chunk.value_end - chunk.value_begin + 1) * kWidth);
    auto* to = reinterpret_cast<Offset*>(out->cursor());
    const int64_t count = chunk.value_end - chunk.value_begin + 1;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = offsets[chunk.value_begin + i] - begin + first;
    }
    out->Skip(count * kWidth);
    out->PutBytes(values.data + begin, offsets[chunk.value_end] - begin);
    out->PadTo(kWidth, kGapByte);
    out->PadTo(kChunkAlignment, kChunkPadByte);
  };
  const auto bound = [&](const Chunk& chunk) { return AlignUp(padded(chunk), kChunkAlignment); };
  OG_ASSIGN_OR_RETURN(EncodedPage page, AssemblePage(leaf, levels, chunks, 1, bound, put));
  DescribeValues(leaf.path->form, {},
                 page.layout.mutable_mini_block()->mutable_value_compression());
  return page;
}

}  // namespace

Result<EncodedPage> EncodeMiniBlockFixed(const ShreddedLeaf& leaf, const PageLevels& levels,
                                         const FixedValues& values, int chunk_log_max) {
  const LeafForm& form = leaf.path->form;
  const int64_t bits = form.value_bits();
  const auto size_of = [&](int64_t begin, int64_t end) {
    return arrow::bit_util::BytesForBits((end - begin) * bits);
  };
  OG_ASSIGN_OR_RETURN(const auto chunks,
                      CutChunks(leaf, levels, kFixedChunkBytes, chunk_log_max, size_of));

  // Sections of a chunk: item validity of each dimension that has it, then the items.
  struct Section {
    const uint8_t* data;
    int64_t bits_per_value;
  };
  std::vector<Section> sections;
  int64_t items = 1;
  for (size_t d = 0; d < form.dims.size(); ++d) {
    items *= form.dims[d];
    if (!values.validity.bits[d].empty()) {
      sections.push_back({values.validity.bits[d].data(), items});
    }
  }
  sections.push_back({values.data, bits});
  std::vector<uint32_t> sizes(sections.size());
  const auto section_bytes = [](const Section& section, const Chunk& chunk) {
    return arrow::bit_util::BytesForBits((chunk.value_end - chunk.value_begin) *
                                         section.bits_per_value);
  };
  const auto put = [&](const Chunk& chunk, PageBytes* out) {
    for (size_t s = 0; s < sections.size(); ++s) {
      sizes[s] = static_cast<uint32_t>(section_bytes(sections[s], chunk));
    }
    PutChunkHead(leaf, levels, chunk, sizes, out);
    for (const Section& section : sections) {
      const int64_t first_bit = chunk.value_begin * section.bits_per_value;
      const int64_t bits_here = (chunk.value_end - chunk.value_begin) * section.bits_per_value;
      const int64_t bytes = section_bytes(section, chunk);
      if (first_bit % 8 == 0 && bits_here % 8 == 0) {
        out->PutBytes(section.data + first_bit / 8, bytes);
      } else {
        std::memset(out->cursor(), 0, static_cast<size_t>(bytes));
        arrow::internal::CopyBitmap(section.data, first_bit, bits_here, out->cursor(), 0);
        out->Skip(bytes);
      }
      out->PadTo(kChunkAlignment, kChunkPadByte);
    }
  };
  const auto bound = [&](const Chunk& chunk) {
    int64_t bytes = 0;
    for (const Section& section : sections) {
      bytes += AlignUp(section_bytes(section, chunk), kChunkAlignment);
    }
    return bytes;
  };
  OG_ASSIGN_OR_RETURN(
      EncodedPage page,
      AssemblePage(leaf, levels, chunks, static_cast<int64_t>(sections.size()), bound, put));
  DescribeValues(form, values.validity,
                 page.layout.mutable_mini_block()->mutable_value_compression());
  return page;
}

Result<EncodedPage> EncodeMiniBlockVariable(const ShreddedLeaf& leaf, const PageLevels& levels,
                                            const VariableValues& values, int chunk_log_max) {
  return leaf.path->form.offset_bits == 32
             ? EncodeVariable<int32_t>(leaf, levels, values, chunk_log_max)
             : EncodeVariable<int64_t>(leaf, levels, values, chunk_log_max);
}

}  // namespace omnigraph::lance
