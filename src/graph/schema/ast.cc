#include "omnigraph/graph/schema/ast.h"

namespace omnigraph::schema {

std::string_view ScalarTypeName(ScalarType type) {
  switch (type) {
    case ScalarType::kString:
      return "String";
    case ScalarType::kBool:
      return "Bool";
    case ScalarType::kI32:
      return "I32";
    case ScalarType::kI64:
      return "I64";
    case ScalarType::kU32:
      return "U32";
    case ScalarType::kU64:
      return "U64";
    case ScalarType::kF32:
      return "F32";
    case ScalarType::kF64:
      return "F64";
    case ScalarType::kDate:
      return "Date";
    case ScalarType::kDateTime:
      return "DateTime";
    case ScalarType::kBlob:
      return "Blob";
  }
  return "";
}

bool PropertyType::is_numeric() const {
  if (form != Form::kScalar) {
    return false;
  }
  switch (scalar) {
    case ScalarType::kI32:
    case ScalarType::kI64:
    case ScalarType::kU32:
    case ScalarType::kU64:
    case ScalarType::kF32:
    case ScalarType::kF64:
      return true;
    default:
      return false;
  }
}

std::string PropertyType::ToString() const {
  std::string text;
  switch (form) {
    case Form::kScalar:
      text = ScalarTypeName(scalar);
      break;
    case Form::kList:
      text = "[" + std::string(ScalarTypeName(scalar)) + "]";
      break;
    case Form::kEnum:
      text = "enum(";
      for (size_t i = 0; i < enum_values.size(); ++i) {
        text += (i == 0 ? "" : ", ") + enum_values[i];
      }
      text += ")";
      break;
    case Form::kVector:
      text = "Vector(" + std::to_string(dimension) + ")";
      break;
  }
  if (nullable) {
    text += "?";
  }
  return text;
}

}  // namespace omnigraph::schema
