/// \file
/// Arrow's writer places the buffers of a body on 8 bytes; official entries have them on 64. This
/// rewrites the places in the metadata message (a flatbuffer) instead of copying the body.
/// docs/format/memwal.md.
#pragma once

#include <arrow/buffer.h>

#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

/// Give every buffer of a record-batch message a place on kIpcAlignment, in `metadata`, and return
/// the body with its padding.
///
/// `metadata` is the message that Arrow made for exactly these buffers (nullptr: an empty one). The
/// body shares them. Errors: kInternal (`memwal.ipc_layout`) if the message has another shape than
/// Arrow's.
Result<store::Bytes> AlignBody(const std::vector<std::shared_ptr<arrow::Buffer>>& buffers,
                               std::string* metadata);

}  // namespace omnigraph::lance
