#include "omnigraph/lance/table/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/store/object_store.h"
#include "row_id_index.h"
#include "table_cache.h"

namespace omnigraph::lance {
namespace {

Status CheckFileVersion(const StoredManifest& stored) {
  static constexpr std::string_view kKnown[] = {"0.1", "2.0", "2.1", "2.2", "2.3"};
  const std::string& version = stored.manifest.file_version;
  if (version.empty() || std::ranges::find(kKnown, version) != std::end(kKnown)) {
    return Status::OK();
  }
  return Unsupported("table.file_version",
                     fmt::format("{} keeps its rows in files of version '{}'; open it with a newer "
                                 "release",
                                 stored.object, version),
                     {.object = stored.object});
}

}  // namespace

Table::Table(TableLocation location, StoredManifest stored, bool passes_guard,
             std::shared_ptr<TableCache> cache)
    : location_(std::move(location)),
      stored_(std::move(stored)),
      passes_guard_(passes_guard),
      cache_(std::move(cache)) {}

Table::~Table() = default;

Result<std::shared_ptr<const Table>> Table::Open(TableLocation location,
                                                 const OpenOptions& options) {
  OG_ASSIGN_OR_RETURN(StoredManifest stored, options.version
                                                 ? ReadManifest(location, *options.version)
                                                 : ReadLatestManifest(location, options.look));
  return FromManifest(std::move(location), std::move(stored), options);
}

Result<std::shared_ptr<const Table>> Table::FromManifest(TableLocation location,
                                                         StoredManifest stored,
                                                         const OpenOptions& options) {
  OG_RETURN_NOT_OK(CheckReaderFlags(stored.manifest.reader_flags, stored.object));
  OG_RETURN_NOT_OK(CheckFileVersion(stored));
  auto cache = options.share_with ? options.share_with->cache_ : std::make_shared<TableCache>();
  std::shared_ptr<Table> table(
      new Table(std::move(location), std::move(stored), options.passes_guard, std::move(cache)));
  auto arrow_schema = table->lance_schema()->ToArrow();
  if (!arrow_schema.ok()) {
    return WithPlace(arrow_schema.status(), {.object = table->stored_.object});
  }
  table->arrow_schema_ = *std::move(arrow_schema);
  return std::shared_ptr<const Table>(std::move(table));
}

Result<DeletionVector> Table::Deletions(uint64_t fragment_id) const {
  const Fragment* fragment = manifest().FindFragment(fragment_id);
  if (fragment == nullptr) {
    return NotFound(
        "table.no_fragment",
        fmt::format("version {} of {} has no fragment {}", version(), location_.path, fragment_id),
        {.object = location_.path});
  }
  if (!fragment->deletion_file) {
    return DeletionVector();
  }
  const std::string object = DeletionFilePath(fragment_id, *fragment->deletion_file);
  if (std::optional<DeletionVector> cached = cache_->deletions().Find(object)) {
    return *std::move(cached);
  }
  OG_ASSIGN_OR_RETURN(DeletionVector deletions, ReadDeletions(location_, *fragment));
  // A set takes two bytes a row at most, one bit per row of the fragment at worst.
  const size_t bytes = std::min(2 * deletions.size(), fragment->physical_rows / 8) + 128;
  cache_->deletions().Insert(object, deletions, bytes);
  return deletions;
}

Result<RowLineage> Table::Lineage(uint64_t fragment_id) const {
  const Fragment* fragment = manifest().FindFragment(fragment_id);
  if (fragment == nullptr) {
    return NotFound(
        "table.no_fragment",
        fmt::format("version {} of {} has no fragment {}", version(), location_.path, fragment_id),
        {.object = location_.path});
  }
  const uint64_t rows = fragment->physical_rows;
  RowLineage lineage;
  if (!stable_row_ids()) {
    lineage.row_ids = RowIdSequence::Range(MakeRowAddress(fragment_id, 0), rows);
    lineage.created = RowVersionSequence::Constant(0, rows);
    lineage.updated = lineage.created;
    return lineage;
  }
  const std::string& object = stored_.object;
  OG_ASSIGN_OR_RETURN(lineage.row_ids,
                      RowIdSequence::Parse(fragment->row_ids.value_or(""), rows, object));
  const auto versions = [&](const std::optional<std::string>& bytes) -> Result<RowVersionSequence> {
    // Absent means version 1, as for tables from before versions were kept.
    return bytes ? RowVersionSequence::Parse(*bytes, rows, object)
                 : Result<RowVersionSequence>(RowVersionSequence::Constant(1, rows));
  };
  OG_ASSIGN_OR_RETURN(lineage.created, versions(fragment->created_versions));
  OG_ASSIGN_OR_RETURN(lineage.updated, versions(fragment->updated_versions));
  if (lineage.row_ids.rows() != rows || lineage.created.rows() != rows ||
      lineage.updated.rows() != rows) {
    return Corruption("row_ids.count",
                      fmt::format("fragment {} of {} has {} rows, but {} row ids and {} and {} row "
                                  "versions",
                                  fragment_id, object, rows, lineage.row_ids.rows(),
                                  lineage.created.rows(), lineage.updated.rows()),
                      object);
  }
  return lineage;
}

Result<std::vector<bool>> Table::AreLive(std::span<const uint64_t> addresses) const {
  std::vector<bool> live(addresses.size(), false);
  std::map<uint32_t, std::pair<const Fragment*, DeletionVector>> fragments;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const uint32_t id = FragmentOfAddress(addresses[i]);
    auto at = fragments.find(id);
    if (at == fragments.end()) {
      const Fragment* fragment = manifest().FindFragment(id);
      DeletionVector deletions;
      if (fragment != nullptr) {
        OG_ASSIGN_OR_RETURN(deletions, Deletions(id));
      }
      at = fragments.emplace(id, std::pair(fragment, std::move(deletions))).first;
    }
    const auto& [fragment, deletions] = at->second;
    const uint32_t offset = OffsetOfAddress(addresses[i]);
    live[i] =
        fragment != nullptr && offset < fragment->physical_rows && !deletions.Contains(offset);
  }
  return live;
}

Result<std::shared_ptr<const Table::RowIdIndex>> Table::RowIds() const {
  {
    runtime::MutexLock lock(mutex_);
    if (row_ids_) {
      return row_ids_;
    }
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const RowIdIndex> built, RowIdIndex::Build(*this));
  runtime::MutexLock lock(mutex_);
  row_ids_ = built;
  return built;
}

Result<std::vector<std::optional<uint64_t>>> Table::AddressesOfRowIds(
    std::span<const uint64_t> row_ids) const {
  std::vector<uint64_t> candidates;
  std::vector<size_t> owners;  // candidates[i] stands for row_ids[owners[i]]
  if (stable_row_ids()) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<const RowIdIndex> index, RowIds());
    for (size_t i = 0; i < row_ids.size(); ++i) {
      index->Find(row_ids[i], &candidates);
      owners.resize(candidates.size(), i);
    }
  } else {
    candidates.assign(row_ids.begin(), row_ids.end());
    for (size_t i = 0; i < row_ids.size(); ++i) {
      owners.push_back(i);
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<bool> live, AreLive(candidates));
  std::vector<std::optional<uint64_t>> addresses(row_ids.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (live[i]) {
      addresses[owners[i]] = candidates[i];
    }
  }
  return addresses;
}

std::vector<const IndexMetadata*> Table::IndexSegments(std::string_view name) const {
  std::vector<const IndexMetadata*> segments;
  for (const IndexMetadata& index : manifest().indices) {
    if (index.name == name) {
      segments.push_back(&index);
    }
  }
  return segments;
}

Result<std::shared_ptr<const FileReader>> Table::OpenDataFile(const DataFileRef& file) const {
  const std::string object = location_.Child(fmt::format("{}/{}", kDataFolder, file.path));
  if (file.base_id) {
    return Unsupported("table.base_path",
                       fmt::format("data file {} lies below another base path, which is not "
                                   "supported",
                                   object),
                       {.object = object});
  }
  if (auto cached = cache_->files().Find(object)) {
    return *std::move(cached);
  }
  auto opened = FileReader::Open(
      location_.store, object,
      file.size_bytes != 0 ? std::optional<uint64_t>(file.size_bytes) : std::nullopt);
  if (!opened.ok() && IsNotFound(opened.status())) {
    return Corruption("fragment.file_absent",
                      fmt::format("data file {} of version {} does not exist", object, version()),
                      object);
  }
  OG_RETURN_NOT_OK(opened.status());
  constexpr size_t kOpenFileBytes = 32 << 10;  // column metadata, some pages of a few columns
  cache_->files().Insert(object, *opened, kOpenFileBytes);
  return *std::move(opened);
}

}  // namespace omnigraph::lance
