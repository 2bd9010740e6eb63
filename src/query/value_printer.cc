#include "value_printer.h"

#include <charconv>
#include <cmath>

#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::query {
namespace {

template <typename T>
void AppendInteger(T value, std::string* out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  out->append(digits, end);
}

template <typename T>
void AppendReal(T value, std::string* out) {
  if (std::isfinite(value)) {
    schema::AppendFloat(value, out);
  } else {
    out->append("null");
  }
}

/// The dialect has no zone: every date and time is UTC.
std::string DateTimeText(int64_t unix_ms) {
  std::string text = schema::FormatDateTime(unix_ms);
  if (text.ends_with('Z')) {
    text.pop_back();
  }
  return text;
}

void AppendItems(const arrow::Array& items, int64_t begin, int64_t end, std::string* out) {
  out->push_back('[');
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) {
      out->push_back(',');
    }
    AppendJsonValue(items, i, out);
  }
  out->push_back(']');
}

void AppendObject(const arrow::StructArray& object, int64_t row, std::string* out) {
  out->push_back('{');
  bool first = true;
  for (int i = 0; i < object.num_fields(); ++i) {
    if (object.field(i)->IsNull(row)) {
      continue;
    }
    if (!first) {
      out->push_back(',');
    }
    first = false;
    schema::AppendJsonString(object.type()->field(i)->name(), out);
    out->push_back(':');
    AppendJsonValue(*object.field(i), row, out);
  }
  out->push_back('}');
}

/// A date, text or number in quotes or digits; empty for other types.
bool AppendScalar(const arrow::Array& array, int64_t row, std::string* out) {
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      out->append(static_cast<const arrow::BooleanArray&>(array).Value(row) ? "true" : "false");
      return true;
    case arrow::Type::INT32:
      AppendInteger(static_cast<const arrow::Int32Array&>(array).Value(row), out);
      return true;
    case arrow::Type::INT64:
      AppendInteger(static_cast<const arrow::Int64Array&>(array).Value(row), out);
      return true;
    case arrow::Type::UINT32:
      AppendInteger(static_cast<const arrow::UInt32Array&>(array).Value(row), out);
      return true;
    case arrow::Type::UINT64:
      AppendInteger(static_cast<const arrow::UInt64Array&>(array).Value(row), out);
      return true;
    case arrow::Type::FLOAT:
      AppendReal(static_cast<const arrow::FloatArray&>(array).Value(row), out);
      return true;
    case arrow::Type::DOUBLE:
      AppendReal(static_cast<const arrow::DoubleArray&>(array).Value(row), out);
      return true;
    case arrow::Type::STRING:
      schema::AppendJsonString(static_cast<const arrow::StringArray&>(array).GetView(row), out);
      return true;
    case arrow::Type::LARGE_STRING:
      schema::AppendJsonString(static_cast<const arrow::LargeStringArray&>(array).GetView(row),
                               out);
      return true;
    case arrow::Type::DATE32:
      schema::AppendJsonString(
          schema::FormatDate(static_cast<const arrow::Date32Array&>(array).Value(row)), out);
      return true;
    case arrow::Type::TIMESTAMP:
      schema::AppendJsonString(
          DateTimeText(static_cast<const arrow::TimestampArray&>(array).Value(row)), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

void AppendJsonValue(const arrow::Array& array, int64_t row, std::string* out) {
  if (array.IsNull(row)) {
    out->append("null");
    return;
  }
  if (AppendScalar(array, row, out)) {
    return;
  }
  switch (array.type_id()) {
    case arrow::Type::LIST: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      AppendItems(*list.values(), list.value_offset(row), list.value_offset(row + 1), out);
      break;
    }
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListArray&>(array);
      AppendItems(*list.values(), list.value_offset(row),
                  list.value_offset(row) + list.value_length(row), out);
      break;
    }
    case arrow::Type::STRUCT:
      AppendObject(static_cast<const arrow::StructArray&>(array), row, out);
      break;
    default:
      out->append("null");
  }
}

std::string PlainValue(const arrow::Array& array, int64_t row) {
  std::string text;
  if (array.IsNull(row)) {
    return "null";
  }
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return std::string(static_cast<const arrow::StringArray&>(array).GetView(row));
    case arrow::Type::LARGE_STRING:
      return std::string(static_cast<const arrow::LargeStringArray&>(array).GetView(row));
    case arrow::Type::DATE32:
      return schema::FormatDate(static_cast<const arrow::Date32Array&>(array).Value(row));
    case arrow::Type::TIMESTAMP:
      return DateTimeText(static_cast<const arrow::TimestampArray&>(array).Value(row));
    default:
      AppendJsonValue(array, row, &text);
      return text;
  }
}

}  // namespace omnigraph::query
