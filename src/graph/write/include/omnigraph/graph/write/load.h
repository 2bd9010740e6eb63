/// \file
/// Bulk load: one input, one commit, all or nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/write/line_error.h"
#include "omnigraph/graph/write/line_reader.h"

namespace omnigraph::graph {
class Graph;
}  // namespace omnigraph::graph

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

/// Text in memory, which must outlive the source.
class TextSource : public ByteSource {
 public:
  explicit TextSource(std::string_view text) : text_(text) {}
  Result<size_t> Read(char* data, size_t size) override {
    const size_t count = text_.copy(data, size);
    text_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view text_;
};

/// Rows that one type gained and lost; in mode overwrite `deleted` counts all rows that were there.
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

/// How far a load is.
struct LoadProgress {
  int64_t lines = 0;
  int64_t rows = 0;
  bool checking = false;  ///< the input is read; checks against the graph and the commit remain
};

struct LoadOptions {
  LoadMode mode = LoadMode::kMerge;
  std::string actor;
  std::string message;
  size_t max_line_bytes = kMaxLineBytes;
  /// Memory for hashes of keys; above it they spill into the store. More: fewer runs to merge.
  size_t key_bytes_max = size_t{96} << 20;
  /// Wall time after which it does not publish (`load.too_long`): the sweep takes files that nobody
  /// names when they are a day old (C6).
  std::optional<std::chrono::microseconds> publish_before;
  /// Called now and then on the calling thread.
  std::function<void(const LoadProgress&)> progress;
};

/// `append`, `merge` or `overwrite`. Errors: kInvalid (`load.mode`).
Result<LoadMode> ParseLoadMode(std::string_view name);

/// Load all of `input` as one commit, also when it holds no line; or change nothing.
///
/// A line that is refused, a duplicate key, an endpoint that does not exist, a broken `@unique` or
/// `@card` refuses the whole input: then the report's `errors` say why, in order of lines, and
/// nothing was committed. Rows waiting in a stream are not looked at: fold first.
///
/// Owner:   `graph` outlives the call.
/// Threads: reads and parses on the calling thread, encodes and puts on one of its own.
/// Errors:  kConflict (`commit.conflict`: the schema changed meanwhile), kExhausted
///          (`load.too_long`), any of `input`, of the
///          graph and of the store; with effect_unknown() when the commit could not be settled.
/// Cost:    memory bounded whatever the input (about 400 MiB at most); the hashes of all keys,
///          48 bytes each, are in memory up to `key_bytes_max` and then in the store. Scans the
///          `id` column of the tables that it merges into or whose nodes it names.
Result<LoadReport> Load(graph::Graph* graph, ByteSource* input, const LoadOptions& options);

}  // namespace omnigraph::write
