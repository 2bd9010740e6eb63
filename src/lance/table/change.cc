#include "omnigraph/lance/table/change.h"

namespace omnigraph::lance {

bool Change::empty() const {
  return added.empty() && deleted_addresses.empty() && removed_fragments.empty() &&
         new_indices.empty() && removed_indices.empty() && table_metadata.empty() &&
         !replace_table_metadata && config.empty() && schema == nullptr;
}

ChangeKind Change::effective_kind() const {
  if (kind != ChangeKind::kAuto) {
    return kind;
  }
  const bool loses_rows = !deleted_addresses.empty() || !removed_fragments.empty();
  if (!added.empty()) {
    return loses_rows ? ChangeKind::kUpdate : ChangeKind::kAppend;
  }
  if (loses_rows) {
    return ChangeKind::kDelete;
  }
  const bool indexes = !new_indices.empty() || !removed_indices.empty();
  return indexes ? ChangeKind::kCreateIndex : ChangeKind::kUpdateConfig;
}

}  // namespace omnigraph::lance
