#include "omnigraph/lance/table/location.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace omnigraph::lance {
namespace {

constexpr std::string_view kManifestSuffix = ".manifest";
constexpr size_t kV2Digits = 20;

/// A decimal number and nothing else.
std::optional<uint64_t> ParseDecimal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::string TableLocation::Child(std::string_view relative) const {
  return path.empty() ? std::string(relative) : fmt::format("{}/{}", path, relative);
}

std::string FormatManifestName(uint64_t version, ManifestNaming naming) {
  if (IsDetachedVersion(version)) {
    return fmt::format("d{}{}", version, kManifestSuffix);
  }
  if (naming == ManifestNaming::kV1) {
    return fmt::format("{}{}", version, kManifestSuffix);
  }
  return fmt::format("{:020}{}", std::numeric_limits<uint64_t>::max() - version, kManifestSuffix);
}

std::optional<ManifestName> ParseManifestName(std::string_view name) {
  if (!name.ends_with(kManifestSuffix)) {
    return std::nullopt;
  }
  std::string_view stem = name.substr(0, name.size() - kManifestSuffix.size());
  const bool detached = stem.starts_with('d');
  if (detached) {
    stem.remove_prefix(1);
  }
  const std::optional<uint64_t> number = ParseDecimal(stem);
  if (!number) {
    return std::nullopt;
  }
  if (detached) {
    return IsDetachedVersion(*number)
               ? std::optional(ManifestName{.version = *number, .naming = ManifestNaming::kV2})
               : std::nullopt;
  }
  const bool v2 = stem.size() == kV2Digits;
  const uint64_t version = v2 ? std::numeric_limits<uint64_t>::max() - *number : *number;
  if (IsDetachedVersion(version)) {
    return std::nullopt;
  }
  return ManifestName{.version = version, .naming = v2 ? ManifestNaming::kV2 : ManifestNaming::kV1};
}

std::string ManifestPath(uint64_t version, ManifestNaming naming) {
  return fmt::format("{}/{}", kVersionsFolder, FormatManifestName(version, naming));
}

std::string FormatDataFileName(const Uuid& random) {
  std::string name;
  name.reserve(56);
  for (size_t i = 0; i < 3; ++i) {
    name += fmt::format("{:08b}", random.bytes[i]);
  }
  for (size_t i = 3; i < random.bytes.size(); ++i) {
    name += fmt::format("{:02x}", random.bytes[i]);
  }
  return name + ".lance";
}

std::string FormatTransactionFileName(uint64_t read_version, const std::string& uuid) {
  return fmt::format("{}-{}.txn", read_version, uuid);
}

}  // namespace omnigraph::lance
