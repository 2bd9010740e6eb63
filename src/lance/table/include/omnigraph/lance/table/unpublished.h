/// \file
/// Objects that nothing names yet: data, deletion, index and transaction files before the manifest
/// that shows them.
#pragma once

#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Put an immutable object under a fresh name, and know how it ended (P4).
///
/// A put without an answer, or answered "exists", is settled by reading: the same bytes there are a
/// success, an absent object is put again a few times. A failure is never marked as one of unknown
/// effect: whatever stands there, no version names it.
/// Errors: kAlreadyExists (`store.already_exists`): other bytes stand there; `store.sync_failed`
///         at once (P3: reading settles nothing); any kind from ObjectStore.
/// Cost:   one put; a get of the object for each put that may have landed unseen.
Status PutUnpublished(store::ObjectStore& store, const std::string& path, const store::Bytes& bytes,
                      store::PutStrength strength = store::PutStrength::kOrdered);

}  // namespace omnigraph::lance
