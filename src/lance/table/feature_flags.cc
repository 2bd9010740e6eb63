#include "omnigraph/lance/table/feature_flags.h"

#include <fmt/format.h>

#include <string>

namespace omnigraph::lance {
namespace {

constexpr uint64_t kReadable = kFlagDeletionFiles | kFlagStableRowIds | kFlagV2Format |
                               kFlagTableConfig | kFlagBasePaths | kFlagInlineTransaction |
                               kFlagCoveredIndex | kFlagMixedFileVersions;
constexpr uint64_t kWritable = kReadable;

std::string BitNames(uint64_t flags) {
  std::string names;
  for (int bit = 0; bit < 64; ++bit) {
    if ((flags >> bit) & 1) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", bit);
    }
  }
  return names;
}

}  // namespace

Status CheckReaderFlags(uint64_t reader_flags, std::string_view object) {
  const uint64_t unknown = reader_flags & ~kReadable;
  if (unknown == 0) {
    return Status::OK();
  }
  return Unsupported("table.unknown_reader_flags",
                     fmt::format("{} needs feature flags (bits {}) that this release cannot read; "
                                 "open it with a newer release",
                                 object, BitNames(unknown)),
                     {.object = std::string(object)});
}

Status CheckWriterFlags(uint64_t writer_flags, bool passes_guard, std::string_view object) {
  uint64_t unknown = writer_flags & ~kWritable;
  if ((unknown & kFlagGraphGuard) != 0 && passes_guard) {
    unknown &= ~kFlagGraphGuard;
  }
  if (unknown == 0) {
    return Status::OK();
  }
  if (unknown == kFlagGraphGuard) {
    return Unsupported(
        "table.guarded",
        fmt::format("{} belongs to a graph (writer flag bit 62); write through the graph, or take "
                    "the guard off a copy",
                    object),
        {.object = std::string(object)});
  }
  return Unsupported("table.unknown_writer_flags",
                     fmt::format("{} has feature flags (bits {}) that this release cannot keep; "
                                 "write it with a newer release",
                                 object, BitNames(unknown)),
                     {.object = std::string(object)});
}

}  // namespace omnigraph::lance
