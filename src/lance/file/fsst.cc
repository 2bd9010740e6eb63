#include "fsst.h"

#include <cstring>

#include "omnigraph/base/bytes.h"

namespace omnigraph::lance {
namespace {

constexpr uint32_t kMagic = 0x46535354;
constexpr uint8_t kEscape = 255;
constexpr size_t kSymbolBytes = 8;

}  // namespace

Result<FsstTable> FsstTable::Parse(std::string_view bytes, const ReadContext& context) {
  if (bytes.size() < 8) {
    return context.Corrupt("fsst", "symbol table is too short");
  }
  const auto header = LoadLittle<uint64_t>(bytes.data());
  if (static_cast<uint32_t>(header >> 32) != kMagic) {
    return context.Corrupt("fsst", "symbol table has no magic");
  }
  FsstTable table;
  table.encoded_ = ((header >> 24) & 0xFF) != 0;
  const size_t symbols = header & 0xFF;
  if (bytes.size() < 8 + symbols * (kSymbolBytes + 1)) {
    return context.Corrupt("fsst", "symbol table is shorter than its symbols");
  }
  const char* lengths = bytes.data() + 8 + symbols * kSymbolBytes;
  for (size_t i = 0; i < symbols; ++i) {
    table.symbols_[i] = LoadLittle<uint64_t>(bytes.data() + 8 + i * kSymbolBytes);
    table.lengths_[i] = static_cast<uint8_t>(lengths[i]);
    if (table.lengths_[i] == 0 || table.lengths_[i] > kSymbolBytes) {
      return context.Corrupt("fsst", "symbol of a length outside 1..8");
    }
  }
  return table;
}

Result<size_t> FsstTable::Decode(std::string_view codes, uint8_t* out,
                                 const ReadContext& context) const {
  if (!encoded_) {
    std::memcpy(out, codes.data(), codes.size());
    return codes.size();
  }
  uint8_t* to = out;
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto code = static_cast<uint8_t>(codes[i]);
    if (code == kEscape) {
      if (++i == codes.size()) {
        return context.Corrupt("fsst", "a value ends in an escape");
      }
      *to++ = static_cast<uint8_t>(codes[i]);
      continue;
    }
    if (lengths_[code] == 0) {
      return context.Corrupt("fsst", "a code without a symbol");
    }
    std::memcpy(to, &symbols_[code], kSymbolBytes);
    to += lengths_[code];
  }
  return static_cast<size_t>(to - out);
}

}  // namespace omnigraph::lance
