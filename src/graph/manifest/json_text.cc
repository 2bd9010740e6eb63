#include "omnigraph/graph/manifest/json_text.h"

#include <fmt/format.h>

namespace omnigraph::graph::internal {

void AppendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          fmt::format_to(std::back_inserter(*out), "\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

void AppendJsonU64(std::string* out, uint64_t value) {
  if (value > (uint64_t{1} << 53)) {
    fmt::format_to(std::back_inserter(*out), "\"{}\"", value);
  } else {
    fmt::format_to(std::back_inserter(*out), "{}", value);
  }
}

void JsonObject::Key(std::string_view key) {
  if (out_.size() > 1) {
    out_.push_back(',');
  }
  AppendJsonString(&out_, key);
  out_.push_back(':');
}

JsonObject& JsonObject::Text(std::string_view key, std::string_view value) {
  Key(key);
  AppendJsonString(&out_, value);
  return *this;
}

JsonObject& JsonObject::Number(std::string_view key, uint64_t value) {
  Key(key);
  AppendJsonU64(&out_, value);
  return *this;
}

JsonObject& JsonObject::Raw(std::string_view key, std::string_view json) {
  Key(key);
  out_.append(json);
  return *this;
}

std::string JsonObject::Finish() {
  out_.push_back('}');
  return std::move(out_);
}

}  // namespace omnigraph::graph::internal
