/// \file
/// Text forms of values that rows, keys, queries and exports share. Pure functions; none depends on
/// a locale or a time zone of the machine. Normative: docs/format/rows.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace omnigraph::schema {

/// Dates lie in the years 0000 to 9999, so that each has a text form that reads back.
inline constexpr int64_t kMinDateDays = -719528;
inline constexpr int64_t kMaxDateDays = 2932896;
inline constexpr int64_t kMinDateTimeMs = kMinDateDays * 86400000;
inline constexpr int64_t kMaxDateTimeMs = (kMaxDateDays + 1) * 86400000 - 1;

/// Days since 1970-01-01 of `YYYY-MM-DD`; nothing for any other text or a day that does not exist.
std::optional<int32_t> ParseDate(std::string_view text);

/// Milliseconds since the Unix epoch of an ISO 8601 date and time.
///
/// Shape: `YYYY-MM-DD`, optionally `T` (or `t`, or a space) `hh:mm`, optionally `:ss` and a
/// fraction
///        of 1 to 9 digits, optionally a zone: `Z`, `z`, `+hh:mm`, `+hhmm`, `+hh`. Without a zone
///        the text means UTC. Digits beyond milliseconds are cut off, never rounded. Second 60 is
///        refused.
std::optional<int64_t> ParseDateTime(std::string_view text);

/// `YYYY-MM-DD`. REQUIRES: within the bounds above (others print a number of days).
std::string FormatDate(int64_t days);

/// `YYYY-MM-DDTHH:MM:SSZ`, with `.mmm` before the `Z` where it is not zero.
std::string FormatDateTime(int64_t unix_ms);

/// Shortest text that reads back to the same value at this width; valid JSON. REQUIRES: finite.
void AppendFloat(float value, std::string* out);
void AppendFloat(double value, std::string* out);

/// The form of floats in keys: shortest digits that read back, no exponent, no trailing zeros, zero
/// without a sign.
std::string CanonicalFloat(float value);
std::string CanonicalFloat(double value);

/// A JSON string with quotes: escapes `"`, `\` and control characters, everything else raw.
void AppendJsonString(std::string_view text, std::string* out);

/// Standard base64 with padding.
std::string EncodeBase64(std::string_view bytes);
/// Nothing unless canonical base64 with padding and no white space.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace omnigraph::schema
