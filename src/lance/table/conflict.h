/// \file
/// Which operations may be committed over which others. Private to this layer.
#pragma once

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/lance/table/transaction.h"

namespace omnigraph::lance {

/// Judge a change made on `base` by what another transaction did since. What this passes still has
/// to pass Rebase, which compares the rows themselves.
///
/// Errors: kConflict (`commit.conflict`) for every pair that is not plainly compatible.
Status CheckOperations(const Table& base, const Change& mine, const Transaction& theirs);

}  // namespace omnigraph::lance
