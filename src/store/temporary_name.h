/// \file
/// The hidden names that a put may need for a moment. They never end in `manifest` and never start
/// with `d`: official readers take such names in a table's folders for manifests and detached
/// manifests.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "omnigraph/runtime/random.h"

namespace omnigraph::store {

inline constexpr std::string_view kTemporaryPrefix = ".og-put-";

inline std::string RandomHex() {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(runtime::RandomU64()));
  return text;
}

inline std::string NewTemporaryName() {
  return std::string(kTemporaryPrefix) + RandomHex() + ".part";
}
inline std::string NewProbeName() {
  return RandomHex();
}
inline bool IsTemporaryName(std::string_view segment) {
  return segment.starts_with(kTemporaryPrefix);
}

}  // namespace omnigraph::store
