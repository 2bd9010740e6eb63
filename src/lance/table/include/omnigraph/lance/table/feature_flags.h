/// \file
/// The two feature-flag words of a manifest: what we write, what we read, what we refuse.
///
/// Pure functions. Meaning of each bit: docs/format/lance-table.md, Versioning.
#pragma once

#include <cstdint>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

inline constexpr uint64_t kFlagDeletionFiles = 1;        ///< both words
inline constexpr uint64_t kFlagStableRowIds = 2;         ///< both words
inline constexpr uint64_t kFlagV2Format = 4;             ///< deprecated, ignored
inline constexpr uint64_t kFlagTableConfig = 8;          ///< writer word
inline constexpr uint64_t kFlagBasePaths = 16;           ///< both words
inline constexpr uint64_t kFlagInlineTransaction = 32;   ///< writer word: no transaction file
inline constexpr uint64_t kFlagCoveredIndex = 128;       ///< both words; harmless to our readers
inline constexpr uint64_t kFlagMixedFileVersions = 256;  ///< both words
inline constexpr uint64_t kFlagNonReusableFieldIds = 32768;  ///< writer word, with its own field
/// Guard of a graph's tables: no release knows it, so outsiders' commits are refused.
inline constexpr uint64_t kFlagGraphGuard = uint64_t{1} << 62;

/// Refuse to open a table whose reader word holds a bit that we do not read.
///
/// Errors: kUnsupported (`table.unknown_reader_flags`), naming the bits and the remedy.
Status CheckReaderFlags(uint64_t reader_flags, std::string_view object);

/// Refuse to write a table whose writer word holds a bit that we do not keep.
///
/// `passes_guard` says that the caller owns the graph whose guard (bit 62) this is.
/// Errors: kUnsupported (`table.unknown_writer_flags`, `table.guarded`).
Status CheckWriterFlags(uint64_t writer_flags, bool passes_guard, std::string_view object);

}  // namespace omnigraph::lance
