#include "omnigraph/lance/table/transaction.h"

#include <fmt/format.h>

#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/proto/serialize.h"
#include "omnigraph/store/object_store.h"
#include "wire_structs.h"

namespace omnigraph::lance {
namespace {

using FragmentList = google::protobuf::RepeatedPtrField<pb::Fragment>;
using IndexList = google::protobuf::RepeatedPtrField<pb::Index>;

void FillFragments(const std::vector<Fragment>& fragments, FragmentList* out) {
  for (const Fragment& fragment : fragments) {
    FragmentToWire(fragment, out->Add());
  }
}

Status ReadFragments(const FragmentList& list, std::string_view object,
                     std::vector<Fragment>* out) {
  for (const pb::Fragment& wire : list) {
    OG_ASSIGN_OR_RETURN(Fragment fragment, FragmentFromWire(wire, object));
    out->push_back(std::move(fragment));
  }
  return Status::OK();
}

Status ReadIndices(const IndexList& list, std::string_view object,
                   std::vector<IndexMetadata>* out) {
  for (const pb::Index& wire : list) {
    OG_ASSIGN_OR_RETURN(IndexMetadata index, IndexFromWire(wire, object));
    out->push_back(std::move(index));
  }
  return Status::OK();
}

void FillMapUpdate(const MapUpdate& update, pb::MapUpdate* out) {
  for (const auto& [key, value] : update.entries) {
    pb::MapEntry* entry = out->add_entries();
    entry->set_key(key);
    if (value) {
      entry->set_value(*value);
    }
  }
  out->set_replace(update.replace);
}

MapUpdate ReadMapUpdate(const pb::MapUpdate& wire) {
  MapUpdate update;
  for (const pb::MapEntry& entry : wire.entries()) {
    update.entries[entry.key()] = entry.has_value() ? std::optional(entry.value()) : std::nullopt;
  }
  update.replace = wire.replace();
  return update;
}

void FillUpdate(const Transaction& from, pb::UpdateOperation* out) {
  out->mutable_removed_fragment_ids()->Assign(from.removed_fragment_ids.begin(),
                                              from.removed_fragment_ids.end());
  FillFragments(from.updated_fragments, out->mutable_updated_fragments());
  FillFragments(from.new_fragments, out->mutable_new_fragments());
  out->mutable_modified_fields()->Assign(from.modified_fields.begin(), from.modified_fields.end());
  out->mutable_bitmap_fields()->Assign(from.bitmap_fields.begin(), from.bitmap_fields.end());
  out->set_mode(from.update_mode);
  if (from.inserted_rows) {
    out->set_inserted_rows(*from.inserted_rows);
  }
}

Status ReadUpdate(const pb::UpdateOperation& wire, std::string_view object, Transaction* out) {
  out->removed_fragment_ids.assign(wire.removed_fragment_ids().begin(),
                                   wire.removed_fragment_ids().end());
  OG_RETURN_NOT_OK(ReadFragments(wire.updated_fragments(), object, &out->updated_fragments));
  OG_RETURN_NOT_OK(ReadFragments(wire.new_fragments(), object, &out->new_fragments));
  out->modified_fields.assign(wire.modified_fields().begin(), wire.modified_fields().end());
  out->bitmap_fields.assign(wire.bitmap_fields().begin(), wire.bitmap_fields().end());
  out->update_mode = wire.mode();
  if (wire.has_inserted_rows()) {
    out->inserted_rows = wire.inserted_rows();
  }
  return Status::OK();
}

void FillDelete(const Transaction& from, pb::DeleteOperation* out) {
  FillFragments(from.updated_fragments, out->mutable_updated_fragments());
  out->mutable_removed_fragment_ids()->Assign(from.removed_fragment_ids.begin(),
                                              from.removed_fragment_ids.end());
  out->set_predicate(from.predicate);
}

void FillOverwrite(const Transaction& from, pb::OverwriteOperation* out) {
  FillFragments(from.new_fragments, out->mutable_fragments());
  OG_CHECK(from.schema != nullptr);
  SchemaToWire(*from.schema, out->mutable_schema(), out->mutable_schema_metadata());
  FillMap(from.config, out->mutable_config());
}

void FillCreateIndex(const Transaction& from, pb::CreateIndexOperation* out) {
  for (const IndexMetadata& index : from.new_indices) {
    IndexToWire(index, out->add_new_indices());
  }
  for (const IndexMetadata& index : from.removed_indices) {
    IndexToWire(index, out->add_removed_indices());
  }
}

void FillRewrite(const Transaction& from, pb::RewriteOperation* out) {
  for (const RewriteGroup& group : from.groups) {
    pb::RewriteGroup* wire = out->add_groups();
    FillFragments(group.old_fragments, wire->mutable_old_fragments());
    FillFragments(group.new_fragments, wire->mutable_new_fragments());
  }
}

void FillUpdateConfig(const Transaction& from, pb::UpdateConfigOperation* out) {
  if (from.config_updates) {
    FillMapUpdate(*from.config_updates, out->mutable_config());
  }
  if (from.table_metadata_updates) {
    FillMapUpdate(*from.table_metadata_updates, out->mutable_table_metadata());
  }
  if (from.schema_metadata_updates) {
    FillMapUpdate(*from.schema_metadata_updates, out->mutable_schema_metadata());
  }
}

void ReadUpdateConfig(const pb::UpdateConfigOperation& wire, Transaction* out) {
  if (wire.has_config()) {
    out->config_updates = ReadMapUpdate(wire.config());
  }
  if (wire.has_table_metadata()) {
    out->table_metadata_updates = ReadMapUpdate(wire.table_metadata());
  }
  if (wire.has_schema_metadata()) {
    out->schema_metadata_updates = ReadMapUpdate(wire.schema_metadata());
  }
  out->has_field_metadata_updates = !wire.field_metadata().empty();
}

Status ReadOverwrite(const pb::OverwriteOperation& wire, std::string_view object,
                     Transaction* out) {
  OG_RETURN_NOT_OK(ReadFragments(wire.fragments(), object, &out->new_fragments));
  OG_ASSIGN_OR_RETURN(out->schema, SchemaFromWire(wire.schema(), wire.schema_metadata(), object));
  out->config = SortedMap(wire.config());
  return Status::OK();
}

Status ReadMerge(const pb::MergeOperation& wire, std::string_view object, Transaction* out) {
  OG_RETURN_NOT_OK(ReadFragments(wire.fragments(), object, &out->new_fragments));
  OG_ASSIGN_OR_RETURN(out->schema, SchemaFromWire(wire.schema(), wire.schema_metadata(), object));
  return Status::OK();
}

Status ReadOperation(const pb::Transaction& wire, std::string_view object, Transaction* out) {
  switch (wire.operation_case()) {
    case pb::Transaction::kAppend:
      return ReadFragments(wire.append().fragments(), object, &out->new_fragments);
    case pb::Transaction::kDelete:
      out->removed_fragment_ids.assign(wire.delete_().removed_fragment_ids().begin(),
                                       wire.delete_().removed_fragment_ids().end());
      out->predicate = wire.delete_().predicate();
      return ReadFragments(wire.delete_().updated_fragments(), object, &out->updated_fragments);
    case pb::Transaction::kOverwrite:
      return ReadOverwrite(wire.overwrite(), object, out);
    case pb::Transaction::kCreateIndex:
      OG_RETURN_NOT_OK(ReadIndices(wire.create_index().new_indices(), object, &out->new_indices));
      return ReadIndices(wire.create_index().removed_indices(), object, &out->removed_indices);
    case pb::Transaction::kRewrite:
      for (const pb::RewriteGroup& group : wire.rewrite().groups()) {
        RewriteGroup read;
        OG_RETURN_NOT_OK(ReadFragments(group.old_fragments(), object, &read.old_fragments));
        OG_RETURN_NOT_OK(ReadFragments(group.new_fragments(), object, &read.new_fragments));
        out->groups.push_back(std::move(read));
      }
      return Status::OK();
    case pb::Transaction::kMerge:
      return ReadMerge(wire.merge(), object, out);
    case pb::Transaction::kRestore:
      out->restored_version = wire.restore().version();
      return Status::OK();
    case pb::Transaction::kReserve:
      out->reserved_fragments = wire.reserve().fragments();
      return Status::OK();
    case pb::Transaction::kUpdate:
      return ReadUpdate(wire.update(), object, out);
    case pb::Transaction::kUpdateConfig:
      ReadUpdateConfig(wire.update_config(), out);
      return Status::OK();
    default:
      return Status::OK();  // its kind is all that we need to know
  }
}

}  // namespace

std::string_view OperationName(Operation operation) {
  switch (operation) {
    case Operation::kNone:
      return "unknown operation";
    case Operation::kAppend:
      return "append";
    case Operation::kDelete:
      return "delete";
    case Operation::kOverwrite:
      return "overwrite";
    case Operation::kCreateIndex:
      return "create_index";
    case Operation::kRewrite:
      return "rewrite";
    case Operation::kMerge:
      return "merge";
    case Operation::kRestore:
      return "restore";
    case Operation::kReserveFragments:
      return "reserve_fragments";
    case Operation::kUpdate:
      return "update";
    case Operation::kProject:
      return "project";
    case Operation::kUpdateConfig:
      return "update_config";
    case Operation::kDataReplacement:
      return "data_replacement";
    case Operation::kUpdateMemWalState:
      return "update_mem_wal_state";
    case Operation::kClone:
      return "clone";
    case Operation::kUpdateBases:
      return "update_bases";
    case Operation::kDataOverlay:
      return "data_overlay";
    case Operation::kFragmentReuse:
      return "fragment_reuse";
  }
  return "unknown operation";
}

std::string EncodeTransaction(const Transaction& transaction) {
  pb::Transaction wire;
  wire.set_read_version(transaction.read_version);
  wire.set_uuid(transaction.uuid);
  wire.set_tag(transaction.tag);
  FillMap(transaction.properties, wire.mutable_properties());
  switch (transaction.operation) {
    case Operation::kAppend:
      FillFragments(transaction.new_fragments, wire.mutable_append()->mutable_fragments());
      break;
    case Operation::kDelete:
      FillDelete(transaction, wire.mutable_delete_());
      break;
    case Operation::kOverwrite:
      FillOverwrite(transaction, wire.mutable_overwrite());
      break;
    case Operation::kCreateIndex:
      FillCreateIndex(transaction, wire.mutable_create_index());
      break;
    case Operation::kRewrite:
      FillRewrite(transaction, wire.mutable_rewrite());
      break;
    case Operation::kMerge:
      OG_CHECK(transaction.schema != nullptr);
      FillFragments(transaction.new_fragments, wire.mutable_merge()->mutable_fragments());
      SchemaToWire(*transaction.schema, wire.mutable_merge()->mutable_schema(),
                   wire.mutable_merge()->mutable_schema_metadata());
      break;
    case Operation::kRestore:
      wire.mutable_restore()->set_version(transaction.restored_version);
      break;
    case Operation::kReserveFragments:
      wire.mutable_reserve()->set_fragments(transaction.reserved_fragments);
      break;
    case Operation::kUpdate:
      FillUpdate(transaction, wire.mutable_update());
      break;
    case Operation::kUpdateConfig:
      FillUpdateConfig(transaction, wire.mutable_update_config());
      break;
    default:
      OG_CHECK(false);  // an operation that we only read
  }
  return SerializeProto(wire);
}

Result<Transaction> DecodeTransaction(std::string_view bytes, std::string_view object) {
  pb::Transaction wire;
  OG_RETURN_NOT_OK(ParseProto(bytes, object, &wire));
  Transaction transaction;
  transaction.read_version = wire.read_version();
  transaction.uuid = wire.uuid();
  transaction.tag = wire.tag();
  transaction.properties = SortedMap(wire.properties());
  transaction.operation = static_cast<Operation>(wire.operation_case());
  OG_RETURN_NOT_OK(ReadOperation(wire, object, &transaction));
  return transaction;
}

Result<std::optional<Transaction>> ReadTransaction(const TableLocation& location,
                                                   const Manifest& manifest) {
  if (!manifest.transaction.empty()) {
    return DecodeTransaction(manifest.transaction, location.Child(ManifestPath(manifest.version)));
  }
  if (manifest.transaction_file.empty()) {
    return std::nullopt;
  }
  const std::string object =
      location.Child(fmt::format("{}/{}", kTransactionsFolder, manifest.transaction_file));
  auto bytes = location.store->Get(object);
  if (!bytes.ok() && IsNotFound(bytes.status())) {
    return std::nullopt;
  }
  OG_RETURN_NOT_OK(bytes.status());
  return DecodeTransaction(std::string_view(**bytes), object);
}

}  // namespace omnigraph::lance
