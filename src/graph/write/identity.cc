#include "identity.h"

#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::write {

using schema::Member;
using schema::PropertyType;
using schema::ScalarType;

void AppendCanonical(const PropertyType& type, const StagedValue& value, std::string* out) {
  switch (type.scalar) {
    case ScalarType::kString:
    case ScalarType::kBlob:
      out->append(value.text);
      break;
    case ScalarType::kBool:
      out->append(value.integer != 0 ? "true" : "false");
      break;
    case ScalarType::kI32:
    case ScalarType::kI64:
      out->append(std::to_string(value.integer));
      break;
    case ScalarType::kU32:
    case ScalarType::kU64:
      out->append(std::to_string(value.natural));
      break;
    case ScalarType::kF32:
      out->append(schema::CanonicalFloat(value.single));
      break;
    case ScalarType::kF64:
      out->append(schema::CanonicalFloat(value.real));
      break;
    case ScalarType::kDate:
      out->append(schema::FormatDate(value.integer));
      break;
    case ScalarType::kDateTime:
      out->append(schema::FormatDateTime(value.integer));
      break;
  }
}

namespace {

void AppendMember(const StagedRow& row, const Member& member, std::string* out) {
  switch (member.kind) {
    case Member::Kind::kSrc:
      out->append(row.src);
      break;
    case Member::Kind::kDst:
      out->append(row.dst);
      break;
    case Member::Kind::kProperty: {
      const auto index = static_cast<size_t>(member.property);
      AppendCanonical(row.type->properties[index].type, row.values[index], out);
      break;
    }
  }
}

}  // namespace

void DeriveId(const StagedRow& row, std::string* out) {
  if (row.type->key.size() == 1) {
    AppendMember(row, row.type->key.front(), out);
    return;
  }
  char separator = '[';
  std::string text;
  for (const Member& member : row.type->key) {
    out->push_back(separator);
    separator = ',';
    text.clear();
    AppendMember(row, member, &text);
    schema::AppendJsonString(text, out);
  }
  out->push_back(']');
}

}  // namespace omnigraph::write
