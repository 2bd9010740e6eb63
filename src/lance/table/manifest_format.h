/// \file
/// Constants of the manifest file's frame. docs/format/lance-table.md, Layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace omnigraph::lance {

inline constexpr std::string_view kManifestMagic = "LANC";
inline constexpr uint16_t kManifestMajor = 0;
inline constexpr uint16_t kManifestMinor = 2;
/// u64 place of the manifest's length word, u16 major, u16 minor, magic.
inline constexpr size_t kManifestTrailerBytes = 16;
inline constexpr size_t kSectionLengthBytes = 4;
static_assert(sizeof(uint64_t) + 2 * sizeof(uint16_t) + kManifestMagic.size() ==
              kManifestTrailerBytes);

/// Name that our writer leaves in manifests.
inline constexpr std::string_view kWriterLibrary = "omnigraph";
inline constexpr std::string_view kWriterVersion = "0.1.0";

}  // namespace omnigraph::lance
