// A change against a newer version of its table: what can stand together (C1,
// docs/protocols/publishing.md).

#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/commit.h"

namespace omnigraph::lance {
namespace {

/// Same rows at the same offsets: every data file of the old one is still there. Fragment ids
/// repeat across branches and prove nothing; file names do not repeat.
bool SameRows(const Fragment& old_one, const Fragment* new_one) {
  if (new_one == nullptr || new_one->physical_rows != old_one.physical_rows) {
    return false;
  }
  return std::ranges::all_of(old_one.files, [&](const DataFileRef& file) {
    return std::ranges::any_of(new_one->files,
                               [&](const DataFileRef& other) { return other.path == file.path; });
  });
}

Status CheckDeleted(const Table& base, const Table& newer, const Change& change,
                    RebaseReport* report) {
  const std::vector<uint64_t>& addresses = change.deleted_addresses;
  for (size_t begin = 0; begin < addresses.size();) {
    const uint64_t id = FragmentOfAddress(addresses[begin]);
    size_t end = begin;
    while (end < addresses.size() && FragmentOfAddress(addresses[end]) == id) {
      ++end;
    }
    const Fragment* old_one = base.manifest().FindFragment(id);
    const Fragment* new_one = newer.manifest().FindFragment(id);
    if (old_one == nullptr || !SameRows(*old_one, new_one)) {
      report->moved.insert(report->moved.end(), addresses.begin() + static_cast<int64_t>(begin),
                           addresses.begin() + static_cast<int64_t>(end));
    } else if (old_one->deletion_file != new_one->deletion_file) {
      OG_ASSIGN_OR_RETURN(const DeletionVector deletions, newer.Deletions(id));
      for (size_t i = begin; i < end; ++i) {
        if (deletions.Contains(OffsetOfAddress(addresses[i]))) {
          report->already_deleted.push_back(addresses[i]);
        }
      }
    }
    begin = end;
  }
  return Status::OK();
}

/// Whether an index segment made on `base` says the truth on `newer` too.
bool StandsOn(const Table& base, const Table& newer, const IndexMetadata& index) {
  const uint64_t first_new = base.manifest().next_fragment_id();
  const bool renumbered = first_new != newer.manifest().next_fragment_id() ||
                          base.manifest().next_row_id != newer.manifest().next_row_id;
  return std::ranges::all_of(index.fragment_ids, [&](uint32_t id) {
    if (id >= first_new) {
      // Built for ids that are taken by now.
      return !renumbered;
    }
    const Fragment* old_one = base.manifest().FindFragment(id);
    const Fragment* new_one = newer.manifest().FindFragment(id);
    return new_one == nullptr || (old_one != nullptr && SameRows(*old_one, new_one) &&
                                  old_one->deletion_file == new_one->deletion_file);
  });
}

/// Take out the segments that do not stand on `newer`; what they were to replace stays.
void DropStaleSegments(const Table& base, const Table& newer, Change* change) {
  std::vector<std::string> dropped;  // names of their indexes
  std::erase_if(change->new_indices, [&](const IndexMetadata& index) {
    const bool drop = index.has_fragment_bitmap && !StandsOn(base, newer, index);
    if (drop) {
      dropped.push_back(index.name);
    }
    return drop;
  });
  std::erase_if(change->removed_indices, [&](const Uuid& uuid) {
    const auto at = std::ranges::find(base.manifest().indices, uuid, &IndexMetadata::uuid);
    return at != base.manifest().indices.end() &&
           std::ranges::find(dropped, at->name) != dropped.end();
  });
}

}  // namespace

Result<RebaseReport> CheckRebase(const Table& base, const Table& newer, const Change& change) {
  RebaseReport report;
  report.schema_changed = *base.lance_schema() != *newer.lance_schema();
  OG_RETURN_NOT_OK(CheckDeleted(base, newer, change, &report));
  for (const uint64_t id : change.removed_fragments) {
    const Fragment* old_one = base.manifest().FindFragment(id);
    const Fragment* new_one = newer.manifest().FindFragment(id);
    if (old_one == nullptr || !SameRows(*old_one, new_one) ||
        old_one->deletion_file != new_one->deletion_file) {
      report.changed_fragments.push_back(id);
    }
  }
  return report;
}

Result<Change> Rebase(const Table& base, const Table& newer, const Change& change) {
  OG_ASSIGN_OR_RETURN(const RebaseReport report, CheckRebase(base, newer, change));
  if (!report.clean()) {
    return Conflict(
        "commit.conflict",
        fmt::format("version {} of {} cannot stand beside a change of version {}: {} rows deleted, "
                    "{} rows moved, {} fragments changed{}; read again and build it anew",
                    newer.version(), base.location().path, base.version(),
                    report.already_deleted.size(), report.moved.size(),
                    report.changed_fragments.size(),
                    report.schema_changed ? ", schema changed" : ""),
        {.object = base.location().path});
  }
  Change rebased = change;
  DropStaleSegments(base, newer, &rebased);
  return rebased;
}

}  // namespace omnigraph::lance
