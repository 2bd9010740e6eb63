#include "tuple.h"

#include <arrow/api.h>

#include "omnigraph/base/bytes.h"
#include "omnigraph/graph/schema/physical.h"
#include "value_reader.h"

namespace omnigraph::write {
namespace {

template <typename Array>
void AppendFixed(const arrow::Array& array, int64_t row, std::string* bytes) {
  AppendLittle(bytes, static_cast<const Array&>(array).Value(row));
}

/// Both zeros are one value.
template <typename Array>
void AppendReal(const arrow::Array& array, int64_t row, std::string* bytes) {
  const auto value = static_cast<const Array&>(array).Value(row);
  AppendLittle(bytes, value == 0 ? decltype(value){0} : value);
}

void AppendCell(const arrow::Array& array, int64_t row, std::string* bytes) {
  switch (array.type_id()) {
    case arrow::Type::STRING: {
      const std::string_view text = static_cast<const arrow::StringArray&>(array).GetView(row);
      AppendLittle(bytes, static_cast<uint32_t>(text.size()));
      bytes->append(text);
      break;
    }
    case arrow::Type::BOOL:
      bytes->push_back(static_cast<const arrow::BooleanArray&>(array).Value(row) ? 1 : 0);
      break;
    case arrow::Type::INT32:
      AppendFixed<arrow::Int32Array>(array, row, bytes);
      break;
    case arrow::Type::INT64:
      AppendFixed<arrow::Int64Array>(array, row, bytes);
      break;
    case arrow::Type::UINT32:
      AppendFixed<arrow::UInt32Array>(array, row, bytes);
      break;
    case arrow::Type::UINT64:
      AppendFixed<arrow::UInt64Array>(array, row, bytes);
      break;
    case arrow::Type::FLOAT:
      AppendReal<arrow::FloatArray>(array, row, bytes);
      break;
    case arrow::Type::DOUBLE:
      AppendReal<arrow::DoubleArray>(array, row, bytes);
      break;
    case arrow::Type::DATE32:
      AppendFixed<arrow::Date32Array>(array, row, bytes);
      break;
    case arrow::Type::TIMESTAMP:
      AppendFixed<arrow::TimestampArray>(array, row, bytes);
      break;
    default:
      // The catalog lets no other type into a tuple.
      OG_CHECK(false);
  }
}

}  // namespace

std::string MemberName(const schema::TypeDef& type, const schema::Member& member) {
  switch (member.kind) {
    case schema::Member::Kind::kSrc:
      return "from";
    case schema::Member::Kind::kDst:
      return "to";
    case schema::Member::Kind::kProperty:
      break;
  }
  return type.properties[static_cast<size_t>(member.property)].name;
}

std::vector<std::string> MemberColumns(const schema::TypeDef& type,
                                       const std::vector<schema::Member>& members) {
  const auto physical = schema::ArrowSchemaOf(type);
  std::vector<std::string> names;
  for (const schema::Member& member : members) {
    names.push_back(physical->field(schema::ColumnOf(type, member))->name());
  }
  return names;
}

std::string EscapeNonAscii(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    if (lead < 0x80) {
      out.push_back(text[i++]);
      continue;
    }
    size_t size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    size = std::min(size, text.size() - i);
    uint32_t point = lead & (0xffu >> (size + 1));
    for (size_t k = 1; k < size; ++k) {
      point = point << 6 | (static_cast<uint8_t>(text[i + k]) & 0x3f);
    }
    std::string digits;
    do {
      digits.insert(digits.begin(), kHex[point & 15]);
      point >>= 4;
    } while (point != 0);
    out += "\\u{" + digits + "}";
    i += size;
  }
  return out;
}

TupleReader::TupleReader(const schema::TypeDef& type, const std::vector<schema::Member>& members,
                         const arrow::RecordBatch& batch) {
  for (const schema::Member& member : members) {
    columns_.push_back(batch.column(schema::ColumnOf(type, member)));
  }
}

TupleReader::TupleReader(size_t members, const arrow::RecordBatch& batch) {
  for (size_t i = 0; i < members; ++i) {
    columns_.push_back(batch.column(static_cast<int>(i)));
  }
}

bool TupleReader::Read(int64_t row, std::string* bytes) const {
  bytes->clear();
  for (const auto& column : columns_) {
    if (column->IsNull(row)) {
      return false;
    }
    AppendCell(*column, row, bytes);
  }
  return true;
}

std::string TupleReader::Shown(int64_t row) const {
  std::string text;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto scalar = columns_[i]->GetScalar(row);
    text += (i == 0 ? "'" : ", '") +
            write::Shown(scalar.ok() ? (*scalar)->ToString() : std::string()) + "'";
  }
  return text;
}

}  // namespace omnigraph::write
