/// \file
/// Little-endian readers and writers over byte spans. Readers are total: out of range is an error,
/// never a crash.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "omnigraph/base/status.h"

namespace omnigraph {

static_assert(std::endian::native == std::endian::little,
              "the on-disk formats are little endian and so must be the host");

/// Read a little-endian integer at any alignment. REQUIRES: sizeof(T) readable bytes at `data`.
template <typename T>
T LoadLittle(const void* data) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// Append a little-endian integer.
template <typename T>
void AppendLittle(std::string* out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const size_t at = out->size();
  out->resize(at + sizeof(T));
  std::memcpy(out->data() + at, &value, sizeof(T));
}

/// A cursor over borrowed bytes. `object` names them in errors. Thread-compatible; must not outlive
/// the bytes.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view object) : bytes_(bytes), object_(object) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  /// Errors: kCorruption (`bytes.truncated`).
  template <typename T>
  Result<T> Read() {
    OG_ASSIGN_OR_RETURN(const std::string_view raw, ReadBytes(sizeof(T)));
    return LoadLittle<T>(raw.data());
  }

  /// Errors: kCorruption (`bytes.truncated`).
  Result<std::string_view> ReadBytes(size_t size) {
    if (size > remaining()) {
      return Corruption("bytes.truncated",
                        "needs " + std::to_string(size) + " bytes at offset " +
                            std::to_string(position_) + ", has " + std::to_string(remaining()),
                        object_);
    }
    const std::string_view raw = bytes_.substr(position_, size);
    position_ += size;
    return raw;
  }

 private:
  std::string_view bytes_;
  std::string_view object_;
  size_t position_ = 0;
};

}  // namespace omnigraph
