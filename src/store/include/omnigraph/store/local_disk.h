/// \file
/// The machine's file system behind the disk seam.
#pragma once

#include <memory>
#include <string>

#include "omnigraph/store/disk.h"

namespace omnigraph::store {

/// Open `root` (made absolute at once; need not exist).
/// Errors: kInvalid `store.not_a_folder`, `store.permission_denied`.
Result<std::shared_ptr<Disk>> OpenLocalDisk(const std::string& root);

}  // namespace omnigraph::store
