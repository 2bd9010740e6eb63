/// \file
/// A split-block Bloom filter over xxHash64 of keys: about one absent key in a hundred passes.
///
/// Bits are placed as Parquet's split-block filter places them; bytes: docs/format/lance-btree.md.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Immutable.
class BloomFilter {
 public:
  /// Serialized filter of these hashes (XxHash64 of each key).
  static std::shared_ptr<arrow::Buffer> Encode(std::span<const uint64_t> hashes);
  /// Size of a serialized filter of so many keys.
  static uint64_t EncodedBytes(uint64_t keys);

  /// Errors: kCorruption (`index.bloom`), also where the checksum does not fit.
  static Result<BloomFilter> Parse(std::shared_ptr<arrow::Buffer> bytes, std::string_view object);

  /// False: no key of this hash is in the set.
  bool MayContain(uint64_t hash) const;
  uint64_t bytes() const { return static_cast<uint64_t>(bytes_->size()); }

 private:
  BloomFilter(std::shared_ptr<arrow::Buffer> bytes, uint64_t blocks)
      : bytes_(std::move(bytes)), blocks_(blocks) {}

  std::shared_ptr<arrow::Buffer> bytes_;
  uint64_t blocks_;
};

}  // namespace omnigraph::lance
