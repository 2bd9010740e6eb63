/// \file
/// The errors of one input: all counted, the first by line kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "omnigraph/graph/write/line_error.h"

namespace omnigraph::write {

/// Bounded: keeps the errors of the lowest lines. Thread-compatible.
class ErrorList {
 public:
  explicit ErrorList(size_t most) : most_(most) {}

  void Add(LineError error) {
    ++count_;
    kept_.push_back(std::move(error));
    std::push_heap(kept_.begin(), kept_.end(), ByLine);
    if (kept_.size() > most_) {
      std::pop_heap(kept_.begin(), kept_.end(), ByLine);
      kept_.pop_back();
    }
  }

  /// Add the errors of another list.
  void Merge(ErrorList other) {
    const int64_t dropped = other.count_ - static_cast<int64_t>(other.kept_.size());
    for (LineError& error : other.kept_) {
      Add(std::move(error));
    }
    count_ += dropped;
  }

  int64_t count() const { return count_; }

  /// Those kept, by line and column.
  std::vector<LineError> Sorted() const {
    std::vector<LineError> sorted = kept_;
    std::stable_sort(sorted.begin(), sorted.end(), ByLine);
    return sorted;
  }

 private:
  static bool ByLine(const LineError& a, const LineError& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  }

  size_t most_;
  int64_t count_ = 0;
  std::vector<LineError> kept_;  ///< a heap, the highest line on top
};

}  // namespace omnigraph::write
