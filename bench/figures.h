/// \file
/// What the benchmark programs share: their arguments, medians, and the lines that they print.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "omnigraph/runtime/clock.h"

namespace omnigraph::bench {

/// The folder to work in: the value of `--work`, or `.`.
inline std::string WorkFolder(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "--work") == 0) {
      return argv[i + 1];
    }
  }
  return ".";
}

/// Print one figure: `figure <group>.<name> <number>`.
inline void Figure(const std::string& name, double number) {
  std::printf("figure %s %.4g\n", name.c_str(), number);
  std::fflush(stdout);
}

/// Microseconds of single calls.
class Samples {
 public:
  void Add(double us) { us_.push_back(us); }

  /// The sample below which `part` (0 to 1) of all lie. REQUIRES: at least one sample.
  double Quantile(double part) const {
    std::vector<double> sorted = us_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[std::min(sorted.size() - 1,
                           static_cast<size_t>(part * static_cast<double>(sorted.size())))];
  }
  double Median() const { return Quantile(0.5); }

 private:
  std::vector<double> us_;
};

/// Microseconds that `body` takes.
template <typename Body>
double TimeUs(Body body) {
  const runtime::Duration begin = runtime::MonotonicNow();
  body();
  return static_cast<double>((runtime::MonotonicNow() - begin).count()) / 1e3;
}

}  // namespace omnigraph::bench
