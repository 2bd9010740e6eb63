/// \file
/// A conditional put whose outcome is learned by reading (P3, P4).
#pragma once

#include <arrow/buffer.h>

#include <memory>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/shard_manifest.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// What stands under a name after a put: our bytes, or these.
struct SettledPut {
  bool ours = false;
  std::shared_ptr<arrow::Buffer> other;
  /// Some try went unanswered: our bytes may have stood there before `other`, where names are
  /// deleted.
  bool doubtful = false;
};

/// Put if absent, then read until it is known what stands there. The same bytes are put again where
/// nothing does.
///
/// Errors: the store's, with effect unknown unless every try surely had none. `store.sync_failed`
/// is returned at once and never settled by reading (P3). Cost: one put where the answer is yes.
Result<SettledPut> PutSettled(store::ObjectStore& store, const std::string& path,
                              const store::Bytes& bytes, store::PutStrength strength,
                              const SettlePolicy& policy);

}  // namespace omnigraph::lance
