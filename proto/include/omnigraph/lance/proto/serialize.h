/// \file
/// Bytes of protobuf messages, in one way: deterministic out (maps sorted by key), total in. For
/// .cc files only.
#pragma once

#include <google/protobuf/message_lite.h>

#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// The bytes of `message`; two equal messages give equal bytes, also across processes.
std::string SerializeProto(const google::protobuf::MessageLite& message);

/// Parse `bytes` into `message`; fields that the message does not declare are kept.
/// Errors: kCorruption (`lance.proto`) that names `object`.
Status ParseProto(std::string_view bytes, std::string_view object,
                  google::protobuf::MessageLite* message);

}  // namespace omnigraph::lance
