/// \file
/// What encoder and parser of entries share: framing of the Arrow IPC stream, and our checksum.
/// docs/format/memwal.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Marks the start of every message, the end-of-stream included.
inline constexpr uint32_t kContinuation = 0xffffffff;
/// Continuation and length.
inline constexpr int64_t kFrameBytes = 8;
/// Of messages and of the buffers in a body, as official writers have it.
inline constexpr int32_t kIpcAlignment = 64;
/// Hex digits of the checksum.
inline constexpr size_t kSumDigits = 16;

/// xxHash64 of the mark's JSON and the body of the record batch, as it stands in the object, in
/// hex.
std::string EntrySum(std::string_view json, const store::Bytes& body);

}  // namespace omnigraph::lance
