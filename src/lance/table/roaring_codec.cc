#include "roaring_codec.h"

#include <fmt/format.h>

#include <bit>

#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {
namespace {

constexpr uint32_t kCookieNoRuns = 12346;
constexpr uint32_t kCookieRuns = 12347;
constexpr uint32_t kArrayMax = 4096;
constexpr size_t kBitmapBytes = 8192;
constexpr uint32_t kOffsetsFrom = 4;  // with runs, offsets are there from this many containers on

struct ContainerHead {
  uint32_t key = 0;
  uint32_t cardinality = 0;
  bool runs = false;
};

Status Malformed(std::string_view object, std::string_view what) {
  return Corruption("roaring.malformed", fmt::format("bitmap in {}: {}", object, what), object);
}

Status ReadArray(const ContainerHead& head, std::string_view object, ByteReader* reader,
                 std::vector<uint32_t>* values) {
  OG_ASSIGN_OR_RETURN(const std::string_view raw, reader->ReadBytes(head.cardinality * 2));
  int32_t last = -1;
  for (uint32_t i = 0; i < head.cardinality; ++i) {
    const uint16_t low = LoadLittle<uint16_t>(raw.data() + 2 * i);
    if (low <= last) {
      return Malformed(object, "an array container is not ascending");
    }
    last = low;
    values->push_back(head.key << 16 | low);
  }
  return Status::OK();
}

Status ReadBitmap(const ContainerHead& head, std::string_view object, ByteReader* reader,
                  std::vector<uint32_t>* values) {
  OG_ASSIGN_OR_RETURN(const std::string_view raw, reader->ReadBytes(kBitmapBytes));
  const size_t before = values->size();
  for (uint32_t word = 0; word < kBitmapBytes / 8; ++word) {
    for (uint64_t bits = LoadLittle<uint64_t>(raw.data() + 8 * word); bits != 0; bits &= bits - 1) {
      values->push_back(head.key << 16 |
                        (word * 64 + static_cast<uint32_t>(std::countr_zero(bits))));
    }
  }
  if (values->size() - before != head.cardinality) {
    return Malformed(object, "a bitmap container does not hold its cardinality");
  }
  return Status::OK();
}

Status ReadRuns(const ContainerHead& head, std::string_view object, ByteReader* reader,
                std::vector<uint32_t>* values) {
  OG_ASSIGN_OR_RETURN(const uint16_t runs, reader->Read<uint16_t>());
  const size_t before = values->size();
  int64_t last = -1;
  for (uint32_t i = 0; i < runs; ++i) {
    OG_ASSIGN_OR_RETURN(const uint16_t start, reader->Read<uint16_t>());
    OG_ASSIGN_OR_RETURN(const uint16_t extra, reader->Read<uint16_t>());
    if (start <= last || uint32_t{start} + extra > 0xffff) {
      return Malformed(object, "a run container is not ascending");
    }
    for (uint32_t low = start; low <= uint32_t{start} + extra; ++low) {
      values->push_back(head.key << 16 | low);
    }
    last = int64_t{start} + extra;
  }
  if (values->size() - before != head.cardinality) {
    return Malformed(object, "a run container does not hold its cardinality");
  }
  return Status::OK();
}

Result<std::vector<ContainerHead>> ReadHeads(std::string_view object, ByteReader* reader) {
  OG_ASSIGN_OR_RETURN(const uint32_t cookie, reader->Read<uint32_t>());
  const bool with_runs = (cookie & 0xffff) == kCookieRuns;
  uint32_t containers = 0;
  std::string_view run_flags;
  if (with_runs) {
    containers = (cookie >> 16) + 1;
    OG_ASSIGN_OR_RETURN(run_flags, reader->ReadBytes((containers + 7) / 8));
  } else if (cookie == kCookieNoRuns) {
    OG_ASSIGN_OR_RETURN(containers, reader->Read<uint32_t>());
  } else {
    return Malformed(object, fmt::format("unknown cookie {}", cookie));
  }
  if (containers > 65536) {
    return Malformed(object, fmt::format("{} containers", containers));
  }
  std::vector<ContainerHead> heads;
  for (uint32_t i = 0; i < containers; ++i) {
    ContainerHead head;
    OG_ASSIGN_OR_RETURN(head.key, reader->Read<uint16_t>());
    OG_ASSIGN_OR_RETURN(const uint16_t cardinality, reader->Read<uint16_t>());
    head.cardinality = uint32_t{cardinality} + 1;
    head.runs = with_runs && ((static_cast<uint8_t>(run_flags[i / 8]) >> (i % 8)) & 1) != 0;
    if (!heads.empty() && head.key <= heads.back().key) {
      return Malformed(object, "container keys are not ascending");
    }
    heads.push_back(head);
  }
  if (!with_runs || containers >= kOffsetsFrom) {
    // Containers follow one another in order, so the offset table says nothing new.
    OG_RETURN_NOT_OK(reader->ReadBytes(size_t{containers} * 4).status());
  }
  return heads;
}

}  // namespace

Result<std::vector<uint32_t>> ParseRoaringBitmap(std::string_view bytes, std::string_view object) {
  ByteReader reader(bytes, object);
  OG_ASSIGN_OR_RETURN(const std::vector<ContainerHead> heads, ReadHeads(object, &reader));
  std::vector<uint32_t> values;
  for (const ContainerHead& head : heads) {
    if (head.runs) {
      OG_RETURN_NOT_OK(ReadRuns(head, object, &reader, &values));
    } else if (head.cardinality > kArrayMax) {
      OG_RETURN_NOT_OK(ReadBitmap(head, object, &reader, &values));
    } else {
      OG_RETURN_NOT_OK(ReadArray(head, object, &reader, &values));
    }
  }
  if (reader.remaining() != 0) {
    return Malformed(object, fmt::format("{} bytes behind the last container", reader.remaining()));
  }
  return values;
}

std::string EncodeRoaringBitmap(std::span<const uint32_t> values) {
  struct Slice {
    uint32_t key;
    size_t begin;
    size_t end;
  };
  std::vector<Slice> slices;
  for (size_t i = 0; i < values.size(); ++i) {
    OG_CHECK(i == 0 || values[i - 1] < values[i]);
    const uint32_t key = values[i] >> 16;
    if (slices.empty() || slices.back().key != key) {
      slices.push_back({key, i, i});
    }
    slices.back().end = i + 1;
  }
  std::string out;
  AppendLittle(&out, kCookieNoRuns);
  AppendLittle(&out, static_cast<uint32_t>(slices.size()));
  for (const Slice& slice : slices) {
    AppendLittle(&out, static_cast<uint16_t>(slice.key));
    AppendLittle(&out, static_cast<uint16_t>(slice.end - slice.begin - 1));
  }
  size_t offset = out.size() + 4 * slices.size();
  for (const Slice& slice : slices) {
    AppendLittle(&out, static_cast<uint32_t>(offset));
    const size_t cardinality = slice.end - slice.begin;
    offset += cardinality > kArrayMax ? kBitmapBytes : 2 * cardinality;
  }
  for (const Slice& slice : slices) {
    if (slice.end - slice.begin <= kArrayMax) {
      for (size_t i = slice.begin; i < slice.end; ++i) {
        AppendLittle(&out, static_cast<uint16_t>(values[i]));
      }
      continue;
    }
    std::string bits(kBitmapBytes, '\0');
    for (size_t i = slice.begin; i < slice.end; ++i) {
      const uint32_t low = values[i] & 0xffff;
      bits[low / 8] = static_cast<char>(static_cast<uint8_t>(bits[low / 8]) | (1u << (low % 8)));
    }
    out += bits;
  }
  return out;
}

}  // namespace omnigraph::lance
