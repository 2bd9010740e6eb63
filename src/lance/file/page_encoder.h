/// \file
/// Encodes one page of one leaf: choice of layout, buffers, and the message that describes them.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lance/encodings.pb.h"
#include "omnigraph/base/status.h"
#include "shred.h"

namespace omnigraph::lance {

/// One encoded page. `bytes` holds its buffers one after the other, each starting at a multiple
/// of 64.
struct EncodedPage {
  std::shared_ptr<arrow::Buffer> bytes;
  /// (offset in `bytes`, size) of each page buffer.
  std::vector<std::pair<uint64_t, uint64_t>> buffers;
  pb::PageLayout layout;
  int64_t rows = 0;
};

/// Encode one leaf; `chunk_log_max`: a mini-block chunk holds at most two to this power values.
/// Errors: kExhausted (`lance.file.page_slots`) when a mini-block chunk would need more level slots
/// than its header can
///         count: cut the rows into smaller pages; kUnsupported when one row alone does.
Result<EncodedPage> EncodePage(const ShreddedLeaf& leaf, int chunk_log_max);

}  // namespace omnigraph::lance
