/// \file
/// Schemas as protobuf messages, for .cc files of this folder.
#pragma once

#include "lance/file.pb.h"
#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {

pb::Field FieldToProto(const Field& field);
Field FieldFromProto(const pb::Field& message);
pb::FileSchema SchemaToProto(const Schema& schema);
Schema SchemaFromProto(const pb::FileSchema& message);

}  // namespace omnigraph::lance
