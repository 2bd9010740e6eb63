#include <algorithm>

#include "version_parts.h"

namespace omnigraph::lance {
namespace {

bool Covers(const IndexMetadata& index, uint64_t fragment_id) {
  return std::binary_search(index.fragment_ids.begin(), index.fragment_ids.end(),
                            static_cast<uint32_t>(fragment_id));
}

/// Entries of the engine itself are no segments over rows.
bool IsSystemIndex(const IndexMetadata& index) {
  return !index.has_fragment_bitmap || index.name.starts_with("__lance_");
}

/// Whether rows of removed fragments live on in added ones.
bool MovesRows(const Change& change) {
  return !change.removed_fragments.empty() &&
         (change.effective_kind() == ChangeKind::kRewrite ||
          std::ranges::any_of(change.added,
                              [](const NewFragment& f) { return f.kept.has_value(); }));
}

/// Whether a segment of a table with stable row ids holds them. The BTREE of Lance 14 (version 1)
/// holds addresses all the same.
bool HoldsRowIds(const IndexMetadata& index) {
  return index.details_type_url != "/lance.table.BTreeIndexDetails" ||
         index.index_version.value_or(0) == 0;
}

/// After rows moved: true if the segment still finds them. With stable ids it holds ids, not
/// places, so that covering all old fragments is covering the new ones, if nothing else is in them.
bool KeepsMovedRows(const Change& change, const FragmentEffects& effects, bool stable_row_ids,
                    IndexMetadata* index) {
  const size_t covered = static_cast<size_t>(std::ranges::count_if(
      change.removed_fragments, [&](uint64_t id) { return Covers(*index, id); }));
  if (covered == 0) {
    return true;
  }
  if (!stable_row_ids || !HoldsRowIds(*index) || covered != change.removed_fragments.size()) {
    return false;
  }
  for (size_t i = 0; i < change.added.size(); ++i) {
    const NewFragment& given = change.added[i];
    if (!given.kept) {
      continue;
    }
    if (given.kept->row_ids.rows() != given.rows) {
      return false;
    }
    index->fragment_ids.push_back(static_cast<uint32_t>(effects.added[i].id));
  }
  std::ranges::sort(index->fragment_ids);
  return true;
}

}  // namespace

void UpdateCoverage(const Change& change, const FragmentEffects& effects, bool stable_row_ids,
                    std::vector<IndexMetadata>* indices) {
  const bool moves = MovesRows(change);
  std::erase_if(*indices, [&](IndexMetadata& index) {
    if (IsSystemIndex(index)) {
      return false;
    }
    if (moves && !KeepsMovedRows(change, effects, stable_row_ids, &index)) {
      return true;
    }
    const size_t before = index.fragment_ids.size();
    std::erase_if(index.fragment_ids, [&](uint32_t id) {
      return std::ranges::binary_search(effects.removed_ids, uint64_t{id});
    });
    return index.fragment_ids.empty() && before != 0;
  });
}

}  // namespace omnigraph::lance
