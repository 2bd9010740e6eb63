/// \file
/// Spelling of ids: UUID, ULID, 64-bit hexadecimal. Pure functions; fresh ids come from
/// runtime/ids.h.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph {

/// A UUID of 16 bytes in text order (RFC 4122). Value type, Immutable.
struct Uuid {
  std::array<uint8_t, 16> bytes{};

  auto operator<=>(const Uuid&) const = default;
  /// Lower-case, hyphenated, 36 characters.
  std::string ToString() const;
  /// Errors: kInvalid (`id.uuid`) unless 36 hyphenated hex characters.
  static Result<Uuid> Parse(std::string_view text);
  /// Version 4 from 16 random bytes.
  static Uuid FromRandom(const std::array<uint8_t, 16>& random);
  /// Version 5: SHA-1 of `space` and `name`.
  static Uuid FromName(const Uuid& space, std::string_view name);
};

/// A ULID from milliseconds since the Unix epoch (48 bits) and 80 random bits: 26 Crockford base-32
/// characters.
std::string FormatUlid(uint64_t unix_ms, const std::array<uint8_t, 10>& random);
/// True if `text` is a canonical (upper-case) ULID.
bool IsUlid(std::string_view text);

/// 16 lower-case hex digits.
std::string FormatHex64(uint64_t value);
/// Errors: kInvalid (`id.hex64`) unless exactly 16 lower-case hex digits.
Result<uint64_t> ParseHex64(std::string_view text);

/// Lower-case hex of any bytes.
std::string FormatHex(std::string_view bytes);

}  // namespace omnigraph
