#include "conflict.h"

#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {
namespace {

bool HasPrimaryKey(const Table& table) {
  return std::ranges::any_of(table.lance_schema()->fields(),
                             [](const Field& field) { return field.primary_key_position != 0; });
}

/// Upserts with a declared key: another writer's new rows may hold the same key, and we keep no
/// filter of the keys that we inserted.
bool MayShareKeys(const Table& base, const Change& mine, const Transaction& theirs) {
  return mine.effective_kind() == ChangeKind::kUpdate && !mine.added.empty() &&
         !theirs.new_fragments.empty() && HasPrimaryKey(base);
}

bool SharesIndexName(const Change& mine, const Transaction& theirs) {
  return std::ranges::any_of(mine.new_indices, [&](const IndexMetadata& index) {
    return std::ranges::find(theirs.new_indices, index.name, &IndexMetadata::name) !=
               theirs.new_indices.end() ||
           std::ranges::find(theirs.removed_indices, index.name, &IndexMetadata::name) !=
               theirs.removed_indices.end();
  });
}

bool CoversRewritten(const Change& mine, const Transaction& theirs) {
  for (const RewriteGroup& group : theirs.groups) {
    for (const Fragment& old_one : group.old_fragments) {
      for (const IndexMetadata& index : mine.new_indices) {
        if (std::ranges::find(index.fragment_ids, static_cast<uint32_t>(old_one.id)) !=
            index.fragment_ids.end()) {
          return true;
        }
      }
    }
  }
  return false;
}

bool SharesKeys(const std::map<std::string, std::optional<std::string>>& mine, bool mine_replaces,
                const std::optional<MapUpdate>& theirs) {
  if (!theirs || (mine.empty() && !mine_replaces)) {
    return false;
  }
  if (mine_replaces || theirs->replace) {
    return true;
  }
  return std::ranges::any_of(
      mine, [&](const auto& entry) { return theirs->entries.contains(entry.first); });
}

/// Their operation leaves rows, fragments and schema as they are.
bool IsHarmless(Operation operation) {
  return operation == Operation::kReserveFragments || operation == Operation::kAppend;
}

bool CompatibleRows(const Table& base, const Change& mine, const Transaction& theirs) {
  switch (theirs.operation) {
    case Operation::kAppend:
    case Operation::kDelete:
    case Operation::kUpdate:
      return !MayShareKeys(base, mine, theirs);
    case Operation::kCreateIndex:
    case Operation::kRewrite:
    case Operation::kReserveFragments:
    case Operation::kUpdateConfig:
      return true;  // Rebase looks at the rows
    default:
      return false;
  }
}

bool CompatibleIndex(const Change& mine, const Transaction& theirs) {
  switch (theirs.operation) {
    case Operation::kAppend:
    case Operation::kDelete:
    case Operation::kUpdate:
    case Operation::kReserveFragments:
    case Operation::kUpdateConfig:
      return true;
    case Operation::kCreateIndex:
      return !SharesIndexName(mine, theirs);
    case Operation::kRewrite:
      return !CoversRewritten(mine, theirs);
    default:
      return false;
  }
}

bool CompatibleConfig(const Change& mine, const Transaction& theirs) {
  switch (theirs.operation) {
    case Operation::kUpdateConfig:
      return !SharesKeys(mine.config, false, theirs.config_updates) &&
             !SharesKeys(mine.table_metadata, mine.replace_table_metadata,
                         theirs.table_metadata_updates);
    case Operation::kDelete:
    case Operation::kUpdate:
    case Operation::kCreateIndex:
    case Operation::kRewrite:
      return true;
    default:
      return IsHarmless(theirs.operation);
  }
}

bool CompatibleRewrite(const Transaction& theirs) {
  switch (theirs.operation) {
    case Operation::kDelete:
    case Operation::kUpdate:
    case Operation::kRewrite:
    case Operation::kUpdateConfig:
      return true;  // Rebase looks at the fragments
    default:
      return IsHarmless(theirs.operation);
  }
}

bool Compatible(const Table& base, const Change& mine, const Transaction& theirs) {
  const bool columns_rewritten = theirs.operation == Operation::kUpdate &&
                                 (theirs.update_mode != 0 || !theirs.modified_fields.empty());
  if (mine.schema != nullptr || columns_rewritten) {
    return false;
  }
  // A change may carry several things at once; each has to pass.
  const bool config =
      mine.config.empty() && mine.table_metadata.empty() && !mine.replace_table_metadata;
  const bool indexes = mine.new_indices.empty() && mine.removed_indices.empty();
  switch (mine.effective_kind()) {
    case ChangeKind::kOverwrite:
    case ChangeKind::kRestore:
      return false;
    case ChangeKind::kRewrite:
      if (!CompatibleRewrite(theirs)) {
        return false;
      }
      break;
    case ChangeKind::kAppend:
    case ChangeKind::kDelete:
    case ChangeKind::kUpdate:
      if (!CompatibleRows(base, mine, theirs)) {
        return false;
      }
      break;
    case ChangeKind::kCreateIndex:
    case ChangeKind::kUpdateConfig:
    case ChangeKind::kAuto:
      break;
  }
  return (config || CompatibleConfig(mine, theirs)) && (indexes || CompatibleIndex(mine, theirs));
}

}  // namespace

Status CheckOperations(const Table& base, const Change& mine, const Transaction& theirs) {
  if (Compatible(base, mine, theirs)) {
    return Status::OK();
  }
  return Conflict(
      "commit.conflict",
      fmt::format("another writer committed {} to {} since version {}; read again and "
                  "build the change anew",
                  OperationName(theirs.operation), base.location().path, base.version()),
      {.object = base.location().path});
}

}  // namespace omnigraph::lance
