/// \file
/// Which file system a folder lies on, as far as durable puts care (docs/format/durable-put.md has
/// the argument for each).
#pragma once

#include <cstdint>
#include <string>

namespace omnigraph::store {

enum class FileSystemKind : uint8_t {
  kExt4Journal,    ///< ext4 (or ext3 by the same driver) that is known to have a journal
  kExt4NoJournal,  ///< ext4 without a journal, or where that cannot be learnt
  kOther,          ///< nothing is argued: strict, every sync that there is
};

/// Look at the open folder `descriptor`. Anything that cannot be learnt counts as the weaker kind.
FileSystemKind DetectFileSystem(int descriptor);

namespace internal {
/// The type of the mount that holds the device `major:minor`, from the text of
/// /proc/self/mountinfo; empty when it is not there.
std::string MountTypeOf(const std::string& mountinfo, uint32_t major, uint32_t minor);
}  // namespace internal

}  // namespace omnigraph::store
