/// \file
/// Small JSON in and out for metadata values: compact, members in the order written. Private to
/// this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::graph::internal {

/// Append `text` as a JSON string with minimal escapes.
void AppendJsonString(std::string* out, std::string_view text);
/// Append a number; above 2^53 as a string, so that no reader rounds it.
void AppendJsonU64(std::string* out, uint64_t value);

/// Builds one object. Single-owner.
class JsonObject {
 public:
  JsonObject& Text(std::string_view key, std::string_view value);
  JsonObject& Number(std::string_view key, uint64_t value);
  /// `json` is a value that is JSON already.
  JsonObject& Raw(std::string_view key, std::string_view json);
  std::string Finish();

 private:
  void Key(std::string_view key);
  std::string out_ = "{";
};

}  // namespace omnigraph::graph::internal
