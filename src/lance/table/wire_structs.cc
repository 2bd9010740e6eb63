#include "wire_structs.h"

#include <fmt/format.h>
#include <google/protobuf/unknown_field_set.h>

#include <algorithm>

#include "omnigraph/lance/file/schema.h"
#include "roaring_codec.h"

namespace omnigraph::lance {
namespace {

constexpr uint64_t kFragmentRowsMax = uint64_t{1} << 32;

DataFileRef DataFileFromWire(const pb::DataFile& message) {
  DataFileRef file;
  file.path = message.path();
  file.field_ids.assign(message.fields().begin(), message.fields().end());
  file.column_indices.assign(message.column_indices().begin(), message.column_indices().end());
  file.major_version = message.major_version();
  file.minor_version = message.minor_version();
  file.size_bytes = message.size_bytes();
  if (message.has_base_id()) {
    file.base_id = message.base_id();
  }
  file.unknown = UnknownOf(message);
  return file;
}

void DataFileToWire(const DataFileRef& file, pb::DataFile* message) {
  message->set_path(file.path);
  message->mutable_fields()->Assign(file.field_ids.begin(), file.field_ids.end());
  message->mutable_column_indices()->Assign(file.column_indices.begin(), file.column_indices.end());
  message->set_major_version(file.major_version);
  message->set_minor_version(file.minor_version);
  message->set_size_bytes(file.size_bytes);
  if (file.base_id) {
    message->set_base_id(*file.base_id);
  }
  RestoreUnknown(file.unknown, message);
}

Result<DeletionFileRef> DeletionFileFromWire(const pb::DeletionFile& message,
                                             std::string_view object) {
  DeletionFileRef file;
  if (message.kind() > 1) {
    return Corruption("manifest.deletion_kind",
                      fmt::format("{} names a deletion file of kind {}", object, message.kind()),
                      object);
  }
  file.kind = static_cast<DeletionFileRef::Kind>(message.kind());
  file.read_version = message.read_version();
  file.id = message.id();
  file.deleted_rows = message.deleted_rows();
  if (message.has_base_id()) {
    file.base_id = message.base_id();
  }
  file.unknown = UnknownOf(message);
  return file;
}

void DeletionFileToWire(const DeletionFileRef& file, pb::DeletionFile* message) {
  message->set_kind(static_cast<uint32_t>(file.kind));
  message->set_read_version(file.read_version);
  message->set_id(file.id);
  message->set_deleted_rows(file.deleted_rows);
  if (file.base_id) {
    message->set_base_id(*file.base_id);
  }
  RestoreUnknown(file.unknown, message);
}

Status CheckFragment(const Fragment& fragment, std::string_view object) {
  const auto bad = [&](std::string_view what) {
    return Corruption("manifest.fragment",
                      fmt::format("fragment {} of {}: {}", fragment.id, object, what), object);
  };
  if (fragment.id > UINT32_MAX || fragment.physical_rows > kFragmentRowsMax) {
    return bad("id or row count beyond 32 bits");
  }
  if (fragment.deleted_rows() > fragment.physical_rows) {
    return bad("more rows deleted than there are");
  }
  for (const DataFileRef& file : fragment.files) {
    if (file.field_ids.size() != file.column_indices.size()) {
      return bad("a data file whose fields and columns do not pair");
    }
    if (file.path.empty()) {
      return bad("a data file without a name");
    }
  }
  return Status::OK();
}

}  // namespace

std::string UnknownOf(const google::protobuf::Message& message) {
  std::string bytes;
  const auto& unknown = message.GetReflection()->GetUnknownFields(message);
  if (!unknown.empty()) {
    unknown.SerializeToString(&bytes);
  }
  return bytes;
}

void RestoreUnknown(std::string_view unknown, google::protobuf::Message* message) {
  if (!unknown.empty()) {
    google::protobuf::UnknownFieldSet fields;
    OG_CHECK(fields.ParseFromArray(unknown.data(), static_cast<int>(unknown.size())));
    message->GetReflection()->MutableUnknownFields(message)->MergeFrom(fields);
  }
}

Result<Fragment> FragmentFromWire(const pb::Fragment& message, std::string_view object) {
  Fragment fragment;
  fragment.id = message.id();
  fragment.files.reserve(static_cast<size_t>(message.files_size()));
  for (const pb::DataFile& file : message.files()) {
    fragment.files.push_back(DataFileFromWire(file));
  }
  if (message.has_deletion_file()) {
    OG_ASSIGN_OR_RETURN(fragment.deletion_file,
                        DeletionFileFromWire(message.deletion_file(), object));
  }
  fragment.physical_rows = message.physical_rows();
  if (message.has_row_ids()) {
    fragment.row_ids = message.row_ids();
  }
  if (message.has_created_versions()) {
    fragment.created_versions = message.created_versions();
  }
  if (message.has_updated_versions()) {
    fragment.updated_versions = message.updated_versions();
  }
  fragment.unknown = UnknownOf(message);
  OG_RETURN_NOT_OK(CheckFragment(fragment, object));
  return fragment;
}

void FragmentToWire(const Fragment& fragment, pb::Fragment* message) {
  message->set_id(fragment.id);
  for (const DataFileRef& file : fragment.files) {
    DataFileToWire(file, message->add_files());
  }
  if (fragment.deletion_file) {
    DeletionFileToWire(*fragment.deletion_file, message->mutable_deletion_file());
  }
  message->set_physical_rows(fragment.physical_rows);
  if (fragment.row_ids) {
    message->set_row_ids(*fragment.row_ids);
  }
  if (fragment.created_versions) {
    message->set_created_versions(*fragment.created_versions);
  }
  if (fragment.updated_versions) {
    message->set_updated_versions(*fragment.updated_versions);
  }
  RestoreUnknown(fragment.unknown, message);
}

Result<IndexMetadata> IndexFromWire(const pb::Index& message, std::string_view object) {
  IndexMetadata index;
  const std::string& uuid = message.uuid().bytes();
  if (uuid.size() != index.uuid.bytes.size()) {
    return Corruption(
        "manifest.index_uuid",
        fmt::format("{} has an index whose uuid is {} bytes long", object, uuid.size()), object);
  }
  std::copy(uuid.begin(), uuid.end(), index.uuid.bytes.begin());
  index.field_ids.assign(message.fields().begin(), message.fields().end());
  index.name = message.name();
  index.dataset_version = message.dataset_version();
  index.has_fragment_bitmap = message.has_fragment_bitmap();
  if (message.has_fragment_bitmap()) {
    OG_ASSIGN_OR_RETURN(index.fragment_ids, ParseRoaringBitmap(message.fragment_bitmap(), object));
  }
  index.has_details = message.has_details();
  index.details_type_url = message.details().type_url();
  index.details_value = message.details().value();
  index.details_unknown = UnknownOf(message.details());
  if (message.has_index_version()) {
    index.index_version = message.index_version();
  }
  if (message.has_created_at_ms()) {
    index.created_at_ms = message.created_at_ms();
  }
  for (const pb::IndexFile& file : message.files()) {
    index.files.push_back(
        {.path = file.path(), .size_bytes = file.size_bytes(), .unknown = UnknownOf(file)});
  }
  index.unknown = UnknownOf(message);
  return index;
}

void IndexToWire(const IndexMetadata& index, pb::Index* message) {
  message->mutable_uuid()->set_bytes(index.uuid.bytes.data(), index.uuid.bytes.size());
  message->mutable_fields()->Assign(index.field_ids.begin(), index.field_ids.end());
  message->set_name(index.name);
  message->set_dataset_version(index.dataset_version);
  if (index.has_fragment_bitmap) {
    message->set_fragment_bitmap(EncodeRoaringBitmap(index.fragment_ids));
  }
  if (index.has_details) {
    message->mutable_details()->set_type_url(index.details_type_url);
    message->mutable_details()->set_value(index.details_value);
    RestoreUnknown(index.details_unknown, message->mutable_details());
  }
  if (index.index_version) {
    message->set_index_version(*index.index_version);
  }
  if (index.created_at_ms) {
    message->set_created_at_ms(*index.created_at_ms);
  }
  for (const IndexFileRef& file : index.files) {
    pb::IndexFile* out = message->add_files();
    out->set_path(file.path);
    out->set_size_bytes(file.size_bytes);
    RestoreUnknown(file.unknown, out);
  }
  RestoreUnknown(index.unknown, message);
}

Result<std::shared_ptr<const Schema>> SchemaFromWire(
    const google::protobuf::RepeatedPtrField<std::string>& fields,
    const google::protobuf::Map<std::string, std::string>& metadata, std::string_view object) {
  std::vector<Field> decoded;
  decoded.reserve(static_cast<size_t>(fields.size()));
  for (const std::string& bytes : fields) {
    OG_ASSIGN_OR_RETURN(Field field, DecodeField(bytes, object));
    decoded.push_back(std::move(field));
  }
  return std::make_shared<const Schema>(std::move(decoded), SortedMap(metadata));
}

void SchemaToWire(const Schema& schema, google::protobuf::RepeatedPtrField<std::string>* fields,
                  google::protobuf::Map<std::string, std::string>* metadata) {
  for (const Field& field : schema.fields()) {
    *fields->Add() = EncodeField(field);
  }
  FillMap(schema.metadata(), metadata);
}

}  // namespace omnigraph::lance
