#include "row_json.h"

#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/base64.h>
#include <arrow/util/decimal.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "omnigraph/base/status.h"

namespace omnigraph::testing {
namespace {

template <typename ArrayType>
auto ValueAt(const arrow::Array& array, int64_t row) {
  return static_cast<const ArrayType&>(array).Value(row);
}

double HalfToDouble(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double fraction = half & 1023;
  const double sign = (half & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) {
    return sign * fraction / 1024 / 16384;
  }
  return sign * (1 + fraction / 1024) * std::exp2(exponent - 15);
}

std::string JsonOfNumber(const arrow::Array& array, int64_t row, JsonStyle style) {
  const bool exact = style == JsonStyle::kExact;
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      return ValueAt<arrow::BooleanArray>(array, row) ? "true" : "false";
    case arrow::Type::HALF_FLOAT: {
      const uint16_t bits = ValueAt<arrow::HalfFloatArray>(array, row);
      return exact ? fmt::format("\"{:04x}\"", bits) : fmt::format("{}", HalfToDouble(bits));
    }
    case arrow::Type::FLOAT: {
      const float value = ValueAt<arrow::FloatArray>(array, row);
      return exact ? fmt::format("\"{:08x}\"", std::bit_cast<uint32_t>(value))
                   : fmt::format("{}", double{value});
    }
    case arrow::Type::DOUBLE: {
      const double value = ValueAt<arrow::DoubleArray>(array, row);
      return exact ? fmt::format("\"{:016x}\"", std::bit_cast<uint64_t>(value))
                   : fmt::format("{}", value);
    }
    case arrow::Type::DECIMAL128: {
      const auto text =
          arrow::Decimal128(ValueAt<arrow::Decimal128Array>(array, row)).ToIntegerString();
      return exact ? "\"" + text + "\"" : "\"\\\"" + text + "\\\"\"";
    }
    case arrow::Type::DECIMAL256:
      return "\"" +
             arrow::Decimal256(ValueAt<arrow::Decimal256Array>(array, row)).ToIntegerString() +
             "\"";
    default:
      return (*array.GetScalar(row))->ToString();  // integers
  }
}

/// Milliseconds per unit times 1000.
int64_t MicrosPer(arrow::TimeUnit::type unit) {
  return unit == arrow::TimeUnit::SECOND ? 1'000'000 : unit == arrow::TimeUnit::MILLI ? 1'000 : 1;
}

std::string JsonOfTime(const arrow::Array& array, int64_t row, JsonStyle style) {
  int64_t value = 0;
  if (arrow::bit_width(array.type_id()) == 32) {
    value = array.data()->GetValues<int32_t>(1)[row];
  } else {
    value = array.data()->GetValues<int64_t>(1)[row];
  }
  if (style == JsonStyle::kJavaScript && array.type_id() == arrow::Type::DATE32) {
    value *= 86'400'000;
  }
  if (style == JsonStyle::kJavaScript && array.type_id() == arrow::Type::TIMESTAMP) {
    value =
        value * MicrosPer(static_cast<const arrow::TimestampType&>(*array.type()).unit()) / 1000;
  }
  return fmt::format("{}", value);
}

std::string JsonOfBinary(std::string_view bytes, JsonStyle style) {
  if (style == JsonStyle::kExact) {
    return "\"" + arrow::util::base64_encode(bytes) + "\"";
  }
  std::string out = "{";
  for (size_t i = 0; i < bytes.size(); ++i) {
    out += fmt::format("{}\"{}\":{}", i == 0 ? "" : ",", i, static_cast<uint8_t>(bytes[i]));
  }
  return out + "}";
}

std::string JsonOfItems(const arrow::Array& items, int64_t begin, int64_t count, JsonStyle style) {
  std::string out = "[";
  for (int64_t i = begin; i < begin + count; ++i) {
    out += (i == begin ? "" : ",") + JsonOfValue(items, i, style);
  }
  return out + "]";
}

std::string JsonOfMap(const arrow::MapArray& map, int64_t row, JsonStyle style) {
  std::string out = "[";
  for (int64_t i = map.value_offset(row); i < map.value_offset(row) + map.value_length(row); ++i) {
    out += fmt::format("{}[{},{}]", out.size() == 1 ? "" : ",", JsonOfValue(*map.keys(), i, style),
                       JsonOfValue(*map.items(), i, style));
  }
  return out + "]";
}

std::string JsonOfStruct(const arrow::StructArray& array, int64_t row, JsonStyle style) {
  std::string out = "{";
  for (int i = 0; i < array.num_fields(); ++i) {
    out += fmt::format("{}{}:{}", i == 0 ? "" : ",", JsonString(array.type()->field(i)->name()),
                       JsonOfValue(*array.field(i), row, style));
  }
  return out + "}";
}

std::string JsonOfNested(const arrow::Array& array, int64_t row, JsonStyle style) {
  switch (array.type_id()) {
    case arrow::Type::STRUCT:
      return JsonOfStruct(static_cast<const arrow::StructArray&>(array), row, style);
    case arrow::Type::MAP:
      return JsonOfMap(static_cast<const arrow::MapArray&>(array), row, style);
    case arrow::Type::LIST: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      return JsonOfItems(*list.values(), list.value_offset(row), list.value_length(row), style);
    }
    case arrow::Type::LARGE_LIST: {
      const auto& list = static_cast<const arrow::LargeListArray&>(array);
      return JsonOfItems(*list.values(), list.value_offset(row), list.value_length(row), style);
    }
    default: {
      const auto& list = static_cast<const arrow::FixedSizeListArray&>(array);
      return JsonOfItems(*list.values(), list.value_offset(row), list.list_type()->list_size(),
                         style);
    }
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size();) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte == '"' || byte == '\\') {
      out += {'\\', text[i++]};
      continue;
    }
    if (byte >= 0x20 && byte < 0x7f) {
      out += text[i++];
      continue;
    }
    static constexpr std::string_view kShort = "btn?fr";  // \b \t \n \f \r, by code from 8 on
    if (byte >= 8 && byte <= 13 && byte != 11) {
      out += {'\\', kShort[byte - 8]};
      ++i;
      continue;
    }
    const size_t size = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    uint32_t code = size == 1 ? byte : byte & (0xff >> (size + 1));
    for (size_t k = 1; k < size && i + k < text.size(); ++k) {
      code = code << 6 | (static_cast<uint8_t>(text[i + k]) & 0x3f);
    }
    i += size;
    if (code >= 0x10000) {
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + ((code - 0x10000) >> 10),
                         0xdc00 + ((code - 0x10000) & 0x3ff));
    } else {
      out += fmt::format("\\u{:04x}", code);
    }
  }
  return out + "\"";
}

std::string JsonOfValue(const arrow::Array& array, int64_t row, JsonStyle style) {
  if (array.IsNull(row) || array.type_id() == arrow::Type::NA) {
    return "null";
  }
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return JsonString(static_cast<const arrow::StringArray&>(array).GetView(row));
    case arrow::Type::LARGE_STRING:
      return JsonString(static_cast<const arrow::LargeStringArray&>(array).GetView(row));
    case arrow::Type::BINARY:
      return JsonOfBinary(static_cast<const arrow::BinaryArray&>(array).GetView(row), style);
    case arrow::Type::LARGE_BINARY:
      return JsonOfBinary(static_cast<const arrow::LargeBinaryArray&>(array).GetView(row), style);
    case arrow::Type::FIXED_SIZE_BINARY:
      return JsonOfBinary(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row),
                          style);
    case arrow::Type::DATE32:
    case arrow::Type::DATE64:
    case arrow::Type::TIME32:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP:
    case arrow::Type::DURATION:
      return JsonOfTime(array, row, style);
    case arrow::Type::STRUCT:
    case arrow::Type::MAP:
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST:
      return JsonOfNested(array, row, style);
    default:
      return JsonOfNumber(array, row, style);
  }
}

std::string JsonOfRow(const arrow::RecordBatch& batch, int64_t row, int first, int count,
                      JsonStyle style) {
  std::string out = "{";
  for (int i = first; i < first + count; ++i) {
    out +=
        fmt::format("{}{}:{}", i == first ? "" : ",", JsonString(batch.schema()->field(i)->name()),
                    JsonOfValue(*batch.column(i), row, style));
  }
  return out + "}";
}

}  // namespace omnigraph::testing
