#include "bloom_filter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "btree_format.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/base/hash.h"

namespace omnigraph::lance {
namespace {

constexpr size_t kWordsPerBlock = kBloomBlockBytes / sizeof(uint32_t);
constexpr std::array<uint32_t, kWordsPerBlock> kSalts = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};
constexpr int kBitShift = 27;  // the top five bits of a word pick one of 32

uint64_t BlocksFor(uint64_t keys) {
  return std::max<uint64_t>(
      1, (keys * kBloomBitsPerKey + kBloomBlockBytes * 8 - 1) / (kBloomBlockBytes * 8));
}

/// Block of a hash: its high half, scaled.
uint64_t BlockOf(uint64_t hash, uint64_t blocks) {
  return ((hash >> 32) * blocks) >> 32;
}

uint32_t BitOf(uint64_t hash, size_t word) {
  return uint32_t{1} << ((static_cast<uint32_t>(hash) * kSalts[word]) >> kBitShift);
}

}  // namespace

uint64_t BloomFilter::EncodedBytes(uint64_t keys) {
  return kBloomHeaderBytes + BlocksFor(keys) * kBloomBlockBytes;
}

std::shared_ptr<arrow::Buffer> BloomFilter::Encode(std::span<const uint64_t> hashes) {
  const uint64_t blocks = BlocksFor(hashes.size());
  std::string body(blocks * kBloomBlockBytes, '\0');
  for (const uint64_t hash : hashes) {
    char* block = body.data() + BlockOf(hash, blocks) * kBloomBlockBytes;
    for (size_t word = 0; word < kWordsPerBlock; ++word) {
      const uint32_t bits =
          LoadLittle<uint32_t>(block + word * sizeof(uint32_t)) | BitOf(hash, word);
      std::memcpy(block + word * sizeof(uint32_t), &bits, sizeof(bits));
    }
  }
  std::string bytes(kBloomMagic);
  AppendLittle<uint64_t>(&bytes, hashes.size());
  AppendLittle<uint64_t>(&bytes, blocks);
  AppendLittle<uint64_t>(&bytes, XxHash64(body));
  bytes += body;
  return arrow::Buffer::FromString(std::move(bytes));
}

Result<BloomFilter> BloomFilter::Parse(std::shared_ptr<arrow::Buffer> bytes,
                                       std::string_view object) {
  const auto corrupt = [&](std::string_view what) {
    return Corruption("index.bloom", "read a Bloom filter: " + std::string(what), object);
  };
  const std::string_view all(reinterpret_cast<const char*>(bytes->data()),
                             static_cast<size_t>(bytes->size()));
  if (all.size() < kBloomHeaderBytes || !all.starts_with(kBloomMagic)) {
    return corrupt("no header");
  }
  const auto blocks = LoadLittle<uint64_t>(all.data() + kBloomMagic.size() + sizeof(uint64_t));
  const auto sum = LoadLittle<uint64_t>(all.data() + kBloomMagic.size() + 2 * sizeof(uint64_t));
  const std::string_view body = all.substr(kBloomHeaderBytes);
  if (blocks == 0 || blocks > UINT32_MAX || body.size() != blocks * kBloomBlockBytes) {
    return corrupt("its size does not fit its blocks");
  }
  if (XxHash64(body) != sum) {
    return corrupt("the checksum does not fit");
  }
  return BloomFilter(std::move(bytes), blocks);
}

bool BloomFilter::MayContain(uint64_t hash) const {
  const uint8_t* block =
      bytes_->data() + kBloomHeaderBytes + BlockOf(hash, blocks_) * kBloomBlockBytes;
  for (size_t word = 0; word < kWordsPerBlock; ++word) {
    const auto bits = LoadLittle<uint32_t>(block + word * sizeof(uint32_t));
    if ((bits & BitOf(hash, word)) == 0) {
      return false;
    }
  }
  return true;
}

}  // namespace omnigraph::lance
