/// \file
/// Where a Lance table is, and what the files inside it are called.
///
/// Names are pure functions; nothing here touches the store. Format: docs/format/lance-table.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"

namespace omnigraph::store {
class ObjectStore;
}  // namespace omnigraph::store

namespace omnigraph::lance {

/// A table: a store and the folder of the table below its root. Value type; copies share the store.
struct TableLocation {
  std::shared_ptr<store::ObjectStore> store;
  /// Without a trailing slash, for example `nodes/0123456789abcdef-0000000000000001.lance`.
  std::string path;

  /// `path/relative`, as the store wants it.
  std::string Child(std::string_view relative) const;
};

/// How `_versions/` names its manifests. One folder never mixes the two.
enum class ManifestNaming : uint8_t {
  kV1,  ///< `<version>.manifest`
  kV2,  ///< 20 digits of 2^64 - 1 - version, so that the newest sorts first
};

/// A manifest name, taken apart.
struct ManifestName {
  uint64_t version = 0;
  /// kV2 for detached names.
  ManifestNaming naming = ManifestNaming::kV2;
};

/// True for versions with bit 63: they stand outside the history and are found only by number.
constexpr bool IsDetachedVersion(uint64_t version) {
  return (version >> 63) != 0;
}

/// Name of a manifest inside `_versions/`; `d<version>.manifest` for detached versions.
std::string FormatManifestName(uint64_t version, ManifestNaming naming);
/// nullopt for names that are no manifest (temporary files, the hint, strangers).
std::optional<ManifestName> ParseManifestName(std::string_view name);
/// Path of a manifest below the table: `_versions/...`.
std::string ManifestPath(uint64_t version, ManifestNaming naming = ManifestNaming::kV2);

/// Name of a data file inside `data/`: 24 binary digits and 26 hex digits of `random`, `.lance`.
std::string FormatDataFileName(const Uuid& random);
/// Name of a transaction file inside `_transactions/`: `<read version>-<uuid>.txn`.
std::string FormatTransactionFileName(uint64_t read_version, const std::string& uuid);

/// Folders and fixed names below a table.
inline constexpr std::string_view kVersionsFolder = "_versions";
inline constexpr std::string_view kDataFolder = "data";
inline constexpr std::string_view kDeletionsFolder = "_deletions";
inline constexpr std::string_view kTransactionsFolder = "_transactions";
inline constexpr std::string_view kIndicesFolder = "_indices";
inline constexpr std::string_view kTagsFolder = "_refs/tags";
inline constexpr std::string_view kHintPath = "_versions/latest_version_hint.json";

}  // namespace omnigraph::lance
