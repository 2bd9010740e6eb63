#include "omnigraph/lance/memwal/mem_wal_index.h"

#include <fmt/format.h>

#include "lance/memwal.pb.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/lance/proto/serialize.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"
#include "proto_fields.h"

namespace omnigraph::lance {
namespace {

void ToProto(const ShardingField& field, pb::ShardingFieldSpec* message) {
  message->set_field_id(field.field_id);
  message->mutable_source_ids()->Add(field.source_ids.begin(), field.source_ids.end());
  if (field.transform.has_value()) {
    message->set_transform(*field.transform);
  }
  if (field.expression.has_value()) {
    message->set_expression(*field.expression);
  }
  message->set_result_type(field.result_type);
  message->mutable_parameters()->insert(field.parameters.begin(), field.parameters.end());
  AddUnknownFields(field.unknown_fields, message);
}

ShardingField FromProto(const pb::ShardingFieldSpec& message) {
  ShardingField field;
  field.field_id = message.field_id();
  field.source_ids.assign(message.source_ids().begin(), message.source_ids().end());
  if (message.has_transform()) {
    field.transform = message.transform();
  }
  if (message.has_expression()) {
    field.expression = message.expression();
  }
  field.result_type = message.result_type();
  field.parameters.insert(message.parameters().begin(), message.parameters().end());
  field.unknown_fields = UnknownFieldsOf(message);
  return field;
}

ShardingSpec FromProto(const pb::ShardingSpecification& message) {
  ShardingSpec spec;
  spec.spec_id = message.spec_id();
  for (const pb::ShardingFieldSpec& field : message.fields()) {
    spec.fields.push_back(FromProto(field));
  }
  spec.unknown_fields = UnknownFieldsOf(message);
  return spec;
}

}  // namespace

MemWalIndexDetails UnshardedDetails(std::vector<std::string> maintained_indexes,
                                    std::map<std::string, std::string> writer_defaults) {
  ShardingField field;
  field.field_id = "bucket";  // the name that official writers give to the only field of every spec
  field.transform = "unsharded";
  field.result_type = "int32";
  ShardingSpec spec;
  spec.spec_id = 1;
  spec.fields.push_back(std::move(field));
  MemWalIndexDetails details;
  details.num_shards = 1;
  details.sharding_specs.push_back(std::move(spec));
  details.maintained_indexes = std::move(maintained_indexes);
  details.writer_defaults = std::move(writer_defaults);
  details.maintain_all_indexes = false;
  return details;
}

std::string EncodeMemWalDetails(const MemWalIndexDetails& details) {
  pb::MemWalDetails message;
  message.set_num_shards(details.num_shards);
  for (const ShardingSpec& spec : details.sharding_specs) {
    pb::ShardingSpecification* added = message.add_sharding_specs();
    added->set_spec_id(spec.spec_id);
    for (const ShardingField& field : spec.fields) {
      ToProto(field, added->add_fields());
    }
    AddUnknownFields(spec.unknown_fields, added);
  }
  for (const std::string& name : details.maintained_indexes) {
    message.add_maintained_indexes(name);
  }
  for (const auto& [shard, generation] : details.compacted_generations) {
    pb::ShardCompactedGeneration* added = message.add_compacted_generations();
    SetUuid(shard, added->mutable_shard_id());
    added->set_generation(generation);
  }
  for (const std::string& progress : details.index_catchup) {
    message.add_index_catchup(progress);
  }
  message.mutable_writer_defaults()->insert(details.writer_defaults.begin(),
                                            details.writer_defaults.end());
  if (details.maintain_all_indexes.has_value()) {
    message.set_maintain_all_indexes(*details.maintain_all_indexes);
  }
  AddUnknownFields(details.unknown_fields, &message);
  return SerializeProto(message);
}

Result<MemWalIndexDetails> ParseMemWalDetails(std::string_view bytes, std::string_view object) {
  pb::MemWalDetails message;
  OG_RETURN_NOT_OK(ParseProto(bytes, object, &message));
  MemWalIndexDetails details;
  details.num_shards = message.num_shards();
  for (const pb::ShardingSpecification& spec : message.sharding_specs()) {
    details.sharding_specs.push_back(FromProto(spec));
  }
  details.maintained_indexes.assign(message.maintained_indexes().begin(),
                                    message.maintained_indexes().end());
  for (const pb::ShardCompactedGeneration& compacted : message.compacted_generations()) {
    const std::optional<Uuid> shard = GetUuid(compacted.shard_id());
    if (!shard.has_value()) {
      return Corruption("memwal.index_details",
                        "read the details of the log's index entry: a shard id is not 16 bytes",
                        object);
    }
    details.compacted_generations[*shard] = compacted.generation();
  }
  details.index_catchup.assign(message.index_catchup().begin(), message.index_catchup().end());
  details.writer_defaults.insert(message.writer_defaults().begin(),
                                 message.writer_defaults().end());
  if (message.has_maintain_all_indexes()) {
    details.maintain_all_indexes = message.maintain_all_indexes();
  }
  details.unknown_fields = UnknownFieldsOf(message);
  return details;
}

IndexMetadata MakeMemWalIndex(const MemWalIndexDetails& details, uint64_t dataset_version) {
  IndexMetadata index;
  index.uuid = runtime::NewUuid();
  index.name = kMemWalIndexName;
  index.dataset_version = dataset_version;
  index.has_fragment_bitmap = false;
  index.details_type_url = kMemWalDetailsTypeUrl;
  index.details_value = EncodeMemWalDetails(details);
  index.index_version = 0;
  index.created_at_ms = static_cast<uint64_t>(runtime::WallNow().count() / 1000);
  return index;
}

const IndexMetadata* FindMemWalIndex(const std::vector<IndexMetadata>& indices) {
  for (const IndexMetadata& index : indices) {
    if (index.name == kMemWalIndexName) {
      return &index;
    }
  }
  return nullptr;
}

}  // namespace omnigraph::lance
