/// \file
/// Between the value types of manifest.h and their wire messages. Private to this layer.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lance/table.pb.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/manifest.h"

namespace omnigraph::lance {

/// Errors of the readers: kCorruption (`manifest.*`) that names `object`.
Result<Fragment> FragmentFromWire(const pb::Fragment& message, std::string_view object);
void FragmentToWire(const Fragment& fragment, pb::Fragment* message);

Result<IndexMetadata> IndexFromWire(const pb::Index& message, std::string_view object);
void IndexToWire(const IndexMetadata& index, pb::Index* message);

/// Raw bytes of the fields that a message does not declare, and back.
std::string UnknownOf(const google::protobuf::Message& message);
void RestoreUnknown(std::string_view unknown, google::protobuf::Message* message);

template <typename Map>
std::map<std::string, std::string> SortedMap(const Map& map) {
  return std::map<std::string, std::string>(map.begin(), map.end());
}
template <typename Map>
void FillMap(const std::map<std::string, std::string>& from, Map* to) {
  for (const auto& [key, value] : from) {
    (*to)[key] = value;
  }
}

/// Fields and metadata of a schema. Errors: kCorruption, kUnsupported as Schema.
Result<std::shared_ptr<const Schema>> SchemaFromWire(
    const google::protobuf::RepeatedPtrField<std::string>& fields,
    const google::protobuf::Map<std::string, std::string>& metadata, std::string_view object);
void SchemaToWire(const Schema& schema, google::protobuf::RepeatedPtrField<std::string>* fields,
                  google::protobuf::Map<std::string, std::string>* metadata);

}  // namespace omnigraph::lance
