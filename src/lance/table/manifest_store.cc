// Reading manifests from the store, and finding the newest one of a chain (C5,
// docs/protocols/publishing.md).

#include <fmt/format.h>

#include <charconv>

#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {
namespace {

constexpr std::string_view kHintPrefix = "{\"version\":";

Result<StoredManifest> DecodeStored(std::shared_ptr<arrow::Buffer> bytes, std::string object,
                                    uint64_t version, ManifestNaming naming) {
  OG_ASSIGN_OR_RETURN(Manifest manifest, DecodeManifest(std::string_view(*bytes), object));
  if (manifest.version != version) {
    return Corruption(
        "manifest.wrong_version",
        fmt::format("manifest {} says that it is version {}", object, manifest.version), object);
  }
  return StoredManifest{std::move(manifest), naming, std::move(object), std::move(bytes)};
}

Result<StoredManifest> ReadNamed(const TableLocation& location, uint64_t version,
                                 ManifestNaming naming) {
  std::string object = location.Child(ManifestPath(version, naming));
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> bytes, location.store->Get(object));
  return DecodeStored(std::move(bytes), std::move(object), version, naming);
}

Status NoVersion(const TableLocation& location, uint64_t version) {
  return NotFound("table.no_version",
                  fmt::format("table {} has no version {}", location.path, version),
                  {.object = location.path});
}

Status Absent(const TableLocation& location) {
  return NotFound("table.absent", fmt::format("there is no table at {}", location.path),
                  {.object = location.path});
}

Result<bool> Exists(const TableLocation& location, uint64_t version, ManifestNaming naming) {
  const auto head = location.store->Head(location.Child(ManifestPath(version, naming)));
  if (head.ok()) {
    return true;
  }
  if (IsNotFound(head.status())) {
    return false;
  }
  return head.status();
}

/// The last version from `version` on whose successor is missing. `version` itself need not exist.
Result<uint64_t> WalkUp(const TableLocation& location, uint64_t version, ManifestNaming naming) {
  while (true) {
    OG_ASSIGN_OR_RETURN(const bool exists, Exists(location, version + 1, naming));
    if (!exists) {
      return version;
    }
    ++version;
  }
}

/// The newest ordinary name of one page of a listing, beside what earlier pages gave.
Status NewestOf(const store::ListPage& page, const std::string& prefix,
                std::optional<ManifestName>* newest) {
  for (const store::ObjectInfo& object : page.objects) {
    const auto name = ParseManifestName(std::string_view(object.path).substr(prefix.size()));
    if (!name || IsDetachedVersion(name->version)) {
      continue;
    }
    if (*newest && (*newest)->naming != name->naming) {
      return Corruption("table.mixed_naming",
                        fmt::format("{} holds manifests of both naming schemes", prefix), prefix);
    }
    if (!*newest || name->version > (*newest)->version) {
      *newest = name;
    }
  }
  return Status::OK();
}

/// Newest ordinary version by listing. Names of scheme V2 sort newest first, detached names and
/// the hint behind all digits, so that one page is enough for them.
Result<std::optional<ManifestName>> ListNewest(const TableLocation& location) {
  const std::string prefix = location.Child(fmt::format("{}/", kVersionsFolder));
  std::optional<ManifestName> newest;
  store::ListOptions options;
  while (true) {
    OG_ASSIGN_OR_RETURN(const store::ListPage page, location.store->List(prefix, options));
    OG_RETURN_NOT_OK(NewestOf(page, prefix, &newest));
    if (page.next.empty() || (newest && newest->naming == ManifestNaming::kV2)) {
      return newest;
    }
    options.start_after = page.next;
  }
}

Result<StoredManifest> ReadListed(const TableLocation& location) {
  // A version that was pruned between the listing and the read is listed anew.
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    OG_ASSIGN_OR_RETURN(const std::optional<ManifestName> newest, ListNewest(location));
    if (!newest) {
      return Absent(location);
    }
    auto read = ReadNamed(location, newest->version, newest->naming);
    if (read.ok() || !IsNotFound(read.status())) {
      return read;
    }
  }
  return Unavailable("table.moving",
                     fmt::format("the newest version of {} vanished {} times between listing and "
                                 "reading",
                                 location.path, kAttempts),
                     {.object = location.path});
}

/// Open by the hint: the next number must miss before the newest is read, so that the chain stood
/// when its end was seen. nullopt: the hint leads nowhere.
Result<std::optional<StoredManifest>> ReadByHint(const TableLocation& location) {
  OG_ASSIGN_OR_RETURN(const std::optional<uint64_t> hint, ReadHint(location));
  if (!hint || *hint == 0 || IsDetachedVersion(*hint)) {
    return std::nullopt;
  }
  for (const ManifestNaming naming : {ManifestNaming::kV2, ManifestNaming::kV1}) {
    OG_ASSIGN_OR_RETURN(const uint64_t newest, WalkUp(location, *hint, naming));
    auto read = ReadNamed(location, newest, naming);
    if (read.ok()) {
      return std::optional(*std::move(read));
    }
    if (!IsNotFound(read.status())) {
      return read.status();
    }
  }
  return std::nullopt;
}

}  // namespace

Result<StoredManifest> ReadManifest(const TableLocation& location, uint64_t version) {
  auto read = ReadNamed(location, version, ManifestNaming::kV2);
  if (!read.ok() && IsNotFound(read.status()) && !IsDetachedVersion(version)) {
    read = ReadNamed(location, version, ManifestNaming::kV1);
  }
  if (!read.ok() && IsNotFound(read.status())) {
    return NoVersion(location, version);
  }
  return read;
}

Result<StoredManifest> ReadLatestManifest(const TableLocation& location, Look look) {
  if (look == Look::kReader) {
    OG_ASSIGN_OR_RETURN(std::optional<StoredManifest> read, ReadByHint(location));
    if (read) {
      return *std::move(read);
    }
  }
  return ReadListed(location);
}

Result<StoredManifest> WalkFrom(const TableLocation& location, const StoredManifest& from) {
  OG_ASSIGN_OR_RETURN(const uint64_t newest, WalkUp(location, from.manifest.version, from.naming));
  OG_ASSIGN_OR_RETURN(const bool stands, StillStands(location, from));
  if (!stands) {
    return ReadListed(location);
  }
  if (newest == from.manifest.version) {
    return from;
  }
  auto read = ReadNamed(location, newest, from.naming);
  return !read.ok() && IsNotFound(read.status()) ? ReadListed(location) : std::move(read);
}

Result<bool> StillStands(const TableLocation& location, const StoredManifest& manifest) {
  const auto bytes = location.store->Get(manifest.object);
  if (bytes.ok()) {
    return (*bytes)->Equals(*manifest.bytes);
  }
  if (IsNotFound(bytes.status())) {
    return false;
  }
  return bytes.status();
}

Status WriteHint(const TableLocation& location, uint64_t version) {
  return location.store->Put(location.Child(kHintPath),
                             store::BytesOf(fmt::format("{}{}}}", kHintPrefix, version)));
}

Result<std::optional<uint64_t>> ReadHint(const TableLocation& location) {
  const auto bytes = location.store->Get(location.Child(kHintPath));
  if (!bytes.ok()) {
    return IsNotFound(bytes.status()) ? Result<std::optional<uint64_t>>(std::nullopt)
                                      : Result<std::optional<uint64_t>>(bytes.status());
  }
  // Only the one form that every writer writes; anything else is no hint.
  std::string_view text(**bytes);
  if (!text.starts_with(kHintPrefix) || !text.ends_with('}')) {
    return std::nullopt;
  }
  text = text.substr(kHintPrefix.size(), text.size() - kHintPrefix.size() - 1);
  uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return version;
}

}  // namespace omnigraph::lance
