/// \file
/// The progress line on a terminal's stderr: rows, rows/s, acked, pending, lag.
#pragma once

#include <cstdint>
#include <string>

#include "omnigraph/runtime/clock.h"

namespace omnigraph::cli {

/// What the line shows. Negative numbers are left out.
struct ProgressFigures {
  int64_t rows = 0;
  int64_t acked = -1;
  int64_t pending = -1;
  double lag_s = -1;
};

/// Draws at most five times a second, and only where stderr is a terminal. Thread-compatible.
class Progress {
 public:
  explicit Progress(bool enabled);

  bool enabled() const { return enabled_; }
  /// True when it is time for the next Show(): cheap to ask in a loop.
  bool Due() const;
  void Show(const ProgressFigures& figures);
  /// Wipe the line, before other output.
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
  runtime::Duration started_;
  runtime::Duration last_{0};
  int64_t last_rows_ = 0;
};

/// 1234567 as `1,234,567`.
std::string WithThousands(int64_t value);

}  // namespace omnigraph::cli
