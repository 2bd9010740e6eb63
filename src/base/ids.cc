#include "omnigraph/base/ids.h"

#include <openssl/sha.h>

#include <algorithm>

namespace omnigraph {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr char kCrockford[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool IsHyphenPosition(size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

std::string Uuid::ToString() const {
  std::string text;
  text.reserve(36);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) {
      text.push_back('-');
    }
    text.push_back(kHex[bytes[i] >> 4]);
    text.push_back(kHex[bytes[i] & 15]);
  }
  return text;
}

Result<Uuid> Uuid::Parse(std::string_view text) {
  const auto bad = [&] { return Invalid("id.uuid", "not a UUID: '" + std::string(text) + "'"); };
  if (text.size() != 36) {
    return bad();
  }
  Uuid uuid;
  size_t nibble = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsHyphenPosition(i)) {
      if (text[i] != '-') {
        return bad();
      }
      continue;
    }
    const int value = HexValue(text[i]);
    if (value < 0) {
      return bad();
    }
    uint8_t& byte = uuid.bytes[nibble / 2];
    byte = static_cast<uint8_t>(nibble % 2 == 0 ? value << 4 : byte | value);
    ++nibble;
  }
  return uuid;
}

Uuid Uuid::FromRandom(const std::array<uint8_t, 16>& random) {
  Uuid uuid{random};
  uuid.bytes[6] = static_cast<uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);
  uuid.bytes[8] = static_cast<uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

Uuid Uuid::FromName(const Uuid& space, std::string_view name) {
  std::string input(reinterpret_cast<const char*>(space.bytes.data()), space.bytes.size());
  input.append(name);
  std::array<uint8_t, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(input.data()), input.size(), digest.data());
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.bytes.size(), uuid.bytes.begin());
  uuid.bytes[6] = static_cast<uint8_t>((uuid.bytes[6] & 0x0f) | 0x50);
  uuid.bytes[8] = static_cast<uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
  return uuid;
}

std::string FormatUlid(uint64_t unix_ms, const std::array<uint8_t, 10>& random) {
  std::string text(26, '0');
  for (int i = 9; i >= 0; --i) {
    text[static_cast<size_t>(i)] = kCrockford[unix_ms & 31];
    unix_ms >>= 5;
  }
  uint32_t bits = 0;
  int have = 0;
  size_t out = 10;
  for (const uint8_t byte : random) {
    bits = (bits << 8) | byte;
    have += 8;
    while (have >= 5) {
      have -= 5;
      text[out++] = kCrockford[(bits >> have) & 31];
    }
  }
  return text;
}

bool IsUlid(std::string_view text) {
  if (text.size() != 26 || text[0] > '7') {
    return false;
  }
  for (const char c : text) {
    if (std::string_view(kCrockford).find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string FormatHex64(uint64_t value) {
  std::string text(16, '0');
  for (size_t i = 0; i < 16; ++i) {
    text[15 - i] = kHex[(value >> (4 * i)) & 15];
  }
  return text;
}

Result<uint64_t> ParseHex64(std::string_view text) {
  if (text.size() != 16) {
    return Invalid("id.hex64", "not 16 hex digits: '" + std::string(text) + "'");
  }
  uint64_t value = 0;
  for (const char c : text) {
    const int digit = c >= 'A' && c <= 'F' ? -1 : HexValue(c);
    if (digit < 0) {
      return Invalid("id.hex64", "not 16 lower-case hex digits: '" + std::string(text) + "'");
    }
    value = (value << 4) | static_cast<uint64_t>(digit);
  }
  return value;
}

std::string FormatHex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text.push_back(kHex[byte >> 4]);
    text.push_back(kHex[byte & 15]);
  }
  return text;
}

}  // namespace omnigraph
