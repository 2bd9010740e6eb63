/// \file
/// The little JSON that this layer writes (marks, hints, heartbeats), and reading it back with
/// simdjson.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace omnigraph::lance {

/// Append `text` as a JSON string: quotes, backslashes and control characters escaped, the rest
/// raw.
void AppendJsonString(std::string* out, std::string_view text);

/// The member `key` of an object, or `fallback` where it is absent or of another type.
std::string JsonString(const simdjson::dom::object& object, std::string_view key);
int64_t JsonInt(const simdjson::dom::object& object, std::string_view key, int64_t fallback);

}  // namespace omnigraph::lance
