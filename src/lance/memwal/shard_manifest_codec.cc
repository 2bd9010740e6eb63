// Bytes of a shard manifest. docs/format/memwal.md.
#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include "lance/memwal.pb.h"
#include "omnigraph/lance/memwal/shard_manifest.h"
#include "omnigraph/lance/proto/serialize.h"
#include "proto_fields.h"

namespace omnigraph::lance {
namespace {

SsTableEntry FromProto(const pb::ShardSsTable& message) {
  SsTableEntry entry;
  entry.generation = message.generation();
  entry.path = message.path();
  if (message.has_in_memory_bytes()) {
    entry.in_memory_bytes = message.in_memory_bytes();
  }
  if (message.has_physical_rows()) {
    entry.physical_rows = message.physical_rows();
  }
  if (message.has_primary_key_bytes()) {
    entry.primary_key_bytes = message.primary_key_bytes();
  }
  entry.unknown_fields = UnknownFieldsOf(message);
  return entry;
}

void ToProto(const SsTableEntry& entry, pb::ShardSsTable* message) {
  message->set_generation(entry.generation);
  message->set_path(entry.path);
  if (entry.in_memory_bytes.has_value()) {
    message->set_in_memory_bytes(*entry.in_memory_bytes);
  }
  if (entry.physical_rows.has_value()) {
    message->set_physical_rows(*entry.physical_rows);
  }
  if (entry.primary_key_bytes.has_value()) {
    message->set_primary_key_bytes(*entry.primary_key_bytes);
  }
  AddUnknownFields(entry.unknown_fields, message);
}

OwnerMark FromProto(const pb::ShardOwnerMark& message) {
  return {.claim_id = message.claim_id(),
          .process_id = message.process_id(),
          .address = message.address(),
          .host_boot_id = message.host_boot_id(),
          .pid = message.pid(),
          .start_time = message.start_time()};
}

void ToProto(const OwnerMark& owner, pb::ShardOwnerMark* message) {
  message->set_claim_id(owner.claim_id);
  message->set_process_id(owner.process_id);
  message->set_address(owner.address);
  message->set_host_boot_id(owner.host_boot_id);
  message->set_pid(owner.pid);
  message->set_start_time(owner.start_time);
}

}  // namespace

std::string EncodeShardManifest(const ShardManifest& manifest) {
  OG_CHECK(!manifest.has_row_id_reservations);
  pb::ShardManifest message;
  message.set_version(manifest.version);
  message.set_writer_epoch(manifest.writer_epoch);
  message.set_replay_after(manifest.replay_after);
  message.set_last_seen(manifest.last_seen);
  message.set_current_generation(manifest.current_generation);
  for (const SsTableEntry& entry : manifest.sstables) {
    ToProto(entry, message.add_sstables());
  }
  message.set_spec_id(manifest.spec_id);
  SetUuid(manifest.shard_id, message.mutable_shard_id());
  message.set_status(manifest.status);
  if (manifest.owner.has_value()) {
    ToProto(*manifest.owner, message.mutable_owner());
  }
  AddUnknownFields(manifest.unknown_fields, &message);
  return SerializeProto(message);
}

Result<ShardManifest> DecodeShardManifest(std::string_view bytes, const Uuid& shard,
                                          uint64_t version, std::string_view object) {
  pb::ShardManifest message;
  const std::optional<Uuid> id =
      ParseProto(bytes, object, &message).ok() ? GetUuid(message.shard_id()) : std::nullopt;
  if (id != shard || message.version() != version) {
    return Corruption(
        "memwal.manifest",
        fmt::format("read version {} of the manifest of shard {}: {} bytes that are none", version,
                    shard.ToString(), bytes.size()),
        object);
  }
  ShardManifest manifest;
  manifest.version = message.version();
  manifest.writer_epoch = message.writer_epoch();
  manifest.replay_after = message.replay_after();
  manifest.last_seen = message.last_seen();
  manifest.current_generation = message.current_generation();
  for (const pb::ShardSsTable& entry : message.sstables()) {
    manifest.sstables.push_back(FromProto(entry));
  }
  manifest.spec_id = message.spec_id();
  manifest.shard_id = shard;
  manifest.status = message.status();
  manifest.has_row_id_reservations = message.row_id_reservations_size() > 0;
  if (message.has_owner()) {
    manifest.owner = FromProto(message.owner());
  }
  manifest.unknown_fields = UnknownFieldsOf(message);
  return manifest;
}

}  // namespace omnigraph::lance
