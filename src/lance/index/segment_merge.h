/// \file
/// Merges segments, and rows in memory, into one segment. Private.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "btree_segment.h"
#include "omnigraph/base/status.h"
#include "segment_writer.h"

namespace omnigraph::lance {

/// Which rows of the segment with this number, given by their ids, live on. Errors end the merge.
using LiveRows =
    std::function<Result<std::vector<bool>>(size_t segment, std::span<const uint64_t> ids)>;

/// Write the rows of `fresh` and the live rows of `segments` in one order.
///
/// Memory: one block of each segment, beside what the writer keeps.
/// Errors: kCorruption, any kind from ObjectStore.
Status MergeInto(const KeyRows& fresh,
                 const std::vector<std::shared_ptr<const BTreeSegment>>& segments,
                 const LiveRows& live, SegmentWriter* writer);

}  // namespace omnigraph::lance
