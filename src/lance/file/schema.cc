#include "omnigraph/lance/file/schema.h"

#include <arrow/util/key_value_metadata.h>

#include <algorithm>
#include <functional>

#include "lance/file.pb.h"
#include "logical_type.h"
#include "omnigraph/lance/proto/serialize.h"
#include "schema_proto.h"

namespace omnigraph::lance {
namespace {

constexpr int kMaxDepth = 64;

std::map<std::string, std::string> MetadataOf(
    const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) {
  std::map<std::string, std::string> entries;
  for (int64_t i = 0; metadata != nullptr && i < metadata->size(); ++i) {
    entries[metadata->key(i)] = metadata->value(i);
  }
  return entries;
}

std::shared_ptr<const arrow::KeyValueMetadata> ToArrowMetadata(
    const std::map<std::string, std::string>& entries) {
  if (entries.empty()) {
    return nullptr;
  }
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (const auto& [key, value] : entries) {
    keys.push_back(key);
    values.push_back(value);
  }
  return arrow::key_value_metadata(std::move(keys), std::move(values));
}

Status AppendFields(const arrow::Field& field, int32_t parent_id, int depth, int32_t* next_id,
                    std::vector<Field>* fields) {
  if (depth > kMaxDepth) {
    return Unsupported("lance.schema.type", "store " + field.name() + ": nested deeper than " +
                                                std::to_string(kMaxDepth));
  }
  Field out;
  out.id = (*next_id)++;
  out.parent_id = parent_id;
  out.name = field.name();
  out.nullable = field.nullable();
  out.metadata = MetadataOf(field.metadata());
  OG_ASSIGN_OR_RETURN(out.logical_type, LogicalTypeOf(*field.type()));
  const int32_t id = out.id;
  fields->push_back(std::move(out));
  if (HasChildFields(*field.type())) {
    if (field.type()->num_fields() == 0) {
      return Unsupported("lance.schema.type",
                         "store " + field.name() + ": a struct without fields");
    }
    for (const auto& child : field.type()->fields()) {
      OG_RETURN_NOT_OK(AppendFields(*child, id, depth + 1, next_id, fields));
    }
  }
  return Status::OK();
}

Status BadTree(const Field& field, const std::string& what) {
  return Corruption("lance.schema.tree",
                    "field " + std::to_string(field.id) + " ('" + field.name + "', " +
                        field.logical_type + ") " + what,
                    "schema");
}

/// Reads the depth-first list once, field by field.
class TreeBuilder {
 public:
  explicit TreeBuilder(const std::vector<Field>& fields) : fields_(fields) {}

  bool done() const { return next_ == fields_.size(); }
  const Field& peek() const { return fields_[next_]; }

  Result<std::shared_ptr<arrow::Field>> Next(int depth) {
    const Field& field = fields_[next_++];
    if (depth > kMaxDepth) {
      return BadTree(field, "is nested too deep");
    }
    std::vector<std::shared_ptr<arrow::Field>> children;
    while (!done() && peek().parent_id == field.id) {
      OG_ASSIGN_OR_RETURN(auto child, Next(depth + 1));
      children.push_back(std::move(child));
    }
    OG_ASSIGN_OR_RETURN(auto type, TypeOf(field, children));
    return arrow::field(field.name, std::move(type), field.nullable,
                        ToArrowMetadata(field.metadata));
  }

 private:
  static Result<std::shared_ptr<arrow::DataType>> TypeOf(
      const Field& field, const std::vector<std::shared_ptr<arrow::Field>>& children) {
    if (field.logical_type == "struct") {
      return children.empty() ? Result<std::shared_ptr<arrow::DataType>>(Unsupported(
                                    "lance.schema.logical_type", "a struct without fields"))
                              : arrow::struct_(children);
    }
    const bool list = field.logical_type == "list" || field.logical_type == "list.struct";
    const bool large =
        field.logical_type == "large_list" || field.logical_type == "large_list.struct";
    if (list || large || field.logical_type == "map") {
      if (children.size() != 1) {
        return BadTree(field, "has " + std::to_string(children.size()) + " children, needs one");
      }
      if (list || large) {
        return list ? arrow::list(children[0]) : arrow::large_list(children[0]);
      }
      if (children[0]->type()->id() != arrow::Type::STRUCT ||
          children[0]->type()->num_fields() != 2) {
        return BadTree(field, "has no struct of key and value");
      }
      return std::make_shared<arrow::MapType>(children[0]->WithNullable(false)->WithType(
          arrow::struct_({children[0]->type()->field(0)->WithNullable(false),
                          children[0]->type()->field(1)})));
    }
    if (!children.empty()) {
      return Unsupported("lance.schema.logical_type", "field '" + field.name + "' of type " +
                                                          field.logical_type + " has children");
    }
    return LeafTypeOf(field.logical_type);
  }

  const std::vector<Field>& fields_;
  size_t next_ = 0;
};

}  // namespace

Result<Schema> Schema::FromArrow(const arrow::Schema& schema, int32_t first_id) {
  std::vector<Field> fields;
  int32_t next_id = first_id;
  for (const auto& field : schema.fields()) {
    OG_RETURN_NOT_OK(AppendFields(*field, -1, 0, &next_id, &fields));
  }
  return Schema(std::move(fields), MetadataOf(schema.metadata()));
}

Result<std::shared_ptr<arrow::Schema>> Schema::ToArrow() const {
  std::vector<std::shared_ptr<arrow::Field>> out;
  TreeBuilder builder(fields_);
  while (!builder.done()) {
    if (builder.peek().parent_id != -1) {
      return BadTree(builder.peek(),
                     "does not follow its parent " + std::to_string(builder.peek().parent_id));
    }
    OG_ASSIGN_OR_RETURN(auto field, builder.Next(0));
    out.push_back(std::move(field));
  }
  return arrow::schema(std::move(out), ToArrowMetadata(metadata_));
}

const Field* Schema::FindField(std::string_view name) const {
  const auto at = std::find_if(fields_.begin(), fields_.end(), [&](const Field& field) {
    return field.parent_id == -1 && field.name == name;
  });
  return at == fields_.end() ? nullptr : &*at;
}

const Field* Schema::FindField(int32_t id) const {
  const auto at = std::find_if(fields_.begin(), fields_.end(),
                               [&](const Field& field) { return field.id == id; });
  return at == fields_.end() ? nullptr : &*at;
}

int32_t Schema::max_field_id() const {
  int32_t max_id = -1;
  for (const Field& field : fields_) {
    max_id = std::max(max_id, field.id);
  }
  return max_id;
}

std::vector<const Field*> Schema::TopLevelFields() const {
  std::vector<const Field*> out;
  for (const Field& field : fields_) {
    if (field.parent_id == -1) {
      out.push_back(&field);
    }
  }
  return out;
}

std::vector<int32_t> Schema::LeafIds(int32_t id) const {
  std::vector<int32_t> leaves;
  std::vector<int32_t> path;  // open ancestors, outermost first
  for (size_t i = 0; i < fields_.size(); ++i) {
    const Field& field = fields_[i];
    while (!path.empty() && path.back() != field.parent_id) {
      path.pop_back();
    }
    if (path.empty() && field.id != id) {
      continue;
    }
    path.push_back(field.id);
    const bool has_children = i + 1 < fields_.size() && fields_[i + 1].parent_id == field.id;
    if (!has_children) {
      leaves.push_back(field.id);
    }
  }
  return leaves;
}

std::vector<int32_t> Schema::LeafIds() const {
  std::vector<int32_t> leaves;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (i + 1 == fields_.size() || fields_[i + 1].parent_id != fields_[i].id) {
      leaves.push_back(fields_[i].id);
    }
  }
  return leaves;
}

Result<Schema> Schema::Project(const std::vector<std::string>& names) const {
  Schema out({}, metadata_);
  for (const std::string& name : names) {
    const Field* top = FindField(name);
    if (top == nullptr) {
      return NotFound("lance.schema.field", "select column '" + name + "': no such field");
    }
    const auto begin = fields_.begin() + (top - fields_.data());
    auto end = begin + 1;
    while (end != fields_.end() && end->parent_id != -1) {
      ++end;
    }
    out.fields_.insert(out.fields_.end(), begin, end);
  }
  return out;
}

int CountLeaves(const arrow::DataType& type) {
  if (!HasChildFields(type)) {
    return 1;
  }
  int leaves = 0;
  for (const auto& child : type.fields()) {
    leaves += CountLeaves(*child->type());
  }
  return leaves;
}

pb::Field FieldToProto(const Field& field) {
  pb::Field out;
  // `carried` was produced by FieldFromProto, so it parses; a caller's garbage would be dropped.
  if (!out.ParseFromString(field.carried)) {
    out.Clear();
  }
  out.set_name(field.name);
  out.set_id(field.id);
  out.set_parent_id(field.parent_id);
  out.set_logical_type(field.logical_type);
  out.set_nullable(field.nullable);
  for (const auto& [key, value] : field.metadata) {
    (*out.mutable_metadata())[key] = value;
  }
  out.set_primary_key(field.primary_key_position > 0);
  out.set_primary_key_position(field.primary_key_position);
  return out;
}

Field FieldFromProto(const pb::Field& message) {
  Field out;
  out.name = message.name();
  out.id = message.id();
  out.parent_id = message.parent_id();
  out.logical_type = message.logical_type();
  out.nullable = message.nullable();
  for (const auto& [key, value] : message.metadata()) {
    out.metadata[key] = value;
  }
  out.primary_key_position = message.primary_key_position();
  if (message.primary_key() && out.primary_key_position == 0) {
    out.primary_key_position = 1;  // an older writer set the flag alone
  }
  pb::Field rest = message;
  rest.clear_name();
  rest.clear_id();
  rest.clear_parent_id();
  rest.clear_logical_type();
  rest.clear_nullable();
  rest.clear_metadata();
  rest.clear_primary_key();
  rest.clear_primary_key_position();
  out.carried = SerializeProto(rest);
  return out;
}

std::string EncodeField(const Field& field) {
  return SerializeProto(FieldToProto(field));
}

Result<Field> DecodeField(std::string_view bytes, std::string_view object) {
  pb::Field message;
  OG_RETURN_NOT_OK(ParseProto(bytes, object, &message));
  return FieldFromProto(message);
}

pb::FileSchema SchemaToProto(const Schema& schema) {
  pb::FileSchema out;
  for (const Field& field : schema.fields()) {
    *out.add_fields() = FieldToProto(field);
  }
  for (const auto& [key, value] : schema.metadata()) {
    (*out.mutable_metadata())[key] = value;
  }
  return out;
}

Schema SchemaFromProto(const pb::FileSchema& message) {
  std::vector<Field> fields;
  for (const pb::Field& field : message.fields()) {
    fields.push_back(FieldFromProto(field));
  }
  std::map<std::string, std::string> metadata;
  for (const auto& [key, value] : message.metadata()) {
    metadata[key] = value;
  }
  return Schema(std::move(fields), std::move(metadata));
}

}  // namespace omnigraph::lance
