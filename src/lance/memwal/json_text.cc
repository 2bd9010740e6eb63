#include "json_text.h"

#include <fmt/format.h>

namespace omnigraph::lance {

void AppendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

std::string JsonString(const simdjson::dom::object& object, std::string_view key) {
  std::string_view value;
  if (object[key].get_string().get(value) != simdjson::SUCCESS) {
    return {};
  }
  return std::string(value);
}

int64_t JsonInt(const simdjson::dom::object& object, std::string_view key, int64_t fallback) {
  int64_t value = 0;
  return object[key].get_int64().get(value) == simdjson::SUCCESS ? value : fallback;
}

}  // namespace omnigraph::lance
