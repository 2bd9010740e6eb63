#include "omnigraph/lance/file/schema.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

void SetRows(const Change& change, const FragmentEffects& effects, Transaction* transaction) {
  transaction->updated_fragments = effects.updated;
  transaction->removed_fragment_ids = effects.removed_ids;
  for (size_t i = 0; i < effects.added.size(); ++i) {
    const NewFragment& given = change.added[i];
    const bool keeps = given.kept && given.kept->row_ids.rows() == given.rows;
    transaction->new_fragments.push_back(Unassigned(effects.added[i], keeps));
  }
}

RewriteGroup GroupOf(const Table& base, const Change& change, const FragmentEffects& effects) {
  RewriteGroup group;
  for (const uint64_t id : change.removed_fragments) {
    group.old_fragments.push_back(*base.manifest().FindFragment(id));
  }
  group.new_fragments = effects.added;
  return group;
}

void SetIndices(const Table& base, const Change& change, Transaction* transaction) {
  transaction->new_indices = change.new_indices;
  for (const Uuid& uuid : change.removed_indices) {
    for (const IndexMetadata& index : base.manifest().indices) {
      if (index.uuid == uuid) {
        transaction->removed_indices.push_back(index);
      }
    }
  }
}

void SetConfig(const Change& change, Transaction* transaction) {
  if (!change.config.empty()) {
    transaction->config_updates = MapUpdate{.entries = change.config};
  }
  if (!change.table_metadata.empty() || change.replace_table_metadata) {
    transaction->table_metadata_updates =
        MapUpdate{.entries = change.table_metadata, .replace = change.replace_table_metadata};
  }
}

void SetOperation(const Table& base, const Change& change, const Manifest& manifest,
                  const FragmentEffects& effects, Transaction* transaction) {
  if (change.schema != nullptr && change.effective_kind() != ChangeKind::kRestore) {
    transaction->operation = Operation::kMerge;
    transaction->new_fragments = manifest.fragments;
    transaction->schema = manifest.schema;
    return;
  }
  switch (change.effective_kind()) {
    case ChangeKind::kAppend:
      transaction->operation = Operation::kAppend;
      SetRows(change, effects, transaction);
      return;
    case ChangeKind::kDelete:
      transaction->operation = Operation::kDelete;
      SetRows(change, effects, transaction);
      return;
    case ChangeKind::kUpdate:
      transaction->operation = Operation::kUpdate;
      SetRows(change, effects, transaction);
      transaction->bitmap_fields = AllFieldIds(*manifest.schema);
      return;
    case ChangeKind::kRewrite:
      transaction->operation = Operation::kRewrite;
      transaction->groups.push_back(GroupOf(base, change, effects));
      return;
    case ChangeKind::kOverwrite:
      transaction->operation = Operation::kOverwrite;
      SetRows(change, effects, transaction);
      transaction->schema = manifest.schema;
      return;
    case ChangeKind::kCreateIndex:
      transaction->operation = Operation::kCreateIndex;
      SetIndices(base, change, transaction);
      return;
    case ChangeKind::kRestore:
      transaction->operation = Operation::kRestore;
      transaction->restored_version = change.restored_version;
      return;
    case ChangeKind::kUpdateConfig:
    case ChangeKind::kAuto:
      transaction->operation = Operation::kUpdateConfig;
      SetConfig(change, transaction);
      return;
  }
}

}  // namespace

Fragment Unassigned(const Fragment& fragment, bool keeps_row_ids) {
  Fragment bare = fragment;
  bare.id = 0;
  if (!keeps_row_ids) {
    bare.row_ids.reset();
    bare.created_versions.reset();
    bare.updated_versions.reset();
  }
  return bare;
}

std::vector<uint32_t> AllFieldIds(const Schema& schema) {
  std::vector<uint32_t> ids;
  for (const Field& field : schema.fields()) {
    ids.push_back(static_cast<uint32_t>(field.id));
  }
  return ids;
}

Transaction TransactionOf(const Table& base, const Change& change, const Manifest& manifest,
                          const FragmentEffects& effects) {
  Transaction transaction;
  transaction.read_version = base.version();
  transaction.properties = change.transaction_properties;
  SetOperation(base, change, manifest, effects, &transaction);
  return transaction;
}

}  // namespace omnigraph::lance
