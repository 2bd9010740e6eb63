#include "omnigraph/base/hash.h"

#include <openssl/sha.h>
#include <xxhash.h>

#include "omnigraph/base/ids.h"

namespace omnigraph {

uint64_t XxHash64(std::string_view bytes) {
  return XXH64(bytes.data(), bytes.size(), 0);
}

Hash128 XxHash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string Sha256Hex(std::string_view bytes) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return FormatHex(digest);
}

}  // namespace omnigraph
