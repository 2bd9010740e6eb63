#include "decode_values.h"

#include <arrow/util/bit_util.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "bitpacking.h"
#include "compression.h"
#include "fsst.h"
#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {
namespace {

constexpr int kEncodingDepthMax = 8;
/// Values of one block whose size says nothing about their number (bit width 0).
constexpr int64_t kBlockValuesMax = int64_t{1} << 26;

enum class BlockForm { kMiniBlock, kBlock };

Result<std::shared_ptr<arrow::Buffer>> NewBuffer(int64_t size) {
  OG_ASSIGN_OR_RETURN(auto buffer, arrow::AllocateBuffer(size));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

std::string_view ViewOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

/// Decodes one set of buffers, front to back.
class Decoder {
 public:
  Decoder(BlockForm block_form, std::span<const std::string_view> buffers,
          const ReadContext& context)
      : block_form_(block_form), buffers_(buffers.begin(), buffers.end()), context_(context) {}

  Result<ValueView> Decode(const pb::ValueEncoding& encoding, const LeafForm& form, int64_t count,
                           int depth) {
    if (depth > kEncodingDepthMax) {
      return context_.NotBuilt("encodings nested too deep");
    }
    if (encoding.has_general()) {
      OG_RETURN_NOT_OK(DecompressNext(encoding.general()));
      return Decode(encoding.general().values(), form, count, depth + 1);
    }
    if (form.kind == LeafForm::Kind::kVariable) {
      return DecodeVariable(encoding, count);
    }
    ValueView view;
    view.count = count;
    view.validity.assign(form.dims.size(), nullptr);
    const pb::ValueEncoding* item = &encoding;
    int64_t items = count;
    for (size_t d = 0; d < form.dims.size(); ++d) {
      if (!item->has_fixed_size_list() ||
          item->fixed_size_list().items_per_value() != static_cast<uint64_t>(form.dims[d])) {
        return Mismatch("fixed-size lists of another length, or none");
      }
      if (__builtin_mul_overflow(items, static_cast<int64_t>(form.dims[d]), &items)) {
        return context_.Corrupt("values", "more items than can be counted");
      }
      if (item->fixed_size_list().has_validity()) {
        OG_ASSIGN_OR_RETURN(const std::string_view bits, NextBuffer(1, items));
        view.validity[d] = reinterpret_cast<const uint8_t*>(bits.data());
      }
      item = &item->fixed_size_list().values();
    }
    if (item->has_fixed_size_list()) {
      return Mismatch("fixed-size lists in a column without them");
    }
    OG_RETURN_NOT_OK(DecodeItems(*item, form.item_bits, items, &view, depth));
    return view;
  }

 private:
  Status Mismatch(const std::string& what) const {
    return context_.Corrupt("values",
                            "a page holds " + what + "; the column's type says otherwise");
  }

  /// The next buffer, with at least `count` values of `bits`.
  Result<std::string_view> NextBuffer(int64_t bits, int64_t count) {
    if (next_ == buffers_.size()) {
      return context_.Corrupt("values", "a value buffer is missing");
    }
    const std::string_view buffer = buffers_[next_++];
    int64_t need = 0;
    if (__builtin_mul_overflow(bits, count, &need) ||
        arrow::bit_util::BytesForBits(need) > static_cast<int64_t>(buffer.size())) {
      return context_.Corrupt("values", "a value buffer is shorter than its values");
    }
    return buffer;
  }

  Status DecompressNext(const pb::General& general) {
    if (next_ == buffers_.size()) {
      return context_.Corrupt("values", "a compressed buffer is missing");
    }
    OG_ASSIGN_OR_RETURN(auto bytes,
                        Decompress(general.compression().scheme(), buffers_[next_], context_));
    buffers_[next_] = ViewOf(*bytes);
    owned_.push_back(std::move(bytes));
    return Status::OK();
  }

  /// Primitive items of whole or single bits.
  Status DecodeItems(const pb::ValueEncoding& encoding, int64_t bits, int64_t count,
                     ValueView* view, int depth) {
    switch (encoding.arm_case()) {
      case pb::ValueEncoding::kFlat: {
        if (encoding.flat().bits_per_value() != static_cast<uint64_t>(bits)) {
          return Mismatch("values of " + std::to_string(encoding.flat().bits_per_value()) +
                          " bits");
        }
        if (encoding.flat().has_data()) {
          return context_.NotBuilt("compressed flat values");
        }
        OG_ASSIGN_OR_RETURN(const std::string_view buffer, NextBuffer(bits, count));
        view->data = reinterpret_cast<const uint8_t*>(buffer.data());
        break;
      }
      case pb::ValueEncoding::kGeneral: {
        if (depth > kEncodingDepthMax) {
          return context_.NotBuilt("encodings nested too deep");
        }
        OG_RETURN_NOT_OK(DecompressNext(encoding.general()));
        return DecodeItems(encoding.general().values(), bits, count, view, depth + 1);
      }
      case pb::ValueEncoding::kInlineBitpacking:
      case pb::ValueEncoding::kOutOfLineBitpacking:
      case pb::ValueEncoding::kRle:
      case pb::ValueEncoding::kByteStreamSplit:
        OG_RETURN_NOT_OK(DecodePacked(encoding, bits, count, view));
        break;
      default:
        return context_.NotBuilt("value encoding number " + std::to_string(encoding.arm_case()));
    }
    view->owned.insert(view->owned.end(), owned_.begin(), owned_.end());
    return Status::OK();
  }

  Status DecodePacked(const pb::ValueEncoding& encoding, int64_t bits, int64_t count,
                      ValueView* view) {
    switch (bits) {
      case 8:
        return DecodePackedOf<uint8_t>(encoding, count, view);
      case 16:
        return DecodePackedOf<uint16_t>(encoding, count, view);
      case 32:
        return DecodePackedOf<uint32_t>(encoding, count, view);
      case 64:
        return DecodePackedOf<uint64_t>(encoding, count, view);
      default:
        return DecodeWideRle(encoding, bits, count, view);
    }
  }

  template <typename T>
  Status DecodePackedOf(const pb::ValueEncoding& encoding, int64_t count, ValueView* view) {
    constexpr uint64_t kBits = sizeof(T) * 8;
    if (encoding.has_inline_bitpacking()) {
      if (encoding.inline_bitpacking().bits_per_value() != kBits) {
        return Mismatch("bit-packed values of another width");
      }
      return InlineUnpack<T>(count, view);
    }
    if (encoding.has_out_of_line_bitpacking()) {
      const pb::OutOfLineBitpacking& packing = encoding.out_of_line_bitpacking();
      const uint64_t width = packing.values().flat().bits_per_value();
      if (packing.bits_per_value() != kBits || !packing.values().has_flat() || width > kBits) {
        return Mismatch("bit-packed values of another width");
      }
      return OutOfLineUnpack<T>(static_cast<int>(width), count, view);
    }
    if (encoding.has_byte_stream_split()) {
      return UnsplitBytes<T>(encoding.byte_stream_split(), count, view);
    }
    return DecodeWideRle(encoding, kBits, count, view);
  }

  template <typename T>
  Status InlineUnpack(int64_t count, ValueView* view) {
    OG_ASSIGN_OR_RETURN(const std::string_view buffer, NextBuffer(sizeof(T) * 8, 1));
    const auto width = static_cast<uint64_t>(LoadLittle<T>(buffer.data()));
    if (count > kPackedBlockValues || width > sizeof(T) * 8 ||
        static_cast<int64_t>(buffer.size() - sizeof(T)) <
            PackedBlockBytes(static_cast<int64_t>(width))) {
      return context_.Corrupt("values", "a bit-packed block does not fit its buffer");
    }
    OG_ASSIGN_OR_RETURN(auto out, NewBuffer(kPackedBlockValues * static_cast<int64_t>(sizeof(T))));
    UnpackBlock<T>(reinterpret_cast<const uint8_t*>(buffer.data()) + sizeof(T),
                   static_cast<int>(width), reinterpret_cast<T*>(out->mutable_data()));
    view->data = out->data();
    view->owned.push_back(std::move(out));
    return Status::OK();
  }

  template <typename T>
  Status OutOfLineUnpack(int width, int64_t count, ValueView* view) {
    OG_ASSIGN_OR_RETURN(const std::string_view buffer, NextBuffer(0, 0));
    const int64_t blocks = count / kPackedBlockValues;
    const int64_t tail = count % kPackedBlockValues;
    const int64_t block_bytes = PackedBlockBytes(width);
    const auto size = static_cast<int64_t>(buffer.size());
    const int64_t raw_tail = tail * static_cast<int64_t>(sizeof(T));
    if (count > kBlockValuesMax || blocks * block_bytes > size) {
      return context_.Corrupt("values", "bit-packed blocks do not fit their buffer");
    }
    const int64_t rest = size - blocks * block_bytes;
    const bool is_raw = rest == raw_tail;
    if (tail > 0 && !is_raw && rest < block_bytes) {
      return context_.Corrupt("values", "the last bit-packed block is cut short");
    }
    const int64_t room = (blocks + (tail > 0 ? 1 : 0)) * kPackedBlockValues;
    OG_ASSIGN_OR_RETURN(auto out, NewBuffer(room * static_cast<int64_t>(sizeof(T))));
    auto* to = reinterpret_cast<T*>(out->mutable_data());
    const auto* from = reinterpret_cast<const uint8_t*>(buffer.data());
    for (int64_t b = 0; b < blocks; ++b) {
      UnpackBlock<T>(from + b * block_bytes, width, to + b * kPackedBlockValues);
    }
    if (tail > 0 && is_raw) {
      std::memcpy(to + blocks * kPackedBlockValues, from + blocks * block_bytes,
                  static_cast<size_t>(raw_tail));
    } else if (tail > 0) {
      UnpackBlock<T>(from + blocks * block_bytes, width, to + blocks * kPackedBlockValues);
    }
    view->data = out->data();
    view->owned.push_back(std::move(out));
    return Status::OK();
  }

  template <typename T>
  Status UnsplitBytes(const pb::ByteStreamSplit& split, int64_t count, ValueView* view) {
    if (split.values().flat().bits_per_value() != sizeof(T) * 8) {
      return Mismatch("split values of another width");
    }
    OG_ASSIGN_OR_RETURN(const std::string_view buffer, NextBuffer(sizeof(T) * 8, count));
    OG_ASSIGN_OR_RETURN(auto out, NewBuffer(count * static_cast<int64_t>(sizeof(T))));
    uint8_t* to = out->mutable_data();
    for (size_t byte = 0; byte < sizeof(T); ++byte) {
      const auto* from =
          reinterpret_cast<const uint8_t*>(buffer.data()) + static_cast<int64_t>(byte) * count;
      for (int64_t i = 0; i < count; ++i) {
        to[static_cast<size_t>(i) * sizeof(T) + byte] = from[i];
      }
    }
    view->data = out->data();
    view->owned.push_back(std::move(out));
    return Status::OK();
  }

  /// Run values and run lengths, from two buffers (mini-block) or one with a length in front
  /// (block).
  Status SplitRuns(int64_t width, std::string_view* values, std::string_view* lengths) {
    if (block_form_ == BlockForm::kMiniBlock) {
      OG_ASSIGN_OR_RETURN(*values, NextBuffer(0, 0));
      OG_ASSIGN_OR_RETURN(*lengths, NextBuffer(0, 0));
    } else {
      OG_ASSIGN_OR_RETURN(const std::string_view buffer, NextBuffer(64, 1));
      const auto size = LoadLittle<uint64_t>(buffer.data());
      if (size > buffer.size() - sizeof(uint64_t)) {
        return context_.Corrupt("values", "run values reach past their buffer");
      }
      *values = buffer.substr(sizeof(uint64_t), size);
      *lengths = buffer.substr(sizeof(uint64_t) + size);
    }
    if (values->size() / static_cast<size_t>(width) < lengths->size()) {
      return context_.Corrupt("values", "fewer run values than run lengths");
    }
    return Status::OK();
  }

  Status DecodeWideRle(const pb::ValueEncoding& encoding, int64_t bits, int64_t count,
                       ValueView* view) {
    if (!encoding.has_rle() || bits % 8 != 0) {
      return context_.NotBuilt("value encoding number " + std::to_string(encoding.arm_case()) +
                               " for values of " + std::to_string(bits) + " bits");
    }
    const pb::Rle& rle = encoding.rle();
    if (!rle.values().has_flat() || !rle.run_lengths().has_flat() ||
        rle.run_lengths().flat().bits_per_value() != 8) {
      return context_.NotBuilt("run lengths of this encoding");
    }
    if (rle.values().flat().bits_per_value() != static_cast<uint64_t>(bits)) {
      return Mismatch("run values of another width");
    }
    const int64_t width = bits / 8;
    std::string_view values;
    std::string_view lengths;
    OG_RETURN_NOT_OK(SplitRuns(width, &values, &lengths));
    int64_t total = 0;
    for (const char length : lengths) {
      total += static_cast<uint8_t>(length);
    }
    if (total < count) {
      return context_.Corrupt("values", "runs hold fewer values than the chunk");
    }
    OG_ASSIGN_OR_RETURN(auto out, NewBuffer(total * width));
    uint8_t* to = out->mutable_data();
    for (size_t run = 0; run < lengths.size(); ++run) {
      for (uint8_t n = static_cast<uint8_t>(lengths[run]); n > 0; --n) {
        std::memcpy(to, values.data() + static_cast<int64_t>(run) * width,
                    static_cast<size_t>(width));
        to += width;
      }
    }
    view->data = out->data();
    view->owned.push_back(std::move(out));
    return Status::OK();
  }

  Result<ValueView> DecodeVariable(const pb::ValueEncoding& encoding, int64_t count) {
    const bool fsst = encoding.has_fsst();
    const pb::ValueEncoding& plain = fsst ? encoding.fsst().values() : encoding;
    if (!plain.has_variable() || !plain.variable().offsets().has_flat() ||
        plain.variable().has_values()) {
      return context_.NotBuilt("encoding number " + std::to_string(plain.arm_case()) +
                               " of variable-width values");
    }
    const uint64_t offset_bits = plain.variable().offsets().flat().bits_per_value();
    ValueView view;
    if (offset_bits == 32) {
      OG_ASSIGN_OR_RETURN(view, PlainVariable<int32_t>(count));
    } else if (offset_bits == 64) {
      OG_ASSIGN_OR_RETURN(view, PlainVariable<int64_t>(count));
    } else {
      return context_.NotBuilt("offsets of " + std::to_string(offset_bits) + " bits");
    }
    view.owned.insert(view.owned.end(), owned_.begin(), owned_.end());
    return fsst ? Unsymbolize(encoding.fsst(), view) : Result<ValueView>(std::move(view));
  }

  template <typename Offset>
  Result<ValueView> PlainVariable(int64_t count) {
    OG_ASSIGN_OR_RETURN(std::string_view buffer, NextBuffer(0, 0));
    const int64_t head = block_form_ == BlockForm::kBlock ? 2 * sizeof(Offset) : 0;
    const auto size = static_cast<int64_t>(buffer.size());
    if (count < 0 || count > size ||
        head + (count + 1) * static_cast<int64_t>(sizeof(Offset)) > size) {
      return context_.Corrupt("values", "offsets reach past their buffer");
    }
    ValueView view;
    view.count = count;
    view.offset_bits = sizeof(Offset) * 8;
    const char* from = buffer.data() + head;
    int64_t base = 0;  // where offset 0 is
    if (block_form_ == BlockForm::kBlock) {
      if (LoadLittle<Offset>(buffer.data()) != view.offset_bits) {
        return context_.Corrupt("values", "a block of strings has offsets of another width");
      }
      base = LoadLittle<Offset>(buffer.data() + sizeof(Offset));
    }
    if (base < 0 || base > size) {
      return context_.Corrupt("values", "a block of strings starts past its end");
    }
    // Offsets may stand at any alignment in the file, and are used many times: copy them out.
    OG_ASSIGN_OR_RETURN(auto out, NewBuffer((count + 1) * static_cast<int64_t>(sizeof(Offset))));
    auto* offsets = reinterpret_cast<Offset*>(out->mutable_data());
    std::memcpy(offsets, from, static_cast<size_t>(out->size()));
    bool ordered = offsets[0] >= 0;
    for (int64_t i = 0; i < count; ++i) {
      ordered &= offsets[i] <= offsets[i + 1];
    }
    if (!ordered || static_cast<int64_t>(offsets[count]) > size - base) {
      return context_.Corrupt("values", "offsets of strings do not ascend inside their buffer");
    }
    view.data = reinterpret_cast<const uint8_t*>(buffer.data()) + base;
    view.offsets = offsets;
    view.owned.push_back(std::move(out));
    return view;
  }

  Result<ValueView> Unsymbolize(const pb::Fsst& fsst, const ValueView& codes) {
    OG_ASSIGN_OR_RETURN(const FsstTable table, FsstTable::Parse(fsst.symbol_table(), context_));
    const int64_t code_bytes = codes.OffsetAt(codes.count) - codes.OffsetAt(0);
    OG_ASSIGN_OR_RETURN(
        auto data,
        NewBuffer(static_cast<int64_t>(FsstTable::DecodedBound(static_cast<size_t>(code_bytes)))));
    OG_ASSIGN_OR_RETURN(auto out,
                        NewBuffer((codes.count + 1) * static_cast<int64_t>(sizeof(int64_t))));
    auto* offsets = reinterpret_cast<int64_t*>(out->mutable_data());
    int64_t at = 0;
    for (int64_t i = 0; i < codes.count; ++i) {
      offsets[i] = at;
      const int64_t begin = codes.OffsetAt(i);
      const std::string_view value(reinterpret_cast<const char*>(codes.data) + begin,
                                   static_cast<size_t>(codes.OffsetAt(i + 1) - begin));
      OG_ASSIGN_OR_RETURN(const size_t size,
                          table.Decode(value, data->mutable_data() + at, context_));
      at += static_cast<int64_t>(size);
    }
    offsets[codes.count] = at;
    ValueView view;
    view.count = codes.count;
    view.offset_bits = 64;
    view.offsets = offsets;
    view.data = data->data();
    view.owned = {std::move(data), std::move(out)};
    return view;
  }

  BlockForm block_form_;
  std::vector<std::string_view> buffers_;
  size_t next_ = 0;
  const ReadContext& context_;
  std::vector<std::shared_ptr<arrow::Buffer>> owned_;
};

}  // namespace

Result<ValueView> DecodeChunkValues(const pb::ValueEncoding& encoding, const LeafForm& form,
                                    std::span<const std::string_view> buffers, int64_t count,
                                    const ReadContext& context) {
  return Decoder(BlockForm::kMiniBlock, buffers, context).Decode(encoding, form, count, 0);
}

Result<ValueView> DecodeBlockValues(const pb::ValueEncoding& encoding, const LeafForm& form,
                                    std::string_view buffer, int64_t count,
                                    const ReadContext& context) {
  return Decoder(BlockForm::kBlock, std::span(&buffer, 1), context)
      .Decode(encoding, form, count, 0);
}

LeafForm IntegerForm(int64_t bits) {
  LeafForm form;
  form.kind = LeafForm::Kind::kFixed;
  form.item_bits = bits;
  return form;
}

}  // namespace omnigraph::lance
