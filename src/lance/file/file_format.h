/// \file
/// Constants of the container and of page layouts. The page that defines them:
/// docs/format/lance-file.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace omnigraph::lance {

inline constexpr std::string_view kFileMagic = "LANC";
inline constexpr int64_t kFooterBytes = 40;
inline constexpr uint16_t kMajorVersion = 2;
inline constexpr uint16_t kMinorVersionWritten = 2;

/// Page buffers and global buffers start at a multiple of this; official readers refuse others.
inline constexpr int64_t kBufferAlignment = 64;
inline constexpr uint8_t kGapByte = 'H';
/// Sections of a mini-block chunk start at a multiple of this.
inline constexpr int64_t kChunkAlignment = 8;
inline constexpr uint8_t kChunkPadByte = 0xFE;

inline constexpr std::string_view kColumnEncodingUrl = "/lance.encodings.ColumnEncoding";
inline constexpr std::string_view kPageLayoutUrl = "/lance.encodings21.PageLayout";
/// ColumnEncoding { values {} }.
inline constexpr std::string_view kColumnEncodingValue("\x0a\x00", 2);

/// Values of this many bytes or more go to full-zip pages.
inline constexpr int64_t kFullZipMinBytes = 256;
/// Wanted size of a chunk of variable-width and of fixed-width values, and the most values in one.
inline constexpr int64_t kVariableChunkBytes = 4096;
inline constexpr int64_t kFixedChunkBytes = 8192;
inline constexpr int kChunkLogMax = 12;
/// Level slots of one chunk: their byte size is a u16, two bytes per slot.
inline constexpr int64_t kChunkSlotsMax = 32767;

inline constexpr uint32_t kSchemeLz4 = 1;
inline constexpr uint32_t kSchemeZstd = 2;

constexpr int64_t AlignUp(int64_t value, int64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace omnigraph::lance
