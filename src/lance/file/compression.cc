#include "compression.h"

#include <arrow/buffer_builder.h>
#include <lz4.h>
#include <zstd.h>

#include <memory>
#include <string>

#include "file_format.h"
#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {
namespace {

/// LZ4 cannot expand by more than this; zstd can, so its sizes are only capped.
constexpr uint64_t kLz4RatioMax = 255;
constexpr uint64_t kDecompressedMax = uint64_t{1} << 31;

Result<std::shared_ptr<arrow::Buffer>> NewBuffer(uint64_t size) {
  OG_ASSIGN_OR_RETURN(auto buffer, arrow::AllocateBuffer(static_cast<int64_t>(size)));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

Result<std::shared_ptr<arrow::Buffer>> DecompressLz4(std::string_view bytes,
                                                     const ReadContext& context) {
  if (bytes.size() < sizeof(uint32_t)) {
    return context.Corrupt("compression", "LZ4 buffer without a size");
  }
  const auto size = LoadLittle<uint32_t>(bytes.data());
  const std::string_view block = bytes.substr(sizeof(uint32_t));
  if (size > kDecompressedMax || size > kLz4RatioMax * block.size() ||
      block.size() > kDecompressedMax) {
    return context.Corrupt("compression", "LZ4 buffer of an impossible size");
  }
  OG_ASSIGN_OR_RETURN(auto out, NewBuffer(size));
  const int got = LZ4_decompress_safe(block.data(), reinterpret_cast<char*>(out->mutable_data()),
                                      static_cast<int>(block.size()), static_cast<int>(size));
  if (got < 0 || static_cast<uint32_t>(got) != size) {
    return context.Corrupt("compression", "LZ4 block does not decode to its size");
  }
  return out;
}

/// A frame that does not say how long its content is.
Result<std::shared_ptr<arrow::Buffer>> DecompressZstdStream(std::string_view frame,
                                                            const ReadContext& context) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  if (stream == nullptr) {
    return Exhausted("lance.file.memory", "decompress a zstd frame: no memory");
  }
  arrow::BufferBuilder out;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer in{frame.data(), frame.size(), 0};
  size_t left = 1;  // 0 = the frame is complete
  while (left != 0) {
    ZSTD_outBuffer to{chunk.data(), chunk.size(), 0};
    const size_t consumed = in.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    const bool stuck = in.pos == consumed && to.pos == 0;
    if (ZSTD_isError(left) != 0 || (left != 0 && stuck) ||
        static_cast<uint64_t>(out.length()) + to.pos > kDecompressedMax) {
      return context.Corrupt("compression", "zstd frame is broken");
    }
    OG_RETURN_NOT_OK(out.Append(chunk.data(), static_cast<int64_t>(to.pos)));
  }
  return out.Finish();
}

Result<std::shared_ptr<arrow::Buffer>> DecompressZstd(std::string_view bytes,
                                                      const ReadContext& context) {
  const bool bare =
      bytes.size() >= sizeof(uint32_t) && LoadLittle<uint32_t>(bytes.data()) == ZSTD_MAGICNUMBER;
  if (!bare && bytes.size() < sizeof(uint64_t)) {
    return context.Corrupt("compression", "zstd buffer without a size");
  }
  const std::string_view frame = bare ? bytes : bytes.substr(sizeof(uint64_t));
  const uint64_t in_frame = ZSTD_getFrameContentSize(frame.data(), frame.size());
  const uint64_t size = bare ? in_frame : LoadLittle<uint64_t>(bytes.data());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return DecompressZstdStream(frame, context);
  }
  if (size > kDecompressedMax) {
    return context.Corrupt("compression", "zstd buffer of an impossible size");
  }
  OG_ASSIGN_OR_RETURN(auto out, NewBuffer(size));
  const size_t got = ZSTD_decompress(out->mutable_data(), size, frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != size) {
    return context.Corrupt("compression", "zstd frame does not decode to its size");
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<arrow::Buffer>> Decompress(uint32_t scheme, std::string_view bytes,
                                                  const ReadContext& context) {
  switch (scheme) {
    case kSchemeLz4:
      return DecompressLz4(bytes, context);
    case kSchemeZstd:
      return DecompressZstd(bytes, context);
    default:
      return context.NotBuilt("compression scheme " + std::to_string(scheme));
  }
}

}  // namespace omnigraph::lance
