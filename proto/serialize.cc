#include "omnigraph/lance/proto/serialize.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <limits>

namespace omnigraph::lance {

std::string SerializeProto(const google::protobuf::MessageLite& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    OG_CHECK(message.SerializeToCodedStream(&coded));
  }
  return bytes;
}

Status ParseProto(std::string_view bytes, std::string_view object,
                  google::protobuf::MessageLite* message) {
  google::protobuf::LogSilencer silencer;  // damaged bytes are our error to report, not a log line
  const bool fits = bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max());
  if (!fits || !message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Corruption("lance.proto",
                      "parse " + message->GetTypeName() + " from " + std::to_string(bytes.size()) +
                          " bytes: not a message of this type",
                      object);
  }
  return Status::OK();
}

}  // namespace omnigraph::lance
