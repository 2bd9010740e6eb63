/// \file
/// Arrow's writer places the buffers of a body on 8 bytes; official entries have them on 64. This
/// rewrites the places in the metadata message (a flatbuffer) instead of copying the body, and the
/// other numbers too, so that one message of Arrow's serves all batches of its schema.
/// docs/format/memwal.md.
#pragma once

#include <arrow/buffer.h>
#include <arrow/record_batch.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Give every buffer of a record-batch message a place on kIpcAlignment, in `metadata`, and return
/// the body with its padding.
///
/// `metadata` is a message that Arrow made for as many buffers (nullptr: an empty one). The body
/// shares them. Errors: kInternal (`memwal.ipc_layout`) if the message has another shape than
/// Arrow's.
Result<store::Bytes> AlignBody(const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                               std::string* metadata);

/// One array of a record batch, as its message names it.
struct FieldNode {
  int64_t length = 0;
  int64_t null_count = 0;
};

/// A batch as its message lists it: arrays and buffers in the order of the fields, parents first.
struct FlatBatch {
  std::vector<FieldNode> nodes;
  std::vector<std::shared_ptr<arrow::Buffer>> buffers;  ///< null: no bitmap
};

/// Nothing where some array is a slice, has room to spare, or is of a type that tables have not:
/// then Arrow's writer must cut it to size.
std::optional<FlatBatch> FlattenExact(const arrow::RecordBatch& batch);

/// Write the row count and the arrays of another batch of the same schema into the metadata of a
/// record-batch message. Errors: kInternal (`memwal.ipc_layout`).
Status SetNodes(int64_t rows, const std::vector<FieldNode>& nodes, std::string* metadata);

}  // namespace omnigraph::lance
