#include "omnigraph/graph/schema/value_text.h"

#include <charconv>
#include <cmath>
#include <cstring>

namespace omnigraph::schema {
namespace {

constexpr int64_t kMsPerDay = 86400000;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// `count` digits at `at`, or -1.
int Digits(std::string_view text, size_t at, size_t count) {
  if (at + count > text.size()) {
    return -1;
  }
  int value = 0;
  for (size_t i = at; i < at + count; ++i) {
    if (!IsDigit(text[i])) {
      return -1;
    }
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

bool IsLeap(int year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int DaysInMonth(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar: whole 400-year eras, then years that
/// begin in March, so that the leap day comes last.
int64_t DaysOf(int year, int month, int day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

struct Civil {
  int year;
  int month;
  int day;
};

Civil CivilOf(int64_t days) {
  const int64_t z = days + 719468;
  const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const int64_t day_of_era = z - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * day_of_year + 2) / 153;
  const auto month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return {static_cast<int>(year), month,
          static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1)};
}

/// Sign and hours, minutes of a zone that must end the text; nothing if it is none.
std::optional<int64_t> ParseZone(std::string_view zone) {
  if (zone.empty() || zone == "Z" || zone == "z") {
    return 0;
  }
  if (zone[0] != '+' && zone[0] != '-') {
    return std::nullopt;
  }
  const int hours = Digits(zone, 1, 2);
  int minutes = 0;
  if (zone.size() == 6 && zone[3] == ':') {
    minutes = Digits(zone, 4, 2);
  } else if (zone.size() == 5) {
    minutes = Digits(zone, 3, 2);
  } else if (zone.size() != 3) {
    return std::nullopt;
  }
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
    return std::nullopt;
  }
  const int64_t ms = (hours * 60 + minutes) * int64_t{60000};
  return zone[0] == '-' ? -ms : ms;
}

void AppendPadded(int value, int width, std::string* out) {
  char digits[12];
  int size = 0;
  do {
    digits[size++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (int i = size; i < width; ++i) {
    out->push_back('0');
  }
  while (size > 0) {
    out->push_back(digits[--size]);
  }
}

template <typename T>
void AppendShortest(T value, std::string* out) {
  char text[40];
  const auto result = std::to_chars(text, text + sizeof(text), value);
  out->append(text, result.ptr);
}

template <typename T>
std::string Canonical(T value) {
  if (value == 0) {
    return "0";
  }
  char text[512];
  const auto result = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed);
  return {text, result.ptr};
}

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int Base64Value(char c) {
  const char* found = c == '\0' ? nullptr : std::strchr(kBase64, c);
  return found == nullptr ? -1 : static_cast<int>(found - kBase64);
}

}  // namespace

std::optional<int32_t> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return std::nullopt;
  }
  const int year = Digits(text, 0, 4);
  const int month = Digits(text, 5, 2);
  const int day = Digits(text, 8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month)) {
    return std::nullopt;
  }
  return static_cast<int32_t>(DaysOf(year, month, day));
}

std::optional<int64_t> ParseDateTime(std::string_view text) {
  const std::optional<int32_t> days = ParseDate(text.substr(0, 10));
  if (!days.has_value()) {
    return std::nullopt;
  }
  const int64_t midnight = int64_t{*days} * kMsPerDay;
  if (text.size() == 10) {
    return midnight;
  }
  if (text.size() < 16 || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') ||
      text[13] != ':') {
    return std::nullopt;
  }
  const int hour = Digits(text, 11, 2);
  const int minute = Digits(text, 14, 2);
  int second = 0;
  int64_t fraction_ms = 0;
  size_t at = 16;
  if (at < text.size() && text[at] == ':') {
    second = Digits(text, 17, 2);
    at = 19;
    if (second >= 0 && at < text.size() && text[at] == '.') {
      size_t count = 0;
      while (at + 1 + count < text.size() && IsDigit(text[at + 1 + count])) {
        ++count;
      }
      if (count == 0 || count > 9) {
        return std::nullopt;
      }
      for (size_t i = 0; i < 3; ++i) {
        fraction_ms = fraction_ms * 10 + (i < count ? text[at + 1 + i] - '0' : 0);
      }
      at += 1 + count;
    }
  }
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
    return std::nullopt;
  }
  const std::optional<int64_t> zone = ParseZone(text.substr(at));
  if (!zone.has_value()) {
    return std::nullopt;
  }
  const int64_t instant =
      midnight + ((hour * 60 + minute) * 60 + second) * int64_t{1000} + fraction_ms - *zone;
  if (instant < kMinDateTimeMs || instant > kMaxDateTimeMs) {
    return std::nullopt;
  }
  return instant;
}

std::string FormatDate(int64_t days) {
  if (days < kMinDateDays || days > kMaxDateDays) {
    return std::to_string(days);
  }
  const Civil civil = CivilOf(days);
  std::string text;
  AppendPadded(civil.year, 4, &text);
  text.push_back('-');
  AppendPadded(civil.month, 2, &text);
  text.push_back('-');
  AppendPadded(civil.day, 2, &text);
  return text;
}

std::string FormatDateTime(int64_t unix_ms) {
  if (unix_ms < kMinDateTimeMs || unix_ms > kMaxDateTimeMs) {
    return std::to_string(unix_ms);
  }
  const int64_t days = (unix_ms >= 0 ? unix_ms : unix_ms - (kMsPerDay - 1)) / kMsPerDay;
  auto rest = static_cast<int>(unix_ms - days * kMsPerDay);
  std::string text = FormatDate(days);
  text.push_back('T');
  AppendPadded(rest / 3600000, 2, &text);
  text.push_back(':');
  AppendPadded(rest / 60000 % 60, 2, &text);
  text.push_back(':');
  AppendPadded(rest / 1000 % 60, 2, &text);
  if (rest % 1000 != 0) {
    text.push_back('.');
    AppendPadded(rest % 1000, 3, &text);
  }
  text.push_back('Z');
  return text;
}

void AppendFloat(float value, std::string* out) {
  AppendShortest(value, out);
}
void AppendFloat(double value, std::string* out) {
  AppendShortest(value, out);
}

std::string CanonicalFloat(float value) {
  return Canonical(value);
}
std::string CanonicalFloat(double value) {
  return Canonical(value);
}

void AppendJsonString(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out->push_back('"');
  size_t plain = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\') {
      continue;
    }
    out->append(text.substr(plain, i - plain));
    plain = i + 1;
    out->push_back('\\');
    switch (c) {
      case '"':
      case '\\':
        out->push_back(c);
        break;
      case '\b':
        out->push_back('b');
        break;
      case '\f':
        out->push_back('f');
        break;
      case '\n':
        out->push_back('n');
        break;
      case '\r':
        out->push_back('r');
        break;
      case '\t':
        out->push_back('t');
        break;
      default:
        out->append("u00");
        out->push_back(kHex[static_cast<uint8_t>(c) >> 4]);
        out->push_back(kHex[c & 15]);
    }
  }
  out->append(text.substr(plain));
  out->push_back('"');
}

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (size_t k = 0; k < 4; ++k) {
      text.push_back(i + k <= bytes.size() ? kBase64[group >> (18 - 6 * k) & 63] : '=');
    }
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const size_t meant = i + 4 == text.size() ? 4 - padding : 4;
    uint32_t group = 0;
    for (size_t k = 0; k < 4; ++k) {
      const int value = k < meant ? Base64Value(text[i + k]) : 0;
      if (value < 0) {
        return std::nullopt;
      }
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t k = 0; k + 1 < meant; ++k) {
      bytes.push_back(static_cast<char>(group >> (16 - 8 * k)));
    }
    // Bits that no byte uses must be zero, so that each value has one spelling.
    if ((meant == 3 && (group & 0xff) != 0) || (meant == 2 && (group & 0xffff) != 0)) {
      return std::nullopt;
    }
  }
  return bytes;
}

}  // namespace omnigraph::schema
