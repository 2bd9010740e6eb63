/// Full-zip pages: slots side by side, found by arithmetic or by the row index.

#include <arrow/util/bit_util.h>

#include <optional>

#include "compression.h"
#include "file_format.h"
#include "fsst.h"
#include "omnigraph/base/bytes.h"
#include "page_decoder.h"

namespace omnigraph::lance {
namespace {

/// Per-value decoding of variable-width values.
struct ValueCodec {
  enum class Kind { kPlain, kFsst, kCompressed };
  Kind kind = Kind::kPlain;
  std::optional<FsstTable> fsst;
  uint32_t scheme = 0;
};

class FullZipDecoder : public PageDecoder {
 public:
  FullZipDecoder(const PageInfo& page, const LeafPath& path, std::vector<RowRange> ranges,
                 const ReadContext& context)
      : page_(page),
        layout_(page.layout.full_zip()),
        path_(path),
        ranges_(std::move(ranges)),
        context_(context) {}

  Status Plan(FetchList* first) override {
    OG_ASSIGN_OR_RETURN(canonical_, CanonicalLevels(layout_.layers(), path_, context_));
    OG_RETURN_NOT_OK(CheckControl());
    OG_RETURN_NOT_OK(layout_.has_bits_per_offset() ? CheckVariable() : CheckFixed());
    const bool indexed = layout_.has_bits_per_offset() || path_.row_level > 0;
    if (!page_.HasBuffers(indexed ? 2 : 1)) {
      return context_.Corrupt("page", "a full-zip page lacks a buffer");
    }
    return indexed ? PlanIndexed(first) : PlanStrided(first);
  }

  Status Locate(const FetchList& first, FetchList* second) override {
    if (index_width_ == 0) {
      return Status::OK();
    }
    for (Part& part : parts_) {
      const std::string_view index = first.view(part.index_buffer);
      const int64_t rows = part.rows.end - part.rows.begin;
      const int64_t skip = whole_ ? part.rows.begin : 0;
      part.begin = IndexAt(index, skip);
      part.end = IndexAt(index, skip + rows);
      if (part.begin > part.end || part.end > page_.buffers[0].length) {
        return context_.Corrupt("page", "a row index of a full-zip page does not ascend");
      }
      if (!whole_) {
        part.buffer = second->Add({page_.buffers[0].offset + part.begin, part.end - part.begin});
      }
    }
    return Status::OK();
  }

  Status Decode(const FetchList& first, const FetchList& second, LeafSink* sink) override {
    for (const Part& part : parts_) {
      std::string_view bytes;
      if (index_width_ == 0 || whole_) {
        bytes = first.view(part.buffer);
        if (whole_) {
          bytes = bytes.substr(part.begin, part.end - part.begin);
        }
      } else {
        bytes = second.view(part.buffer);
      }
      OG_RETURN_NOT_OK(DecodeRows(bytes, part.rows.end - part.rows.begin, sink));
    }
    return Status::OK();
  }

 private:
  /// One range of rows and where its bytes are: [begin, end) of buffer 0.
  struct Part {
    RowRange rows;
    size_t index_buffer = 0;
    size_t buffer = 0;
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  Status CheckControl() {
    const uint64_t bits = uint64_t{layout_.bits_rep()} + layout_.bits_def();
    if (layout_.bits_rep() > 16 || layout_.bits_def() > 16 ||
        (path_.row_level == 0) != (layout_.bits_rep() == 0)) {
      return context_.Corrupt("page", "control words of a full-zip page do not fit the column");
    }
    control_bytes_ = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
    return Status::OK();
  }

  Status CheckVariable() {
    length_bytes_ = layout_.bits_per_offset() / 8;
    if (path_.form.kind != LeafForm::Kind::kVariable ||
        (length_bytes_ != 4 && length_bytes_ != 8)) {
      return context_.Corrupt("page", "a full-zip page has lengths its column cannot have");
    }
    const pb::ValueEncoding* encoding = &layout_.value_compression();
    if (encoding->has_general()) {
      codec_.kind = ValueCodec::Kind::kCompressed;
      codec_.scheme = encoding->general().compression().scheme();
      encoding = &encoding->general().values();
    } else if (encoding->has_fsst()) {
      codec_.kind = ValueCodec::Kind::kFsst;
      OG_ASSIGN_OR_RETURN(codec_.fsst, FsstTable::Parse(encoding->fsst().symbol_table(), context_));
      encoding = &encoding->fsst().values();
    }
    if (!encoding->has_variable()) {
      return context_.NotBuilt("a full-zip page of encoding number " +
                               std::to_string(encoding->arm_case()));
    }
    return Status::OK();
  }

  Status CheckFixed() {
    if (path_.form.kind != LeafForm::Kind::kFixed || path_.form.item_bits % 8 != 0) {
      return context_.Corrupt("page", "a full-zip page of whole bytes in a column without them");
    }
    const pb::ValueEncoding* encoding = &layout_.value_compression();
    int64_t items = 1;
    for (const int32_t dim : path_.form.dims) {
      if (!encoding->has_fixed_size_list() ||
          encoding->fixed_size_list().items_per_value() != static_cast<uint64_t>(dim)) {
        return context_.Corrupt("page", "fixed-size lists of another length, or none");
      }
      items *= dim;
      validity_bytes_.push_back(
          encoding->fixed_size_list().has_validity() ? arrow::bit_util::BytesForBits(items) : 0);
      prefix_bytes_ += validity_bytes_.back();
      encoding = &encoding->fixed_size_list().values();
    }
    if (!encoding->has_flat()) {
      return context_.NotBuilt("a full-zip page of encoding number " +
                               std::to_string(encoding->arm_case()));
    }
    value_bytes_ = path_.form.value_bits() / 8;
    if (encoding->flat().bits_per_value() != static_cast<uint64_t>(path_.form.item_bits) ||
        static_cast<int64_t>(layout_.bits_per_value()) != 8 * (prefix_bytes_ + value_bytes_)) {
      return context_.Corrupt("page", "values of a full-zip page have another width");
    }
    return Status::OK();
  }

  Status PlanStrided(FetchList* first) {
    const int64_t stride = control_bytes_ + prefix_bytes_ + value_bytes_;
    int64_t need = 0;
    if (__builtin_mul_overflow(page_.rows, stride, &need) ||
        static_cast<uint64_t>(need) > page_.buffers[0].length) {
      return context_.Corrupt("page", "a full-zip page is shorter than its rows");
    }
    for (const RowRange& range : ranges_) {
      Part part;
      part.rows = range;
      part.buffer =
          first->Add({page_.buffers[0].offset + static_cast<uint64_t>(range.begin * stride),
                      static_cast<uint64_t>((range.end - range.begin) * stride)});
      parts_.push_back(part);
    }
    return Status::OK();
  }

  Status PlanIndexed(FetchList* first) {
    const store::ByteRange& index = page_.buffers[1];
    const auto entries = static_cast<uint64_t>(page_.rows) + 1;
    index_width_ = index.length / entries;
    if (index.length % entries != 0 ||
        (index_width_ != 1 && index_width_ != 2 && index_width_ != 4 && index_width_ != 8)) {
      return context_.Corrupt("page", "the row index of a full-zip page does not fit its rows");
    }
    int64_t wanted = 0;
    for (const RowRange& range : ranges_) {
      wanted += range.end - range.begin;
    }
    // Half of the page or more: read it in one round.
    whole_ = 2 * wanted >= page_.rows;
    const size_t all_index = whole_ ? first->Add(index) : 0;
    const size_t all_bytes = whole_ ? first->Add(page_.buffers[0]) : 0;
    for (const RowRange& range : ranges_) {
      Part part;
      part.rows = range;
      part.buffer = all_bytes;
      part.index_buffer =
          whole_ ? all_index
                 : first->Add({index.offset + static_cast<uint64_t>(range.begin) * index_width_,
                               static_cast<uint64_t>(range.end - range.begin + 1) * index_width_});
      parts_.push_back(part);
    }
    return Status::OK();
  }

  uint64_t IndexAt(std::string_view index, int64_t entry) const {
    uint64_t position = 0;
    std::memcpy(&position, index.data() + static_cast<uint64_t>(entry) * index_width_,
                index_width_);
    return position;
  }

  Status DecodeRows(std::string_view bytes, int64_t rows, LeafSink* sink) {
    if (control_bytes_ == 0 && prefix_bytes_ == 0 && value_bytes_ > 0) {
      ValueView view;
      view.count = rows;
      view.data = reinterpret_cast<const uint8_t*>(bytes.data());
      view.validity.assign(path_.form.dims.size(), nullptr);
      OG_RETURN_NOT_OK(sink->AppendValidSlots(rows));
      return sink->AppendValues(view, 0, rows);
    }
    OG_RETURN_NOT_OK(sink->Reserve(rows));
    const uint32_t def_mask = (uint32_t{1} << layout_.bits_def()) - 1;
    int64_t started = 0;
    while (!bytes.empty()) {
      uint32_t control = 0;
      OG_ASSIGN_OR_RETURN(const std::string_view word, Cut(&bytes, control_bytes_));
      std::memcpy(&control, word.data(), word.size());
      const uint32_t def = control & def_mask;
      const uint32_t rep = control >> layout_.bits_def();
      if (def >= canonical_.size() || rep > path_.row_level) {
        return context_.Corrupt("levels", "a control word has a level that its page lacks");
      }
      const uint8_t level = canonical_[def];
      started += rep == path_.row_level;
      OG_RETURN_NOT_OK(sink->AppendSlot(static_cast<uint8_t>(rep), level));
      if (level < path_.special_level) {
        OG_RETURN_NOT_OK(value_bytes_ > 0 ? DecodeFixed(&bytes, sink)
                                          : DecodeVariable(level == 0, &bytes, sink));
      }
    }
    if (started != rows) {
      return context_.Corrupt("levels", "a full-zip page has " + std::to_string(started) +
                                            " rows where " + std::to_string(rows) + " were due");
    }
    return Status::OK();
  }

  Result<std::string_view> Cut(std::string_view* bytes, uint64_t size) const {
    if (size > bytes->size()) {
      return context_.Corrupt("page", "a slot of a full-zip page is cut short");
    }
    const std::string_view head = bytes->substr(0, size);
    bytes->remove_prefix(size);
    return head;
  }

  Status DecodeFixed(std::string_view* bytes, LeafSink* sink) {
    std::vector<const uint8_t*> validity(validity_bytes_.size(), nullptr);
    for (size_t d = 0; d < validity_bytes_.size(); ++d) {
      if (validity_bytes_[d] > 0) {
        OG_ASSIGN_OR_RETURN(const auto bits, Cut(bytes, static_cast<uint64_t>(validity_bytes_[d])));
        validity[d] = reinterpret_cast<const uint8_t*>(bits.data());
      }
    }
    OG_ASSIGN_OR_RETURN(const auto value, Cut(bytes, static_cast<uint64_t>(value_bytes_)));
    return sink->AppendFixed(reinterpret_cast<const uint8_t*>(value.data()), validity);
  }

  Status DecodeVariable(bool valid, std::string_view* bytes, LeafSink* sink) {
    if (!valid) {
      return sink->AppendEmpty(1);
    }
    OG_ASSIGN_OR_RETURN(const std::string_view length, Cut(bytes, length_bytes_));
    uint64_t size = 0;
    std::memcpy(&size, length.data(), length.size());
    OG_ASSIGN_OR_RETURN(const std::string_view value, Cut(bytes, size));
    switch (codec_.kind) {
      case ValueCodec::Kind::kPlain:
        return sink->AppendVariable(reinterpret_cast<const uint8_t*>(value.data()),
                                    static_cast<int64_t>(value.size()));
      case ValueCodec::Kind::kFsst: {
        scratch_.resize(FsstTable::DecodedBound(value.size()));
        OG_ASSIGN_OR_RETURN(const size_t got,
                            codec_.fsst->Decode(value, scratch_.data(), context_));
        return sink->AppendVariable(scratch_.data(), static_cast<int64_t>(got));
      }
      case ValueCodec::Kind::kCompressed: {
        if (value.empty()) {
          return sink->AppendVariable(nullptr, 0);
        }
        OG_ASSIGN_OR_RETURN(const auto plain, Decompress(codec_.scheme, value, context_));
        return sink->AppendVariable(plain->data(), plain->size());
      }
    }
    return Status::OK();
  }

  const PageInfo& page_;
  const pb::FullZipLayout& layout_;
  const LeafPath& path_;
  std::vector<RowRange> ranges_;
  const ReadContext& context_;
  std::vector<uint8_t> canonical_;
  std::vector<Part> parts_;
  ValueCodec codec_;
  uint64_t control_bytes_ = 0;
  uint64_t length_bytes_ = 0;
  /// Validity bytes per dimension before each value, and their sum.
  std::vector<int64_t> validity_bytes_;
  int64_t prefix_bytes_ = 0;
  int64_t value_bytes_ = 0;
  /// 0 = rows are found by arithmetic.
  uint64_t index_width_ = 0;
  bool whole_ = false;
  std::vector<uint8_t> scratch_;
};

}  // namespace

Result<std::unique_ptr<PageDecoder>> MakeFullZipDecoder(const PageInfo& page, const LeafPath& path,
                                                        std::vector<RowRange> ranges,
                                                        const ReadContext& context) {
  return std::unique_ptr<PageDecoder>(
      std::make_unique<FullZipDecoder>(page, path, std::move(ranges), context));
}

}  // namespace omnigraph::lance
