/// \file
/// Takes nested arrays apart into leaves with repetition and definition levels.
#pragma once

#include <arrow/array/data.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "leaf_path.h"
#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// One leaf of some rows.
struct ShreddedLeaf {
  const LeafPath* path = nullptr;
  /// One value per slot that is not a null or empty list; content of null values is undefined.
  std::shared_ptr<arrow::ArrayData> values;
  int64_t rows = 0;
  int64_t slots = 0;
  /// Repetition level per slot; empty when the path has no list.
  std::vector<uint16_t> rep;
  /// Canonical definition level per slot; empty when all are 0.
  std::vector<uint16_t> def;
};

/// Shred `array`, whose field has the leaves `paths` (borrowed by the result), in order.
/// Errors: kInvalid (`lance.file.null_in_required`) for a null inside a field that is not nullable.
Result<std::vector<ShreddedLeaf>> Shred(const std::shared_ptr<arrow::ArrayData>& array,
                                        const std::vector<LeafPath>& paths);

}  // namespace omnigraph::lance
