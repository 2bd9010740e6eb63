/// \file
/// Puts leaves with their levels together again: the reverse of shred.h.
#pragma once

#include <arrow/array/data.h>
#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "leaf_sink.h"
#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Assemble `rows` rows of `field` from its leaves, depth first; a null entry is a leaf that the
/// file does not hold. The sinks are spent. Errors: kCorruption (`lance.file.levels`) when levels
/// and values do not fit each other.
Result<std::shared_ptr<arrow::ArrayData>> Assemble(
    const arrow::Field& field, int64_t rows, const std::vector<std::unique_ptr<LeafSink>>& leaves,
    const ReadContext& context);

}  // namespace omnigraph::lance
