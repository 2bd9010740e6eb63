#include "line_scan.h"

#include <arrow/util/utf8.h>

#include <cstdint>
#include <vector>

namespace omnigraph::write {
namespace {

/// Brackets whose places are remembered; deeper ones are only counted.
constexpr size_t kRemembered = 128;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

int HexValue(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The code unit of `\uXXXX` at `at`, or -1.
int EscapedUnit(std::string_view raw, size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') {
    return -1;
  }
  int unit = 0;
  for (size_t i = at + 2; i < at + 6; ++i) {
    const int digit = HexValue(raw[i]);
    if (digit < 0) {
      return -1;
    }
    unit = unit * 16 + digit;
  }
  return unit;
}

}  // namespace

LineShape ScanShape(std::string_view text) {
  LineShape shape;
  std::vector<size_t> open;
  int depth = 0;
  bool in_string = false;
  size_t string_at = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      } else if (static_cast<uint8_t>(c) < 0x20 && !shape.control.has_value()) {
        shape.control = i;
      }
      continue;
    }
    if (c == '"') {
      in_string = true;
      string_at = i;
    } else if (c == '{' || c == '[') {
      ++depth;
      shape.max_depth = depth > shape.max_depth ? depth : shape.max_depth;
      if (open.size() < kRemembered) {
        open.push_back(i);
      }
    } else if (c == '}' || c == ']') {
      if (depth > 0 && open.size() == static_cast<size_t>(depth)) {
        open.pop_back();
      }
      depth = depth > 0 ? depth - 1 : 0;
      const size_t next = depth > 0 ? text.npos : text.find_first_not_of(" \t\r\n", i + 1);
      if (next != text.npos && !shape.trailing.has_value()) {
        shape.trailing = next;
      }
    }
  }
  shape.open_string = in_string;
  shape.open = in_string || depth > 0;
  shape.open_at = in_string ? string_at : open.empty() ? 0 : open.back();
  return shape;
}

std::optional<size_t> FindBadUtf8(std::string_view text) {
  arrow::util::InitializeUTF8();
  for (size_t at = 0; at < text.size();) {
    const auto lead = static_cast<uint8_t>(text[at]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (at + size > text.size() || !arrow::util::ValidateUTF8(text.substr(at, size))) {
      return at;
    }
    at += size;
  }
  return std::nullopt;
}

bool SurrogatesPair(std::string_view raw) {
  for (size_t i = 0; i + 1 < raw.size(); ++i) {
    if (raw[i] != '\\') {
      continue;
    }
    const int unit = EscapedUnit(raw, i);
    if (unit >= 0xdc00 && unit <= 0xdfff) {
      return false;
    }
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const int low = EscapedUnit(raw, i + 6);
      if (low < 0xdc00 || low > 0xdfff) {
        return false;
      }
      i += 11;
    } else {
      i += unit >= 0 ? 5 : 1;
    }
  }
  return true;
}

NumberForm ClassifyNumber(std::string_view token) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t start = at;
    while (at < token.size() && IsDigit(token[at])) {
      ++at;
    }
    return at - start;
  };
  if (at < token.size() && token[at] == '-') {
    ++at;
  }
  const size_t first = at;
  const size_t whole = digits();
  if (whole == 0 || (whole > 1 && token[first] == '0')) {
    return NumberForm::kNone;
  }
  NumberForm form = NumberForm::kInteger;
  if (at < token.size() && token[at] == '.') {
    form = NumberForm::kReal;
    ++at;
    if (digits() == 0) {
      return NumberForm::kNone;
    }
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    form = NumberForm::kReal;
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) {
      ++at;
    }
    if (digits() == 0) {
      return NumberForm::kNone;
    }
  }
  return at == token.size() ? form : NumberForm::kNone;
}

}  // namespace omnigraph::write
