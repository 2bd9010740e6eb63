#include "omnigraph/graph/schema/physical.h"

#include <arrow/type.h>

namespace omnigraph::schema {
namespace {

std::shared_ptr<arrow::DataType> ArrowScalar(ScalarType type) {
  switch (type) {
    case ScalarType::kString:
      return arrow::utf8();
    case ScalarType::kBool:
      return arrow::boolean();
    case ScalarType::kI32:
      return arrow::int32();
    case ScalarType::kI64:
      return arrow::int64();
    case ScalarType::kU32:
      return arrow::uint32();
    case ScalarType::kU64:
      return arrow::uint64();
    case ScalarType::kF32:
      return arrow::float32();
    case ScalarType::kF64:
      return arrow::float64();
    case ScalarType::kDate:
      return arrow::date32();
    case ScalarType::kDateTime:
      return arrow::timestamp(arrow::TimeUnit::MILLI, "UTC");
    case ScalarType::kBlob:
      return arrow::large_binary();
  }
  return arrow::null();
}

arrow::FieldVector FieldsOf(const TypeDef& type) {
  arrow::FieldVector fields = {arrow::field(kIdColumn, arrow::utf8(), false)};
  if (type.is_edge()) {
    fields.push_back(arrow::field(kSrcColumn, arrow::utf8(), false));
    fields.push_back(arrow::field(kDstColumn, arrow::utf8(), false));
  }
  for (const Property& property : type.properties) {
    if (property.name != kIdColumn) {
      fields.push_back(
          arrow::field(property.name, ArrowTypeOf(property.type), property.type.nullable));
    }
  }
  return fields;
}

}  // namespace

std::shared_ptr<arrow::DataType> ArrowTypeOf(const PropertyType& type) {
  switch (type.form) {
    case PropertyType::Form::kScalar:
      return ArrowScalar(type.scalar);
    case PropertyType::Form::kList:
      return arrow::list(arrow::field("item", ArrowScalar(type.scalar), true));
    case PropertyType::Form::kEnum:
      return arrow::utf8();
    case PropertyType::Form::kVector:
      return arrow::fixed_size_list(arrow::field("item", arrow::float32(), true), type.dimension);
  }
  return arrow::null();
}

std::shared_ptr<arrow::Schema> ArrowSchemaOf(const TypeDef& type) {
  return arrow::schema(FieldsOf(type));
}

std::shared_ptr<arrow::Schema> ArrowLogSchemaOf(const TypeDef& type) {
  arrow::FieldVector fields = FieldsOf(type);
  fields.push_back(arrow::field(kTombstoneColumn, arrow::boolean(), false));
  return arrow::schema(std::move(fields));
}

int ColumnOf(const TypeDef& type, int property) {
  if (type.properties[static_cast<size_t>(property)].name == kIdColumn) {
    return 0;
  }
  int column = type.is_edge() ? 3 : 1;
  for (int i = 0; i < property; ++i) {
    column += type.properties[static_cast<size_t>(i)].name == kIdColumn ? 0 : 1;
  }
  return column;
}

int ColumnOf(const TypeDef& type, const Member& member) {
  switch (member.kind) {
    case Member::Kind::kSrc:
      return 1;
    case Member::Kind::kDst:
      return 2;
    case Member::Kind::kProperty:
      return ColumnOf(type, member.property);
  }
  return -1;
}

}  // namespace omnigraph::schema
