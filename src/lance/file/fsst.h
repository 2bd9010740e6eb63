/// \file
/// FSST: strings as codes into a table of symbols of up to 8 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "omnigraph/base/status.h"
#include "read_context.h"

namespace omnigraph::lance {

/// A decoded symbol table. Immutable after Parse().
class FsstTable {
 public:
  /// Errors: kCorruption (`lance.file.fsst`).
  static Result<FsstTable> Parse(std::string_view bytes, const ReadContext& context);

  /// Most bytes that `code_bytes` codes can decode to, with room for whole-symbol writes.
  static size_t DecodedBound(size_t code_bytes) { return 8 * code_bytes + 8; }

  /// Decode one value to `out` (DecodedBound() bytes); the result is its length.
  /// Errors: kCorruption (`lance.file.fsst`).
  Result<size_t> Decode(std::string_view codes, uint8_t* out, const ReadContext& context) const;

 private:
  bool encoded_ = true;
  std::array<uint64_t, 256> symbols_{};
  /// 0 = no such code.
  std::array<uint8_t, 256> lengths_{};
};

}  // namespace omnigraph::lance
