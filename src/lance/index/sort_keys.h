/// \file
/// Sorts keys with their row ids. Private.
#pragma once

#include "omnigraph/base/status.h"
#include "segment_writer.h"

namespace omnigraph::lance {

/// The same rows, ascending by key; rows of one key keep their order. Sorted input is returned as
/// it is, after one look at each key. REQUIRES: no nulls, fewer than 2^32 rows.
Result<KeyRows> SortByKey(KeyRows rows);

}  // namespace omnigraph::lance
