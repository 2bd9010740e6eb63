// From a base version and a change to the next manifest.

#include <fmt/format.h>

#include <algorithm>

#include "manifest_format.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

Status BadChange(std::string_view code, const Table& base, std::string_view what) {
  return Invalid(code, fmt::format("change of {}: {}", base.location().path, what),
                 {.object = base.location().path});
}

template <typename T>
bool StrictlyAscending(const std::vector<T>& values) {
  return std::ranges::adjacent_find(values, std::greater_equal<T>()) == values.end();
}

Status CheckAdded(const Table& base, const Change& change) {
  const bool mixed = (base.manifest().writer_flags & kFlagMixedFileVersions) != 0;
  for (const NewFragment& fragment : change.added) {
    if (fragment.rows == 0 || fragment.rows > UINT32_MAX || fragment.files.empty()) {
      return BadChange("change.fragment", base, "a new fragment without files or rows");
    }
    if (fragment.kept && (fragment.kept->row_ids.rows() > fragment.rows ||
                          fragment.kept->created.rows() != fragment.kept->row_ids.rows() ||
                          fragment.kept->updated.rows() != fragment.kept->row_ids.rows())) {
      return BadChange("change.lineage", base, "kept row ids and versions that do not pair");
    }
    for (const DataFileRef& file : fragment.files) {
      const std::string version = fmt::format("{}.{}", file.major_version, file.minor_version);
      if (version != base.manifest().file_version && !mixed) {
        return Unsupported("change.file_version",
                           fmt::format("table {} holds files of version {}, the new ones have {}; "
                                       "copy the table to write it",
                                       base.location().path, base.manifest().file_version, version),
                           {.object = base.location().path});
      }
    }
  }
  return Status::OK();
}

Status CheckChange(const Table& base, const Change& change) {
  OG_RETURN_NOT_OK(
      CheckWriterFlags(base.manifest().writer_flags, base.passes_guard(), base.stored().object));
  OG_RETURN_NOT_OK(CheckAdded(base, change));
  if (!StrictlyAscending(change.deleted_addresses) ||
      !StrictlyAscending(change.removed_fragments)) {
    return BadChange("change.order", base, "addresses or fragments not ascending");
  }
  for (const uint64_t id : change.removed_fragments) {
    if (base.manifest().FindFragment(id) == nullptr) {
      return NotFound("change.no_fragment",
                      fmt::format("version {} of {} has no fragment {}", base.version(),
                                  base.location().path, id),
                      {.object = base.location().path});
    }
  }
  if (change.effective_kind() == ChangeKind::kOverwrite &&
      (!change.deleted_addresses.empty() || !change.removed_fragments.empty())) {
    return BadChange("change.overwrite", base, "an overwrite that also names old rows");
  }
  return Status::OK();
}

/// Applies one change to one base. Used once.
class Builder {
 public:
  Builder(const std::shared_ptr<const Table>& base, const Change& change, uint64_t version,
          const BuildOptions& options)
      : base_(base), change_(change), options_(options), next_(base->manifest()) {
    next_.version = version;
  }

  Result<BuiltVersion> Build() {
    OG_RETURN_NOT_OK(CheckChange(*base_, change_));
    OG_RETURN_NOT_OK(LoseRows());
    OG_RETURN_NOT_OK(AddRows());
    ApplyMaps();
    ApplySchema();
    ApplyIndices();
    next_.next_row_id = std::max(next_.next_row_id, change_.next_row_id_floor);
    if (change_.max_fragment_id_floor) {
      next_.max_fragment_id =
          std::max(next_.max_fragment_id.value_or(0), *change_.max_fragment_id_floor);
    }
    SetFlags(&next_);
    Transaction transaction = TransactionOf(*base_, change_, next_, effects_);
    const ManifestNaming naming =
        IsDetachedVersion(next_.version) || IsDetachedVersion(base_->version())
            ? ManifestNaming::kV2
            : base_->stored().naming;
    return FinishBuild(base_, std::move(next_), std::move(transaction), naming, options_);
  }

 private:
  Status NoRow(uint64_t address) const {
    return NotFound(
        "change.no_row",
        fmt::format("version {} of {} has no live row at fragment {}, offset {}", base_->version(),
                    base_->location().path, FragmentOfAddress(address), OffsetOfAddress(address)),
        {.object = base_->location().path});
  }

  /// Give a fragment its new deletion file, or drop it where nothing is left.
  Status DeleteIn(const std::vector<uint64_t>& addresses, size_t begin, size_t end) {
    const uint64_t id = FragmentOfAddress(addresses[begin]);
    const Fragment* fragment = base_->manifest().FindFragment(id);
    if (fragment == nullptr || std::ranges::binary_search(change_.removed_fragments, id)) {
      return NoRow(addresses[begin]);
    }
    OG_ASSIGN_OR_RETURN(const DeletionVector old, base_->Deletions(id));
    std::vector<uint32_t> offsets;
    for (size_t i = begin; i < end; ++i) {
      const uint32_t offset = OffsetOfAddress(addresses[i]);
      if (offset >= fragment->physical_rows || old.Contains(offset)) {
        return NoRow(addresses[i]);
      }
      offsets.push_back(offset);
    }
    const DeletionVector united = old.With(offsets);
    if (united.size() == fragment->physical_rows) {
      effects_.removed_ids.push_back(id);
      return Status::OK();
    }
    Fragment updated = *fragment;
    OG_ASSIGN_OR_RETURN(updated.deletion_file,
                        WriteDeletions(base_->location(), id, base_->version(), united));
    effects_.updated.push_back(std::move(updated));
    return Status::OK();
  }

  Status LoseRows() {
    const std::vector<uint64_t>& addresses = change_.deleted_addresses;
    for (size_t begin = 0; begin < addresses.size();) {
      size_t end = begin;
      while (end < addresses.size() &&
             FragmentOfAddress(addresses[end]) == FragmentOfAddress(addresses[begin])) {
        ++end;
      }
      OG_RETURN_NOT_OK(DeleteIn(addresses, begin, end));
      begin = end;
    }
    if (change_.effective_kind() == ChangeKind::kOverwrite) {
      for (const Fragment& fragment : base_->manifest().fragments) {
        effects_.removed_ids.push_back(fragment.id);
      }
    }
    effects_.removed_ids.insert(effects_.removed_ids.end(), change_.removed_fragments.begin(),
                                change_.removed_fragments.end());
    std::ranges::sort(effects_.removed_ids);
    return Status::OK();
  }

  /// Versions of the fresh rows: the caller's counter, else the number of this version. A detached
  /// number says nothing about age, so its rows take the number that they would have had.
  uint64_t RowVersion() const {
    if (change_.row_version) {
      return *change_.row_version;
    }
    if (!IsDetachedVersion(next_.version)) {
      return next_.version;
    }
    return IsDetachedVersion(base_->version()) ? 1 : base_->version() + 1;
  }

  Result<Fragment> Assign(const NewFragment& given) {
    const uint64_t id = next_.next_fragment_id();
    if (id > UINT32_MAX) {
      return Exhausted(
          "table.fragment_ids",
          fmt::format("table {} has used up its fragment ids; copy it", base_->location().path),
          {.object = base_->location().path});
    }
    Fragment fragment;
    fragment.id = id;
    fragment.files = given.files;
    fragment.physical_rows = given.rows;
    if (next_.stable_row_ids()) {
      RowLineage lineage = given.kept.value_or(RowLineage{});
      const uint64_t fresh = given.rows - lineage.row_ids.rows();
      if (fresh > UINT64_MAX - next_.next_row_id) {
        return Exhausted(
            "table.row_ids",
            fmt::format("table {} has used up its row ids; copy it", base_->location().path),
            {.object = base_->location().path});
      }
      lineage.row_ids.Append(next_.next_row_id, fresh);
      lineage.created.Append(RowVersion(), fresh);
      lineage.updated.Append(RowVersion(), fresh);
      next_.next_row_id += fresh;
      fragment.row_ids = lineage.row_ids.Encode();
      fragment.created_versions = lineage.created.Encode();
      fragment.updated_versions = lineage.updated.Encode();
    }
    next_.max_fragment_id = static_cast<uint32_t>(id);
    return fragment;
  }

  /// Moved rows take the place of the first fragment that they leave, fresh rows come last.
  Status AddRows() {
    next_.next_row_id = std::max(next_.next_row_id, change_.next_row_id_floor);
    std::vector<Fragment> moved;
    std::vector<Fragment> fresh;
    for (const NewFragment& given : change_.added) {
      OG_ASSIGN_OR_RETURN(Fragment fragment, Assign(given));
      const bool moves = change_.effective_kind() == ChangeKind::kRewrite || given.kept.has_value();
      (moves ? moved : fresh).push_back(fragment);
      effects_.added.push_back(std::move(fragment));
    }
    std::vector<Fragment> fragments;
    for (const Fragment& old : base_->manifest().fragments) {
      if (std::ranges::binary_search(effects_.removed_ids, old.id)) {
        if (std::ranges::binary_search(change_.removed_fragments, old.id) && !moved.empty()) {
          fragments.insert(fragments.end(), moved.begin(), moved.end());
          moved.clear();
        }
        continue;
      }
      const auto updated =
          std::ranges::lower_bound(effects_.updated, old.id, std::less<>(), &Fragment::id);
      const bool changed = updated != effects_.updated.end() && updated->id == old.id;
      fragments.push_back(changed ? *updated : old);
    }
    fragments.insert(fragments.end(), moved.begin(), moved.end());
    fragments.insert(fragments.end(), fresh.begin(), fresh.end());
    next_.fragments = std::move(fragments);
    return Status::OK();
  }

  static void ApplyMap(const std::map<std::string, std::optional<std::string>>& entries,
                       std::map<std::string, std::string>* map) {
    for (const auto& [key, value] : entries) {
      if (value) {
        (*map)[key] = *value;
      } else {
        map->erase(key);
      }
    }
  }

  void ApplyMaps() {
    if (change_.replace_table_metadata) {
      next_.table_metadata.clear();
    }
    ApplyMap(change_.table_metadata, &next_.table_metadata);
    ApplyMap(change_.config, &next_.config);
  }

  /// A new schema; data files that hold no field of it any more are let go.
  void ApplySchema() {
    if (change_.schema == nullptr) {
      return;
    }
    next_.schema = change_.schema;
    for (Fragment& fragment : next_.fragments) {
      const auto dead = [&](const DataFileRef& file) {
        return std::ranges::none_of(file.field_ids, [&](int32_t id) {
          return id >= 0 && next_.schema->FindField(id) != nullptr;
        });
      };
      if (!std::ranges::all_of(fragment.files, dead)) {
        std::erase_if(fragment.files, dead);
      }
    }
  }

  void ApplyIndices() {
    UpdateCoverage(change_, effects_, next_.stable_row_ids(), &next_.indices);
    std::erase_if(next_.indices, [&](const IndexMetadata& index) {
      const bool replaced = std::ranges::find(change_.new_indices, index.uuid,
                                              &IndexMetadata::uuid) != change_.new_indices.end();
      const bool removed =
          std::ranges::find(change_.removed_indices, index.uuid) != change_.removed_indices.end();
      const bool orphaned = std::ranges::any_of(
          index.field_ids, [&](int32_t id) { return next_.schema->FindField(id) == nullptr; });
      return replaced || removed || orphaned;
    });
    next_.indices.insert(next_.indices.end(), change_.new_indices.begin(),
                         change_.new_indices.end());
  }

  const std::shared_ptr<const Table> base_;
  const Change& change_;
  const BuildOptions& options_;
  Manifest next_;
  FragmentEffects effects_;
};

}  // namespace

void SetFlags(Manifest* manifest) {
  const bool deletions = std::ranges::any_of(
      manifest->fragments, [](const Fragment& f) { return f.deletion_file.has_value(); });
  uint64_t both =
      manifest->reader_flags & (kFlagStableRowIds | kFlagCoveredIndex | kFlagMixedFileVersions);
  if (deletions) {
    both |= kFlagDeletionFiles;
  }
  if (!manifest->base_paths.empty()) {
    both |= kFlagBasePaths;
  }
  const uint64_t guard = manifest->writer_flags & (kFlagGraphGuard | kFlagInlineTransaction);
  manifest->reader_flags = both;
  manifest->writer_flags = both | guard | (manifest->config.empty() ? 0 : kFlagTableConfig);
}

Result<BuiltVersion> FinishBuild(const std::shared_ptr<const Table>& base, Manifest manifest,
                                 Transaction transaction, ManifestNaming naming,
                                 const BuildOptions& options) {
  BuiltVersion built;
  built.location = base->location();
  built.base = base;
  built.passes_guard = base->passes_guard();
  built.naming = naming;
  built.transaction_uuid = runtime::NewUuid().ToString();
  transaction.uuid = built.transaction_uuid;
  manifest.transaction = EncodeTransaction(transaction);
  manifest.transaction_file.clear();
  manifest.timestamp_us = options.timestamp_us.value_or(runtime::WallNow().count());
  manifest.writer =
      WriterVersion{.library = std::string(kWriterLibrary), .version = std::string(kWriterVersion)};
  if (options.write_transaction_file) {
    manifest.transaction_file =
        FormatTransactionFileName(transaction.read_version, built.transaction_uuid);
    OG_RETURN_NOT_OK(PutUnpublished(
        *built.location.store,
        built.location.Child(fmt::format("{}/{}", kTransactionsFolder, manifest.transaction_file)),
        store::BytesOf(manifest.transaction)));
  }
  built.object = built.location.Child(ManifestPath(manifest.version, naming));
  built.bytes = EncodeManifest(manifest);
  built.manifest = std::move(manifest);
  return built;
}

Result<BuiltVersion> BuildVersion(const std::shared_ptr<const Table>& base, const Change& change,
                                  uint64_t version, const BuildOptions& options) {
  return Builder(base, change, version, options).Build();
}

}  // namespace omnigraph::lance
