/// \file
/// Bulk load: one input, one commit, all or nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/write/line_error.h"

namespace omnigraph::write {

enum class LoadMode : uint8_t {
  kAppend,     ///< an id that exists is a conflict
  kMerge,      ///< an id that exists is replaced as a whole row
  kOverwrite,  ///< types that occur in the input lose all other rows
};

/// Where input comes from. Single-owner: read by one thread.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fill at most `size` bytes; 0 at the end. Errors: any kind.
  virtual Result<size_t> Read(char* data, size_t size) = 0;
};

/// Rows that one type gained and lost.
struct LoadCounts {
  std::string kind;  ///< `node` or `edge`
  std::string type;
  int64_t inserted = 0;
  int64_t updated = 0;
  int64_t deleted = 0;
};

/// What a load did. When `errors` is not empty nothing was changed.
struct LoadReport {
  int64_t lines = 0;
  int64_t blank = 0;
  int64_t rows = 0;
  std::vector<LoadCounts> types;  ///< types that occur in the input, in catalog order
  int64_t error_count = 0;
  std::vector<LineError> errors;  ///< the first 100, by line
  std::string commit_id;          ///< empty when nothing was committed
};

}  // namespace omnigraph::write
