/// \file
/// The container of a data file: footer, tables, column metadata. Everything in it is checked
/// against the file's size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/store/object_store.h"
#include "page_decoder.h"
#include "read_context.h"

namespace omnigraph::lance {

/// One column of a file.
struct ColumnInfo {
  /// In row order; pages without rows are left out.
  std::vector<std::unique_ptr<PageInfo>> pages;
  int64_t rows = 0;
  /// Why this column cannot be read (a page of a kind that is not built); OK otherwise.
  Status unsupported;
};

/// A file's metadata. Immutable.
struct Container {
  uint64_t size = 0;
  uint16_t major_version = 0;
  uint16_t minor_version = 0;
  int64_t rows = 0;
  Schema schema;
  std::vector<store::ByteRange> global_buffers;
  std::vector<ColumnInfo> columns;
};

/// Read and check the metadata of the file at `path`.
/// Errors: kCorruption (`lance.file.container`), kUnsupported (`lance.file.version`), any kind from
/// ObjectStore.
Result<Container> ReadContainer(store::ObjectStore& store, const std::string& path,
                                std::optional<uint64_t> size);

}  // namespace omnigraph::lance
