// The numbered chain of manifests (C5, P4). Its proof is the model in
// tests/lance/memwal/chain_model_test.cc.
#include <fmt/format.h>

#include <algorithm>

#include "json_text.h"
#include "omnigraph/lance/memwal/shard_manifest.h"
#include "omnigraph/runtime/fail_point.h"
#include "settle.h"

namespace omnigraph::lance {
namespace {

// Rounds of "list, walk, look back" before giving up against somebody who prunes all the time.
constexpr int kLookRounds = 16;

std::string_view ViewOf(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// The last segment of a path.
std::string_view NameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

ShardManifestChain::ShardManifestChain(ShardLocation location, SettlePolicy policy)
    : location_(std::move(location)), policy_(policy) {}

Result<std::optional<StoredShardManifest>> ShardManifestChain::Read(uint64_t version) const {
  const std::string path = location_.ManifestPath(version);
  const Result<std::shared_ptr<arrow::Buffer>> bytes = location_.store->Get(path);
  if (!bytes.ok()) {
    if (IsNotFound(bytes.status())) {
      return std::nullopt;
    }
    return bytes.status();
  }
  StoredShardManifest stored;
  stored.bytes = ViewOf(**bytes);
  OG_ASSIGN_OR_RETURN(stored.manifest,
                      DecodeShardManifest(stored.bytes, location_.id, version, path));
  return stored;
}

Result<std::vector<uint64_t>> ShardManifestChain::ListVersions() const {
  OG_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> objects,
                      store::ListAll(*location_.store, location_.ManifestFolder() + "/"));
  std::vector<uint64_t> versions;
  for (const store::ObjectInfo& object : objects) {
    if (const std::optional<uint64_t> version = ParseShardManifestName(NameOf(object.path));
        version.value_or(0) > 0) {
      versions.push_back(*version);
    }
  }
  std::sort(versions.begin(), versions.end());
  return versions;
}

// Upwards to the first absent number; nothing if the start no longer stands at the end.
Result<std::optional<StoredShardManifest>> ShardManifestChain::WalkFrom(
    StoredShardManifest from) const {
  StoredShardManifest newest = from;
  while (true) {
    OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> next, Read(newest.manifest.version + 1));
    if (!next.has_value()) {
      break;
    }
    newest = *std::move(next);
  }
  OG_ASSIGN_OR_RETURN(const bool stood, Stands(from));
  if (!stood) {
    return std::nullopt;
  }
  return newest;
}

Result<bool> ShardManifestChain::Stands(const StoredShardManifest& manifest) const {
  const Result<std::shared_ptr<arrow::Buffer>> bytes =
      location_.store->Get(location_.ManifestPath(manifest.manifest.version));
  if (!bytes.ok()) {
    if (IsNotFound(bytes.status())) {
      return false;
    }
    return bytes.status();
  }
  return ViewOf(**bytes) == manifest.bytes;
}

Result<std::optional<StoredShardManifest>> ShardManifestChain::ReadNewestByListing() const {
  for (int round = 0; round < kLookRounds; ++round) {
    OG_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, ListVersions());
    if (versions.empty()) {
      return std::nullopt;
    }
    OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> from, Read(versions.back()));
    if (!from.has_value()) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> newest, WalkFrom(*std::move(from)));
    if (newest.has_value()) {
      return newest;
    }
  }
  return Unavailable("memwal.manifest_busy",
                     "find the newest manifest of shard " + location_.id.ToString() +
                         ": it is pruned faster than read; retry",
                     {.object = location_.ManifestFolder()});
}

Result<std::optional<StoredShardManifest>> ShardManifestChain::ReadNewest() const {
  if (const std::optional<uint64_t> hint = ReadHint(); hint.has_value()) {
    OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> from, Read(*hint));
    if (from.has_value()) {
      OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> newest, WalkFrom(*std::move(from)));
      if (newest.has_value()) {
        return newest;
      }
    }
  }
  return ReadNewestByListing();
}

Result<StoredShardManifest> ShardManifestChain::ReadNewestFrom(
    const StoredShardManifest& known) const {
  OG_ASSIGN_OR_RETURN(std::optional<StoredShardManifest> newest, WalkFrom(known));
  if (!newest.has_value()) {
    OG_ASSIGN_OR_RETURN(newest, ReadNewestByListing());
  }
  if (!newest.has_value() || newest->manifest.version < known.manifest.version) {
    return Corruption("memwal.manifest_chain",
                      fmt::format("find the newest manifest of shard {}: version {} was there, now "
                                  "nothing at or above it is",
                                  location_.id.ToString(), known.manifest.version),
                      location_.ManifestFolder());
  }
  return *std::move(newest);
}

// Whether a put of ours that stands is part of the chain: it is while its base stands (nothing
// above a standing number was ever deleted), or else if it is the newest or carries the newest's
// claim.
Result<bool> ShardManifestChain::Counts(const std::optional<StoredShardManifest>& base,
                                        const StoredShardManifest& ours) const {
  if (base.has_value()) {
    OG_ASSIGN_OR_RETURN(const bool stood, Stands(*base));
    if (stood) {
      return true;
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, ListVersions());
  if (versions.empty()) {
    return false;
  }
  const uint64_t newest = versions.back();
  if (newest <= ours.manifest.version) {
    return newest == ours.manifest.version;
  }
  OG_ASSIGN_OR_RETURN(const std::optional<StoredShardManifest> other, Read(newest));
  return other.has_value() && other->manifest.owner.has_value() &&
         ours.manifest.owner.has_value() &&
         other->manifest.owner->claim_id == ours.manifest.owner->claim_id;
}

Result<std::optional<StoredShardManifest>> ShardManifestChain::PutNext(
    const std::optional<StoredShardManifest>& base, const ShardManifest& next) const {
  OG_CHECK(next.version == (base.has_value() ? base->manifest.version + 1 : 1));
  const std::string path = location_.ManifestPath(next.version);
  StoredShardManifest ours{next, EncodeShardManifest(next)};
  OG_ASSIGN_OR_RETURN(const SettledPut settled,
                      PutSettled(*location_.store, path, store::BytesOf(ours.bytes),
                                 store::PutStrength::kStrict, policy_));
  if (!settled.ours) {
    return std::nullopt;
  }
  runtime::FailPoint("memwal.manifest.after_put");
  const Result<bool> counts = Counts(base, ours);
  if (!counts.ok()) {
    return WithUnknownEffect(counts.status());
  }
  if (!*counts) {
    OG_RETURN_NOT_OK(location_.store->Delete(path));
    return std::nullopt;
  }
  WriteHint(next.version);
  return ours;
}

void ShardManifestChain::WriteHint(uint64_t version) const {
  // Best effort: a stale or absent hint only makes the next look longer.
  const Status ignored = location_.store->Put(
      location_.HintPath(), store::BytesOf(fmt::format(R"({{"version":{}}})", version)));
  (void)ignored;
}

std::optional<uint64_t> ShardManifestChain::ReadHint() const {
  const Result<std::shared_ptr<arrow::Buffer>> bytes = location_.store->Get(location_.HintPath());
  if (!bytes.ok()) {
    return std::nullopt;
  }
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const std::string_view text = ViewOf(**bytes);
  if (parser.parse(text.data(), text.size()).get_object().get(object) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const int64_t version = JsonInt(object, "version", 0);
  return version > 0 ? std::optional<uint64_t>(static_cast<uint64_t>(version)) : std::nullopt;
}

Result<int> ShardManifestChain::Prune(const StoredShardManifest& newest, uint64_t keep) const {
  const uint64_t version = newest.manifest.version;
  const uint64_t keep_from = version >= keep ? version - std::max<uint64_t>(keep, 1) + 1 : 1;
  OG_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, ListVersions());
  if (versions.empty() || versions.front() >= keep_from) {
    return 0;
  }
  std::optional<uint64_t> hint = ReadHint();
  if (hint.value_or(0) < keep_from) {
    WriteHint(version);
    hint = ReadHint();
  }
  if (hint.value_or(0) < keep_from ||
      !std::binary_search(versions.begin(), versions.end(), *hint)) {
    return 0;
  }
  int deleted = 0;
  for (const uint64_t old : versions) {
    if (old >= keep_from) {
      break;
    }
    OG_RETURN_NOT_OK(location_.store->Delete(location_.ManifestPath(old)));
    runtime::FailPoint("memwal.manifest.after_prune");
    ++deleted;
  }
  return deleted;
}

}  // namespace omnigraph::lance
