/// \file
/// `@check` patterns. The engine is Arrow's own RE2 (linear time), reached through its compute
/// kernel; a second RE2 must never be linked beside it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::write {

/// A compiled pattern. Thread-compatible.
class Pattern {
 public:
  /// Errors: kInvalid (`schema.check_pattern`).
  static Result<std::unique_ptr<Pattern>> Make(const std::string& pattern);
  ~Pattern();

  /// True if some part of `text` matches. `text` is UTF-8.
  bool Search(std::string_view text);

 private:
  struct Impl;
  explicit Pattern(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::write
