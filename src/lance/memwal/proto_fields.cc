#include "proto_fields.h"

#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

namespace omnigraph::lance {

std::string UnknownFieldsOf(const google::protobuf::Message& message) {
  std::string bytes;
  OG_CHECK(message.GetReflection()->GetUnknownFields(message).SerializeToString(&bytes));
  return bytes;
}

void AddUnknownFields(const std::string& bytes, google::protobuf::Message* message) {
  google::protobuf::UnknownFieldSet fields;
  OG_CHECK(fields.ParseFromString(bytes));
  message->GetReflection()->MutableUnknownFields(message)->MergeFrom(fields);
}

void SetUuid(const Uuid& uuid, pb::ShardUuid* message) {
  message->set_value(std::string(uuid.bytes.begin(), uuid.bytes.end()));
}

std::optional<Uuid> GetUuid(const pb::ShardUuid& message) {
  Uuid uuid;
  if (message.value().size() != uuid.bytes.size()) {
    return std::nullopt;
  }
  std::copy(message.value().begin(), message.value().end(), uuid.bytes.begin());
  return uuid;
}

}  // namespace omnigraph::lance
