/// \file
/// The manifest of one table version as a value, its bytes, and finding the newest one.
///
/// Every message keeps the protobuf fields that we do not know in `unknown`, and writes them back.
/// Serialization is deterministic: equal values give equal bytes. Format:
/// docs/format/lance-table.md.
#pragma once

#include <arrow/buffer.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/location.h"

namespace omnigraph::lance {

class Schema;

/// A data file of a fragment. Value type.
struct DataFileRef {
  std::string path;                     ///< below `data/`
  std::vector<int32_t> field_ids;       ///< leaf fields held by the file; -2 = superseded
  std::vector<int32_t> column_indices;  ///< file column of each field; -1 = none of its own
  uint32_t major_version = 2;
  uint32_t minor_version = 2;
  uint64_t size_bytes = 0;          ///< 0 = unknown
  std::optional<uint32_t> base_id;  ///< set only where the file lies below another base path
  std::string unknown;

  bool operator==(const DataFileRef&) const = default;
};

/// The newest deletion file of a fragment; it holds all deleted rows. Value type.
struct DeletionFileRef {
  enum class Kind : uint8_t { kArrow = 0, kRoaring = 1 };
  Kind kind = Kind::kRoaring;
  uint64_t read_version = 0;
  uint64_t id = 0;
  uint64_t deleted_rows = 0;
  std::optional<uint32_t> base_id;
  std::string unknown;

  bool operator==(const DeletionFileRef&) const = default;
};

/// A horizontal slice of the table. Value type.
struct Fragment {
  uint64_t id = 0;
  std::vector<DataFileRef> files;
  std::optional<DeletionFileRef> deletion_file;
  uint64_t physical_rows = 0;  ///< deleted ones included
  // Serialized sequences (row_ids.h), only with stable row ids.
  std::optional<std::string> row_ids;
  std::optional<std::string> created_versions;
  std::optional<std::string> updated_versions;
  std::string unknown;

  uint64_t deleted_rows() const { return deletion_file ? deletion_file->deleted_rows : 0; }
  uint64_t live_rows() const { return physical_rows - deleted_rows(); }
  bool operator==(const Fragment&) const = default;
};

/// Size of one file of an index segment.
struct IndexFileRef {
  std::string path;  ///< below `_indices/<uuid>/`
  uint64_t size_bytes = 0;
  std::string unknown;
  bool operator==(const IndexFileRef&) const = default;
};

/// One segment of an index. Opaque to this layer but for its coverage. Value type.
struct IndexMetadata {
  Uuid uuid;
  std::vector<int32_t> field_ids;
  std::string name;                    ///< entries of one name are segments of one index
  uint64_t dataset_version = 0;        ///< version that was read to build it
  std::vector<uint32_t> fragment_ids;  ///< covered fragments, ascending
  bool has_fragment_bitmap = true;     ///< false: the field is absent (system entries)
  std::string details_type_url;        ///< decides the plug-in
  std::string details_value;
  std::string details_unknown;
  bool has_details = true;
  std::optional<int32_t> index_version;
  std::optional<uint64_t> created_at_ms;
  std::vector<IndexFileRef> files;
  std::string unknown;

  bool operator==(const IndexMetadata&) const = default;
};

/// A folder that data files may lie in. Value type.
struct BasePath {
  uint32_t id = 0;
  std::optional<std::string> name;
  bool is_dataset_root = false;
  std::string path;
  std::string unknown;

  bool operator==(const BasePath&) const = default;
};

/// Which program wrote a manifest.
struct WriterVersion {
  std::string library;
  std::string version;
  std::string unknown;
  bool operator==(const WriterVersion&) const = default;
};

/// Everything that one version of a table says. Value type; copies share the schema.
struct Manifest {
  std::shared_ptr<const Schema> schema;
  std::vector<Fragment> fragments;  ///< in scan order
  uint64_t version = 0;
  int64_t timestamp_us = 0;  ///< since the Unix epoch
  uint64_t reader_flags = 0;
  uint64_t writer_flags = 0;
  std::optional<uint32_t> max_fragment_id;  ///< highest id ever used; absent before the first
  std::string transaction_file;             ///< inside `_transactions/`; empty = none
  std::optional<WriterVersion> writer;
  uint64_t next_row_id = 0;  ///< with stable row ids only; only grows
  std::string file_format = "lance";
  std::string file_version = "2.2";
  std::string file_format_unknown;
  std::map<std::string, std::string> config;
  std::vector<BasePath> base_paths;
  std::map<std::string, std::string> table_metadata;
  std::optional<std::string> branch;
  std::vector<IndexMetadata> indices;
  std::string indices_unknown;  ///< of the section around them
  /// Serialized Transaction (transaction.h) that made this version; empty = not inline.
  std::string transaction;
  std::string unknown;

  bool stable_row_ids() const;
  uint64_t live_rows() const;
  /// First id that a new fragment may take.
  uint64_t next_fragment_id() const;
  const Fragment* FindFragment(uint64_t id) const;
};

/// Serialize a manifest file: index section, inline transaction (named by fields 21 and 23),
/// manifest, trailer.
std::string EncodeManifest(const Manifest& manifest);

/// Parse a manifest file. Total: any bytes give a manifest or an error.
///
/// `object` names the bytes in errors. Feature flags are not judged here (feature_flags.h).
/// Errors: kCorruption (`manifest.*`), kUnsupported (`manifest.version`).
Result<Manifest> DecodeManifest(std::string_view bytes, std::string_view object);

/// A manifest that was read, with what is needed to recognise it again.
struct StoredManifest {
  Manifest manifest;
  ManifestNaming naming = ManifestNaming::kV2;
  std::string object;  ///< path in the store
  std::shared_ptr<arrow::Buffer> bytes;
};

/// Read one version, ordinary or detached.
///
/// Errors: kNotFound (`table.no_version`), kCorruption, kUnsupported, any kind from ObjectStore.
/// Cost:   one get (two where an ordinary version is named by scheme V1).
Result<StoredManifest> ReadManifest(const TableLocation& location, uint64_t version);

/// Whose look at a chain of versions it is.
enum class Look : uint8_t {
  kReader,  ///< the hint, then the next number until one is missing; a listing only without a hint
  kWriter,  ///< a listing (C5: a writer's first look at a chain)
};

/// Find and read the newest ordinary version.
///
/// Errors: kNotFound (`table.absent`) when the folder holds no version; else as ReadManifest.
/// Cost:   kReader: hint, one head that misses, one get. kWriter: one listing and one get.
Result<StoredManifest> ReadLatestManifest(const TableLocation& location, Look look = Look::kReader);

/// Walk from a version that was read to the newest one. Counts only if `from` still stands with the
/// same bytes at the end (C5); else the chain is listed.
///
/// Cost: one head that misses and one get, more only by the number of new versions.
Result<StoredManifest> WalkFrom(const TableLocation& location, const StoredManifest& from);

/// True while the version still stands with the bytes that were read (C5).
///
/// Cost: one get.
Result<bool> StillStands(const TableLocation& location, const StoredManifest& manifest);

/// Rewrite `latest_version_hint.json`. Callers that only help readers ignore a failure.
Status WriteHint(const TableLocation& location, uint64_t version);
/// The version that the hint names; nullopt where it is absent or unreadable as a hint.
Result<std::optional<uint64_t>> ReadHint(const TableLocation& location);

}  // namespace omnigraph::lance
