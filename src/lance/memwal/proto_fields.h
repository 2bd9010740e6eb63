/// \file
/// What the codecs of this layer share: unknown fields as raw bytes, and UUIDs. For .cc files only.
#pragma once

#include <google/protobuf/message.h>

#include <optional>
#include <string>

#include "lance/memwal.pb.h"
#include "omnigraph/base/ids.h"

namespace omnigraph::lance {

/// The fields of `message` (not of its children) that its type does not declare, as they came.
std::string UnknownFieldsOf(const google::protobuf::Message& message);
/// Put them back.
void AddUnknownFields(const std::string& bytes, google::protobuf::Message* message);

void SetUuid(const Uuid& uuid, pb::ShardUuid* message);
/// Nothing unless it has 16 bytes.
std::optional<Uuid> GetUuid(const pb::ShardUuid& message);

}  // namespace omnigraph::lance
