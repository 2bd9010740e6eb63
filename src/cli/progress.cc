#include "progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace omnigraph::cli {
namespace {

constexpr runtime::Duration kInterval = std::chrono::milliseconds(200);

}  // namespace

std::string WithThousands(int64_t value) {
  std::string digits = std::to_string(value < 0 ? -value : value);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return value < 0 ? "-" + digits : digits;
}

Progress::Progress(bool enabled)
    : enabled_(enabled && ::isatty(STDERR_FILENO) == 1),
      started_(runtime::MonotonicNow()),
      last_(started_) {}

bool Progress::Due() const {
  return enabled_ && runtime::MonotonicNow() - last_ >= kInterval;
}

void Progress::Show(const ProgressFigures& figures) {
  if (!enabled_) {
    return;
  }
  const runtime::Duration now = runtime::MonotonicNow();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const double rate = seconds > 0 ? static_cast<double>(figures.rows - last_rows_) / seconds : 0;
  std::string line = fmt::format("{} rows, {} rows/s", WithThousands(figures.rows),
                                 WithThousands(static_cast<int64_t>(rate)));
  if (figures.acked >= 0) {
    line += fmt::format(", {} acked", WithThousands(figures.acked));
  }
  if (figures.pending >= 0) {
    line += fmt::format(", {} pending", WithThousands(figures.pending));
  }
  if (figures.lag_s >= 0) {
    line += fmt::format(", lag {:.1f} s", figures.lag_s);
  }
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
  last_ = now;
  last_rows_ = figures.rows;
}

void Progress::Clear() {
  if (shown_) {
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
  }
}

}  // namespace omnigraph::cli
