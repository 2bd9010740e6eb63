/// \file
/// The two facts we need of a line of /proc/<pid>/stat (proc(5)).
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace omnigraph::runtime::internal {

struct ProcStat {
  int64_t start_time = 0;  ///< field 22, clock ticks after boot
  bool ended = false;      ///< field 3 is Z or X: a zombie runs no more
};

/// Nothing when the text has another form. The command name (field 2) may hold blanks and
/// parentheses: fields count from the last ')'.
inline std::optional<ProcStat> ParseProcStat(std::string_view text) {
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || name_end + 3 > text.size()) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(name_end + 2);
  ProcStat stat;
  stat.ended = rest[0] == 'Z' || rest[0] == 'X';
  for (int field = 3; field < 22; ++field) {
    const size_t blank = rest.find(' ');
    if (blank == std::string_view::npos) {
      return std::nullopt;
    }
    rest.remove_prefix(blank + 1);
  }
  const char* end = rest.data() + rest.size();
  if (std::from_chars(rest.data(), end, stat.start_time).ec != std::errc()) {
    return std::nullopt;
  }
  return stat;
}

}  // namespace omnigraph::runtime::internal
