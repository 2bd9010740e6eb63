/// Constant pages: one value or none, and levels.

#include <algorithm>

#include "file_format.h"
#include "omnigraph/base/bytes.h"
#include "page_decoder.h"

namespace omnigraph::lance {
namespace {

constexpr int64_t kLevelBits = 16;

class ConstantDecoder : public PageDecoder {
 public:
  ConstantDecoder(const PageInfo& page, const LeafPath& path, std::vector<RowRange> ranges,
                  const ReadContext& context)
      : page_(page),
        layout_(page.layout.constant()),
        path_(path),
        ranges_(std::move(ranges)),
        context_(context) {}

  Status Plan(FetchList* first) override {
    OG_ASSIGN_OR_RETURN(canonical_, CanonicalLevels(layout_.layers(), path_, context_));
    for (const store::ByteRange& buffer : page_.buffers) {
      fetched_.push_back(first->Add(buffer));
    }
    return Status::OK();
  }

  Status Locate(const FetchList&, FetchList*) override { return Status::OK(); }

  Status Decode(const FetchList& first, const FetchList&, LeafSink* sink) override {
    ValueView value;
    bool has_value = false;
    std::string scalar;
    size_t next = 0;
    if (layout_.has_inline_value()) {
      OG_RETURN_NOT_OK(ScalarOf({layout_.inline_value()}, &value));
      has_value = true;
    } else if (fetched_.size() == 1 || fetched_.size() == 3) {
      OG_ASSIGN_OR_RETURN(const auto buffers, SplitScalar(first.view(fetched_[next++])));
      OG_RETURN_NOT_OK(ScalarOf(buffers, &value));
      has_value = true;
    }
    std::vector<uint8_t> rep;
    std::vector<uint8_t> def;
    if (fetched_.size() - next == 2) {
      OG_RETURN_NOT_OK(
          ReadLevels(first.view(fetched_[next]), first.view(fetched_[next + 1]), &rep, &def));
    } else if (fetched_.size() != next) {
      return context_.Corrupt(
          "page", "a constant page has " + std::to_string(fetched_.size()) + " buffers");
    } else {
      OG_RETURN_NOT_OK(CheckWithoutLevels(has_value));
    }
    return Emit(has_value ? &value : nullptr, rep, def, sink);
  }

 private:
  /// A page without level buffers says one thing about every row.
  Status CheckWithoutLevels(bool has_value) const {
    if (path_.row_level > 0) {
      return context_.Corrupt("page", "a constant page of lists has no level buffers");
    }
    if (!has_value && canonical_.size() < 2) {
      return context_.Corrupt("page", "a constant page has neither a value nor nulls");
    }
    return Status::OK();
  }

  /// u32 number of buffers, u32 length of each, the buffers of an Arrow array of length 1.
  Result<std::vector<std::string_view>> SplitScalar(std::string_view bytes) const {
    ByteReader reader(bytes, context_.object);
    OG_ASSIGN_OR_RETURN(const auto count, reader.Read<uint32_t>());
    if (count > reader.remaining() / sizeof(uint32_t)) {
      return context_.Corrupt("page", "a constant's buffers reach past their end");
    }
    std::vector<uint32_t> lengths;
    for (uint32_t i = 0; i < count; ++i) {
      OG_ASSIGN_OR_RETURN(const auto length, reader.Read<uint32_t>());
      lengths.push_back(length);
    }
    std::vector<std::string_view> buffers;
    for (const uint32_t length : lengths) {
      OG_ASSIGN_OR_RETURN(const auto buffer, reader.ReadBytes(length));
      buffers.push_back(buffer);
    }
    return buffers;
  }

  Status ScalarOf(const std::vector<std::string_view>& buffers, ValueView* view) {
    view->count = 1;
    if (path_.form.kind == LeafForm::Kind::kVariable) {
      const auto width = static_cast<size_t>(path_.form.offset_bits) / 8;
      if (buffers.size() != 2 || buffers[0].size() < 2 * width) {
        return context_.Corrupt("page", "a constant string has no offsets");
      }
      for (size_t i = 0; i < 2; ++i) {
        const char* at = buffers[0].data() + i * width;
        scalar_offsets_[i] = width == 4 ? LoadLittle<int32_t>(at) : LoadLittle<int64_t>(at);
      }
      if (scalar_offsets_[0] < 0 || scalar_offsets_[1] < scalar_offsets_[0] ||
          scalar_offsets_[1] > static_cast<int64_t>(buffers[1].size())) {
        return context_.Corrupt("page", "a constant string reaches past its bytes");
      }
      view->offsets = scalar_offsets_;
      view->offset_bits = 64;
      view->data = reinterpret_cast<const uint8_t*>(buffers[1].data());
      return Status::OK();
    }
    if (path_.form.kind != LeafForm::Kind::kFixed || buffers.size() != 1) {
      return context_.NotBuilt("a constant of this type");
    }
    if (static_cast<int64_t>(buffers[0].size()) * 8 < path_.form.value_bits()) {
      return context_.Corrupt("page", "a constant is shorter than its type");
    }
    view->data = reinterpret_cast<const uint8_t*>(buffers[0].data());
    view->validity.assign(path_.form.dims.size(), nullptr);
    return Status::OK();
  }

  /// Raw u16 levels, or a block of a stated number of them.
  Result<int64_t> LevelCount(std::string_view bytes, bool compressed, uint64_t stated) const {
    if (!compressed) {
      return static_cast<int64_t>(bytes.size() / 2);
    }
    if (stated > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
      return context_.Corrupt("levels", "a constant page has too many levels");
    }
    return static_cast<int64_t>(stated);
  }

  Status ReadLevels(std::string_view rep_bytes, std::string_view def_bytes,
                    std::vector<uint8_t>* rep, std::vector<uint8_t>* def) const {
    OG_ASSIGN_OR_RETURN(const int64_t reps, LevelCount(rep_bytes, layout_.has_rep_compression(),
                                                       layout_.num_rep_values()));
    OG_ASSIGN_OR_RETURN(const int64_t defs, LevelCount(def_bytes, layout_.has_def_compression(),
                                                       layout_.num_def_values()));
    ValueView view;
    if (reps > 0) {
      const uint8_t* raw = reinterpret_cast<const uint8_t*>(rep_bytes.data());
      if (layout_.has_rep_compression()) {
        OG_ASSIGN_OR_RETURN(
            view, DecodeBlockValues(layout_.rep_compression(), IntegerForm(kLevelBits), rep_bytes,
                                    reps, context_));
        raw = view.data;
      }
      OG_RETURN_NOT_OK(MapRepLevels(raw, reps, path_, context_, rep));
    }
    if (defs > 0) {
      const uint8_t* raw = reinterpret_cast<const uint8_t*>(def_bytes.data());
      if (layout_.has_def_compression()) {
        OG_ASSIGN_OR_RETURN(
            view, DecodeBlockValues(layout_.def_compression(), IntegerForm(kLevelBits), def_bytes,
                                    defs, context_));
        raw = view.data;
      }
      OG_RETURN_NOT_OK(MapDefLevels(raw, defs, canonical_, context_, def));
    }
    if (path_.row_level == 0 && reps > 0) {
      return context_.Corrupt("levels", "a constant page without lists has repetition levels");
    }
    if (path_.row_level > 0 && (reps == 0 || (defs > 0 && defs != reps))) {
      return context_.Corrupt("levels", "a constant page has unequal numbers of levels");
    }
    if (path_.row_level == 0 && defs > 0 && defs != page_.rows) {
      return context_.Corrupt("levels", "a constant page has another number of levels than rows");
    }
    return Status::OK();
  }

  Status Emit(const ValueView* value, const std::vector<uint8_t>& rep,
              const std::vector<uint8_t>& def, LeafSink* sink) {
    // Without a value every slot that is not said to be otherwise is null at the innermost layer
    // that can be.
    const uint8_t fallback =
        value == nullptr && def.empty() ? canonical_[canonical_.size() > 1] : 0;
    const auto emit_slots = [&](size_t begin, size_t end) -> Status {
      int64_t pending = 0;
      for (size_t slot = begin; slot < end; ++slot) {
        const uint8_t level = def.empty() ? fallback : def[slot];
        if (value == nullptr && level == 0) {
          return context_.Corrupt("levels", "a constant page without a value has a valid slot");
        }
        OG_RETURN_NOT_OK(sink->AppendSlot(rep.empty() ? 0 : rep[slot], level));
        pending += level < path_.special_level ? 1 : 0;
      }
      return value == nullptr ? sink->AppendEmpty(pending) : sink->RepeatValue(*value, 0, pending);
    };
    if (path_.row_level == 0) {
      for (const RowRange& range : ranges_) {
        OG_RETURN_NOT_OK(
            emit_slots(static_cast<size_t>(range.begin), static_cast<size_t>(range.end)));
      }
      return Status::OK();
    }
    std::vector<size_t> row_starts;
    for (size_t slot = 0; slot < rep.size(); ++slot) {
      if (rep[slot] == path_.row_level) {
        row_starts.push_back(slot);
      }
    }
    if (static_cast<int64_t>(row_starts.size()) != page_.rows) {
      return context_.Corrupt("levels", "a constant page has another number of rows than it says");
    }
    row_starts.push_back(rep.size());
    for (const RowRange& range : ranges_) {
      OG_RETURN_NOT_OK(emit_slots(row_starts[static_cast<size_t>(range.begin)],
                                  row_starts[static_cast<size_t>(range.end)]));
    }
    return Status::OK();
  }

  const PageInfo& page_;
  const pb::ConstantLayout& layout_;
  const LeafPath& path_;
  std::vector<RowRange> ranges_;
  const ReadContext& context_;
  std::vector<uint8_t> canonical_;
  std::vector<size_t> fetched_;
  int64_t scalar_offsets_[2] = {0, 0};
};

}  // namespace

Result<std::unique_ptr<PageDecoder>> MakeConstantDecoder(const PageInfo& page, const LeafPath& path,
                                                         std::vector<RowRange> ranges,
                                                         const ReadContext& context) {
  return std::unique_ptr<PageDecoder>(
      std::make_unique<ConstantDecoder>(page, path, std::move(ranges), context));
}

}  // namespace omnigraph::lance
