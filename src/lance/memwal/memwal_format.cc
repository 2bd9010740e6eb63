#include "omnigraph/lance/memwal/memwal_format.h"

#include <fmt/format.h>

namespace omnigraph::lance {
namespace {

constexpr size_t kBits = 64;
constexpr std::string_view kEntrySuffix = ".arrow";
constexpr std::string_view kManifestSuffix = ".binpb";

// The name space of the official shard ids: ASCII "LSMWRITE_SHARD01".
Uuid ShardNamespace() {
  constexpr std::string_view kText = "LSMWRITE_SHARD01";
  Uuid uuid;
  std::copy(kText.begin(), kText.end(), uuid.bytes.begin());
  return uuid;
}

std::optional<uint64_t> ParseNumbered(std::string_view name, std::string_view suffix) {
  if (name.size() != kBits + suffix.size() || !name.ends_with(suffix)) {
    return std::nullopt;
  }
  return ParseBits(name.substr(0, kBits));
}

}  // namespace

std::string FormatBits(uint64_t number) {
  std::string text(kBits, '0');
  for (size_t bit = 0; bit < kBits; ++bit) {
    if (((number >> bit) & 1) != 0) {
      text[bit] = '1';
    }
  }
  return text;
}

std::optional<uint64_t> ParseBits(std::string_view text) {
  if (text.size() != kBits) {
    return std::nullopt;
  }
  uint64_t number = 0;
  for (size_t bit = 0; bit < kBits; ++bit) {
    if (text[bit] != '0' && text[bit] != '1') {
      return std::nullopt;
    }
    number |= static_cast<uint64_t>(text[bit] - '0') << bit;
  }
  return number;
}

std::optional<uint64_t> ParseLogEntryName(std::string_view name) {
  return ParseNumbered(name, kEntrySuffix);
}

std::optional<uint64_t> ParseShardManifestName(std::string_view name) {
  return ParseNumbered(name, kManifestSuffix);
}

Uuid UnshardedShardId() {
  return Uuid::FromName(ShardNamespace(), "unsharded");
}

Uuid BucketShardId(uint32_t bucket) {
  return Uuid::FromName(ShardNamespace(), fmt::format("bucket-{}", bucket));
}

ShardLocation ShardLocation::In(std::shared_ptr<store::ObjectStore> store,
                                std::string_view mem_wal_folder, const Uuid& id) {
  return {std::move(store), fmt::format("{}/{}", mem_wal_folder, id.ToString()), id};
}

std::string ShardLocation::EntryFolder() const {
  return folder + "/wal";
}

std::string ShardLocation::EntryPath(uint64_t position) const {
  return fmt::format("{}/wal/{}{}", folder, FormatBits(position), kEntrySuffix);
}

std::string ShardLocation::TornPath(uint64_t position) const {
  return fmt::format("{}/torn/{}", folder, FormatBits(position));
}

std::string ShardLocation::ManifestFolder() const {
  return folder + "/manifest";
}

std::string ShardLocation::ManifestPath(uint64_t version) const {
  return fmt::format("{}/manifest/{}{}", folder, FormatBits(version), kManifestSuffix);
}

std::string ShardLocation::HintPath() const {
  return folder + "/manifest/version_hint.json";
}

}  // namespace omnigraph::lance
