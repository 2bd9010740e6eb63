/// \file
/// Slow looks at a line that was refused, to say where and why. Never on the path of good rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace omnigraph::write {

/// The shape of a text that may be no JSON at all.
struct LineShape {
  int max_depth = 0;               ///< of brackets outside strings
  bool open = false;               ///< the text ends within a string, an object or an array
  bool open_string = false;        ///< it ends within a string
  size_t open_at = 0;              ///< where that string, or the innermost bracket, begins
  std::optional<size_t> trailing;  ///< the first character behind the first whole object or array
  std::optional<size_t> control;   ///< the first raw control character within a string
};

/// Cost: O(text), flat.
LineShape ScanShape(std::string_view text);

/// Where the first byte is that is not UTF-8.
std::optional<size_t> FindBadUtf8(std::string_view text);

/// Check the `\u` escapes of a raw JSON string: true if each surrogate has its partner.
bool SurrogatesPair(std::string_view raw);

/// Whether a token is a number in JSON's grammar, and an integer in form.
enum class NumberForm { kNone, kInteger, kReal };
NumberForm ClassifyNumber(std::string_view token);

}  // namespace omnigraph::write
