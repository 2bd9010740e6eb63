/// \file
/// Runs a put plan in one folder.
#pragma once

#include <string_view>

#include "local_folders.h"
#include "omnigraph/store/put_plan.h"

namespace omnigraph::store {

/// Put `bytes` under `name` by the steps of `plan`. Where the file system has no unnamed files a
/// hidden name takes their place.
///
/// Errors: kAlreadyExists; kNotFound when the folder was removed under us, before any effect;
/// kUnavailable
///         `store.sync_failed`; those of Disk. The effect is unknown after a failed sync and after
///         a failure behind the step that shows the name.
Status RunPutPlan(LocalFolders& folders, const std::shared_ptr<AnchoredFolder>& folder,
                  std::string_view name, const Bytes& bytes, const PutPlan& plan);

}  // namespace omnigraph::store
