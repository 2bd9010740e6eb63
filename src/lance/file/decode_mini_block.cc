/// Mini-block pages: a chunk table first, then only the chunks that hold wanted rows.

#include <algorithm>
#include <limits>

#include "file_format.h"
#include "omnigraph/base/bytes.h"
#include "page_decoder.h"

namespace omnigraph::lance {
namespace {

constexpr int64_t kLevelBits = 16;
/// A page of no more bytes than this is read in one round.
constexpr uint64_t kSmallPageBytes = 32 << 10;
constexpr int64_t kDictionaryItemsMax = int64_t{1} << 26;

struct ChunkInfo {
  uint64_t offset = 0;  ///< in the chunk buffer
  uint64_t size = 0;
  int64_t value_begin = 0;
  int64_t values = 0;
  /// With lists: rows that start before this chunk, and whether its first slot goes on with one of
  /// them.
  int64_t rows_before = 0;
  bool goes_on = false;
};

/// Chunk table and dictionary of a page.
struct MiniBlockIndex : PageIndex {
  std::vector<ChunkInfo> chunks;
  /// Dictionary items; count 0 = none.
  ValueView dictionary;
  std::shared_ptr<arrow::Buffer> dictionary_bytes;
  bool has_dictionary = false;
};

class MiniBlockDecoder : public PageDecoder {
 public:
  MiniBlockDecoder(const PageInfo& page, const LeafPath& path, std::vector<RowRange> ranges,
                   const ReadContext& context)
      : page_(page),
        layout_(page.layout.mini_block()),
        path_(path),
        ranges_(std::move(ranges)),
        context_(context) {}

  Status Plan(FetchList* first) override {
    OG_ASSIGN_OR_RETURN(canonical_, CanonicalLevels(layout_.layers(), path_, context_));
    OG_RETURN_NOT_OK(CheckLayout());
    index_ = std::static_pointer_cast<const MiniBlockIndex>(page_.index.Get());
    if (index_ != nullptr) {
      return Status::OK();
    }
    meta_fetch_ = first->Add(page_.buffers[0]);
    if (layout_.has_dictionary()) {
      dictionary_fetch_ = first->Add(page_.buffers[2]);
    }
    if (path_.row_level > 0) {
      rep_index_fetch_ = first->Add(page_.buffers.back());
    }
    int64_t wanted = 0;
    for (const RowRange& range : ranges_) {
      wanted += range.end - range.begin;
    }
    whole_ = wanted == page_.rows || page_.buffers[1].length <= kSmallPageBytes;
    if (whole_) {
      whole_fetch_ = first->Add(page_.buffers[1]);
    }
    return Status::OK();
  }

  Status Locate(const FetchList& first, FetchList* second) override {
    if (index_ == nullptr) {
      OG_ASSIGN_OR_RETURN(index_, ReadIndex(first));
      page_.index.Set(index_);
    }
    for (const RowRange& range : ranges_) {
      OG_ASSIGN_OR_RETURN(const Span span, ChunksOf(range));
      if (!spans_.empty() && span.begin < spans_.back().end) {
        // Shares its first chunk with the range before it.
        spans_.back().end = std::max(spans_.back().end, span.end);
        spans_.back().ranges_end++;
      } else {
        const size_t number = spans_.empty() ? 0 : spans_.back().ranges_end;
        spans_.push_back(span);
        spans_.back().ranges_begin = number;
        spans_.back().ranges_end = number + 1;
      }
    }
    for (Span& span : spans_) {
      if (!whole_) {
        const ChunkInfo& head = index_->chunks[span.begin];
        const ChunkInfo& tail = index_->chunks[span.end - 1];
        span.fetch = second->Add(
            {page_.buffers[1].offset + head.offset, tail.offset + tail.size - head.offset});
      }
    }
    return Status::OK();
  }

  Status Decode(const FetchList& first, const FetchList& second, LeafSink* sink) override {
    for (const Span& span : spans_) {
      const uint64_t base = whole_ ? 0 : index_->chunks[span.begin].offset;
      const std::string_view bytes = whole_ ? first.view(whole_fetch_) : second.view(span.fetch);
      for (size_t c = span.begin; c < span.end; ++c) {
        const ChunkInfo& chunk = index_->chunks[c];
        OG_RETURN_NOT_OK(DecodeChunk(
            chunk, bytes.substr(chunk.offset - base, chunk.size),
            std::span(ranges_).subspan(span.ranges_begin, span.ranges_end - span.ranges_begin),
            sink));
      }
    }
    return Status::OK();
  }

 private:
  /// Neighbouring chunks [begin, end) that are read together, and the ranges that they serve.
  struct Span {
    size_t begin = 0;
    size_t end = 0;
    size_t ranges_begin = 0;
    size_t ranges_end = 0;
    size_t fetch = 0;
  };

  /// One decoded chunk.
  struct Levels {
    std::vector<uint8_t> rep;
    std::vector<uint8_t> def;
    size_t slots = 0;
  };

  Status CheckLayout() {
    const size_t buffers = 2 + (layout_.has_dictionary() ? 1 : 0) + (path_.row_level > 0 ? 1 : 0);
    if (!page_.HasBuffers(buffers)) {
      return context_.Corrupt("page", "a mini-block page lacks a buffer");
    }
    if ((path_.row_level > 0) != layout_.has_rep_compression()) {
      return context_.Corrupt("page",
                              "a mini-block page has repetition levels without lists, or "
                              "lists without them");
    }
    if (layout_.num_buffers() > 16 || layout_.num_items() > kMaxItems) {
      return context_.Corrupt("page", "a mini-block page has impossible counts");
    }
    if (path_.row_level == 0 && static_cast<int64_t>(layout_.num_items()) != page_.rows) {
      return context_.Corrupt("page", "a mini-block page has another number of values than rows");
    }
    return Status::OK();
  }

  Result<std::shared_ptr<const MiniBlockIndex>> ReadIndex(const FetchList& first) {
    auto index = std::make_shared<MiniBlockIndex>();
    OG_RETURN_NOT_OK(ReadChunkTable(first.view(meta_fetch_), index.get()));
    if (path_.row_level > 0) {
      OG_RETURN_NOT_OK(ReadRepetitionIndex(first.view(rep_index_fetch_), index.get()));
    }
    if (layout_.has_dictionary()) {
      const auto items = layout_.num_dictionary_items();
      if (items > static_cast<uint64_t>(kDictionaryItemsMax)) {
        return context_.Corrupt("page", "a dictionary of an impossible size");
      }
      // A copy of its own: what was fetched may share memory with all that was read in the round.
      const arrow::Buffer& fetched = *first.buffer(dictionary_fetch_);
      OG_ASSIGN_OR_RETURN(index->dictionary_bytes, fetched.CopySlice(0, fetched.size()));
      index->has_dictionary = true;
      const std::string_view bytes(reinterpret_cast<const char*>(index->dictionary_bytes->data()),
                                   static_cast<size_t>(index->dictionary_bytes->size()));
      OG_ASSIGN_OR_RETURN(index->dictionary,
                          DecodeBlockValues(layout_.dictionary(), path_.form, bytes,
                                            static_cast<int64_t>(items), context_));
    }
    return std::shared_ptr<const MiniBlockIndex>(std::move(index));
  }

  Status ReadChunkTable(std::string_view words, MiniBlockIndex* index) const {
    const size_t width = layout_.has_large_chunk() ? sizeof(uint32_t) : sizeof(uint16_t);
    const size_t count = words.size() / width;
    const auto items = static_cast<int64_t>(layout_.num_items());
    uint64_t offset = 0;
    int64_t value = 0;
    index->chunks.reserve(count);
    for (size_t c = 0; c < count; ++c) {
      const uint32_t word = width == sizeof(uint32_t)
                                ? LoadLittle<uint32_t>(words.data() + c * width)
                                : LoadLittle<uint16_t>(words.data() + c * width);
      ChunkInfo chunk;
      chunk.offset = offset;
      chunk.size = (uint64_t{word >> 4} + 1) * kChunkAlignment;
      chunk.value_begin = value;
      chunk.values = c + 1 == count ? items - value : int64_t{1} << (word & 15);
      offset += chunk.size;
      value += chunk.values;
      if (offset > page_.buffers[1].length || chunk.values < 0 || value > items) {
        return context_.Corrupt("page", "the chunk table of a page does not fit its values");
      }
      index->chunks.push_back(chunk);
    }
    if (value != items) {
      return context_.Corrupt("page", "the chunk table of a page misses values");
    }
    return Status::OK();
  }

  Status ReadRepetitionIndex(std::string_view bytes, MiniBlockIndex* index) const {
    const size_t stride = sizeof(uint64_t) * (uint64_t{layout_.repetition_index_depth()} + 1);
    if (layout_.repetition_index_depth() == 0 || layout_.repetition_index_depth() > 64 ||
        bytes.size() / stride < index->chunks.size()) {
      return context_.Corrupt("page", "the repetition index of a page is cut short");
    }
    uint64_t ended = 0;
    bool open = false;
    for (size_t c = 0; c < index->chunks.size(); ++c) {
      ChunkInfo& chunk = index->chunks[c];
      chunk.goes_on = open;
      chunk.rows_before = static_cast<int64_t>(ended) + (open ? 1 : 0);
      const auto ends = LoadLittle<uint64_t>(bytes.data() + c * stride);
      open = LoadLittle<uint64_t>(bytes.data() + c * stride + sizeof(uint64_t)) > 0;
      ended += ends;
      if (ends > static_cast<uint64_t>(page_.rows) || ended > static_cast<uint64_t>(page_.rows)) {
        return context_.Corrupt("page", "the repetition index of a page counts too many rows");
      }
    }
    if (ended != static_cast<uint64_t>(page_.rows)) {
      return context_.Corrupt("page", "the repetition index of a page misses rows");
    }
    return Status::OK();
  }

  /// First row that a chunk has a slot of.
  int64_t FirstRow(const ChunkInfo& chunk) const {
    return path_.row_level == 0 ? chunk.value_begin : chunk.rows_before - (chunk.goes_on ? 1 : 0);
  }

  Result<Span> ChunksOf(const RowRange& range) const {
    const auto& chunks = index_->chunks;
    // The last chunk whose first row is at or before the range, and back over chunks that begin
    // inside that row.
    const auto after = std::upper_bound(
        chunks.begin(), chunks.end(), range.begin,
        [&](int64_t row, const ChunkInfo& chunk) { return row < FirstRow(chunk); });
    if (after == chunks.begin()) {
      return context_.Corrupt("page", "no chunk of a page holds a wanted row");
    }
    auto begin = after - 1;
    while (begin != chunks.begin() && begin->goes_on && FirstRow(*begin) == range.begin) {
      --begin;
    }
    const auto end = std::lower_bound(
        begin, chunks.end(), range.end,
        [&](const ChunkInfo& chunk, int64_t row) { return FirstRow(chunk) < row; });
    Span span;
    span.begin = static_cast<size_t>(begin - chunks.begin());
    span.end = std::max(static_cast<size_t>(end - chunks.begin()), span.begin + 1);
    return span;
  }

  /// Cut the sections of a chunk: levels into `levels`, value buffers into `values`.
  Status SplitChunk(const ChunkInfo& chunk, std::string_view bytes, Levels* levels,
                    std::vector<std::string_view>* values) const {
    ByteReader reader(bytes, context_.object);
    const bool has_rep = layout_.has_rep_compression();
    const bool has_def = layout_.has_def_compression();
    OG_ASSIGN_OR_RETURN(const auto slots, reader.Read<uint16_t>());
    uint64_t rep_size = 0;
    uint64_t def_size = 0;
    if (has_rep) {
      OG_ASSIGN_OR_RETURN(rep_size, reader.Read<uint16_t>());
    }
    if (has_def) {
      OG_ASSIGN_OR_RETURN(def_size, reader.Read<uint16_t>());
    }
    std::vector<uint64_t> sizes(layout_.num_buffers());
    for (uint64_t& size : sizes) {
      if (layout_.has_large_chunk()) {
        OG_ASSIGN_OR_RETURN(size, reader.Read<uint32_t>());
      } else {
        OG_ASSIGN_OR_RETURN(size, reader.Read<uint16_t>());
      }
    }
    OG_ASSIGN_OR_RETURN(const auto rep_bytes, Section(&reader, bytes, rep_size));
    OG_ASSIGN_OR_RETURN(const auto def_bytes, Section(&reader, bytes, def_size));
    for (const uint64_t size : sizes) {
      OG_ASSIGN_OR_RETURN(const auto section, Section(&reader, bytes, size));
      values->push_back(section);
    }
    levels->slots = has_rep || has_def ? slots : static_cast<size_t>(chunk.values);
    if (has_rep) {
      OG_ASSIGN_OR_RETURN(const ValueView view,
                          DecodeBlockValues(layout_.rep_compression(), IntegerForm(kLevelBits),
                                            rep_bytes, slots, context_));
      OG_RETURN_NOT_OK(MapRepLevels(view.data, slots, path_, context_, &levels->rep));
    }
    if (has_def) {
      OG_ASSIGN_OR_RETURN(const ValueView view,
                          DecodeBlockValues(layout_.def_compression(), IntegerForm(kLevelBits),
                                            def_bytes, slots, context_));
      OG_RETURN_NOT_OK(MapDefLevels(view.data, slots, canonical_, context_, &levels->def));
    }
    return Status::OK();
  }

  /// The next section of a chunk; each starts at a multiple of 8.
  static Result<std::string_view> Section(ByteReader* reader, std::string_view bytes,
                                          uint64_t size) {
    const auto at = static_cast<int64_t>(reader->position());
    const int64_t pad = AlignUp(at, kChunkAlignment) - at;
    if (at + pad <= static_cast<int64_t>(bytes.size())) {
      OG_RETURN_NOT_OK(reader->ReadBytes(static_cast<size_t>(pad)).status());
    }
    return reader->ReadBytes(size);
  }

  Status DecodeChunk(const ChunkInfo& chunk, std::string_view bytes,
                     std::span<const RowRange> ranges, LeafSink* sink) const {
    Levels levels;
    std::vector<std::string_view> buffers;
    OG_RETURN_NOT_OK(SplitChunk(chunk, bytes, &levels, &buffers));
    const bool dictionary = index_->has_dictionary;
    OG_ASSIGN_OR_RETURN(
        const ValueView values,
        DecodeChunkValues(layout_.value_compression(), dictionary ? IntegerForm(32) : path_.form,
                          buffers, chunk.values, context_));
    if (path_.row_level == 0) {
      if (static_cast<int64_t>(levels.slots) != chunk.values) {
        return context_.Corrupt("levels", "a chunk has another number of levels than values");
      }
      for (const RowRange& range :
           Overlapping(ranges, chunk.value_begin, chunk.value_begin + chunk.values)) {
        const int64_t begin = std::max<int64_t>(range.begin - chunk.value_begin, 0);
        const int64_t end = std::min<int64_t>(range.end - chunk.value_begin, chunk.values);
        if (begin < end) {
          OG_RETURN_NOT_OK(Emit(levels, values, static_cast<size_t>(begin),
                                static_cast<size_t>(end), begin, sink));
        }
      }
      return Status::OK();
    }
    return EmitRows(chunk, levels, values, ranges, sink);
  }

  /// The ranges that have rows in [begin, end).
  static std::span<const RowRange> Overlapping(std::span<const RowRange> ranges, int64_t begin,
                                               int64_t end) {
    const auto first = std::partition_point(
        ranges.begin(), ranges.end(), [&](const RowRange& range) { return range.end <= begin; });
    const auto last = std::partition_point(
        first, ranges.end(), [&](const RowRange& range) { return range.begin < end; });
    return {first, last};
  }

  /// With lists: the slots of a chunk that belong to rows of `ranges`.
  Status EmitRows(const ChunkInfo& chunk, const Levels& levels, const ValueView& values,
                  std::span<const RowRange> ranges, LeafSink* sink) const {
    // Slot and value at which each row of this chunk begins; entry 0 is what goes on from before.
    const int64_t first_row = chunk.rows_before - (chunk.goes_on ? 1 : 0);
    std::vector<size_t> slot_at;
    std::vector<int64_t> value_at;
    int64_t value = 0;
    for (size_t slot = 0; slot < levels.slots; ++slot) {
      const bool starts = levels.rep[slot] == path_.row_level;
      if (slot == 0 && starts == chunk.goes_on) {
        return context_.Corrupt("levels", "a chunk does not begin as the repetition index says");
      }
      if (slot == 0 || starts) {
        slot_at.push_back(slot);
        value_at.push_back(value);
      }
      value += levels.def.empty() || levels.def[slot] < path_.special_level ? 1 : 0;
    }
    if (value != chunk.values) {
      return context_.Corrupt("levels", "levels of a chunk do not fit its values");
    }
    const auto rows = static_cast<int64_t>(slot_at.size());
    slot_at.push_back(levels.slots);
    for (const RowRange& range : Overlapping(ranges, first_row, first_row + rows)) {
      const int64_t begin = std::max<int64_t>(range.begin - first_row, 0);
      const int64_t end = std::min<int64_t>(range.end - first_row, rows);
      if (begin < end) {
        OG_RETURN_NOT_OK(Emit(levels, values, slot_at[static_cast<size_t>(begin)],
                              slot_at[static_cast<size_t>(end)],
                              value_at[static_cast<size_t>(begin)], sink));
      }
    }
    return Status::OK();
  }

  /// Slots [begin, end) of a chunk, whose first value is number `value`.
  Status Emit(const Levels& levels, const ValueView& values, size_t begin, size_t end,
              int64_t value, LeafSink* sink) const {
    OG_RETURN_NOT_OK(sink->AppendSlots(levels.rep, levels.def, begin, end));
    int64_t count = static_cast<int64_t>(end - begin);
    if (!levels.def.empty() && path_.row_level > 0) {
      count = std::count_if(levels.def.begin() + static_cast<std::ptrdiff_t>(begin),
                            levels.def.begin() + static_cast<std::ptrdiff_t>(end),
                            [&](uint8_t def) { return def < path_.special_level; });
    }
    if (!index_->has_dictionary) {
      return sink->AppendValues(values, value, value + count);
    }
    for (size_t slot = begin; slot < end; ++slot) {
      const uint8_t def = levels.def.empty() ? 0 : levels.def[slot];
      if (def >= path_.special_level) {
        continue;
      }
      const auto item = LoadLittle<uint32_t>(values.data + 4 * value++);
      if (def != 0) {
        OG_RETURN_NOT_OK(sink->AppendEmpty(1));  // the index of a null says nothing
      } else if (item >= index_->dictionary.count) {
        return context_.Corrupt("values", "an index reaches past its dictionary");
      } else {
        OG_RETURN_NOT_OK(sink->AppendValues(index_->dictionary, item, item + 1));
      }
    }
    return Status::OK();
  }

  static constexpr uint64_t kMaxItems = uint64_t{1} << 40;

  const PageInfo& page_;
  const pb::MiniBlockLayout& layout_;
  const LeafPath& path_;
  std::vector<RowRange> ranges_;
  const ReadContext& context_;
  std::vector<uint8_t> canonical_;
  std::shared_ptr<const MiniBlockIndex> index_;
  std::vector<Span> spans_;
  bool whole_ = false;
  size_t meta_fetch_ = 0;
  size_t dictionary_fetch_ = 0;
  size_t rep_index_fetch_ = 0;
  size_t whole_fetch_ = 0;
};

}  // namespace

Result<std::unique_ptr<PageDecoder>> MakeMiniBlockDecoder(const PageInfo& page,
                                                          const LeafPath& path,
                                                          std::vector<RowRange> ranges,
                                                          const ReadContext& context) {
  return std::unique_ptr<PageDecoder>(
      std::make_unique<MiniBlockDecoder>(page, path, std::move(ranges), context));
}

}  // namespace omnigraph::lance
