/// \file
/// The two general compressions of a buffer, with their size prefixes.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "omnigraph/base/status.h"
#include "read_context.h"

namespace omnigraph::lance {

/// Decompress a buffer of scheme LZ4 (u32 size, raw block) or zstd (u64 size or none, frame).
/// Errors: kCorruption (`lance.file.compression`), kUnsupported for another scheme.
Result<std::shared_ptr<arrow::Buffer>> Decompress(uint32_t scheme, std::string_view bytes,
                                                  const ReadContext& context);

}  // namespace omnigraph::lance
