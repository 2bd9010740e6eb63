#include "logical_type.h"

#include <arrow/type_traits.h>

#include <charconv>
#include <utility>
#include <vector>

namespace omnigraph::lance {
namespace {

using arrow::TimeUnit;

constexpr std::pair<std::string_view, arrow::Type::type> kPlainNames[] = {
    {"null", arrow::Type::NA},
    {"bool", arrow::Type::BOOL},
    {"int8", arrow::Type::INT8},
    {"int16", arrow::Type::INT16},
    {"int32", arrow::Type::INT32},
    {"int64", arrow::Type::INT64},
    {"uint8", arrow::Type::UINT8},
    {"uint16", arrow::Type::UINT16},
    {"uint32", arrow::Type::UINT32},
    {"uint64", arrow::Type::UINT64},
    {"halffloat", arrow::Type::HALF_FLOAT},
    {"float", arrow::Type::FLOAT},
    {"double", arrow::Type::DOUBLE},
    {"string", arrow::Type::STRING},
    {"large_string", arrow::Type::LARGE_STRING},
    {"binary", arrow::Type::BINARY},
    {"large_binary", arrow::Type::LARGE_BINARY},
    {"date32:day", arrow::Type::DATE32},
    {"date64:ms", arrow::Type::DATE64},
    {"struct", arrow::Type::STRUCT},
    {"map", arrow::Type::MAP},
};

std::string_view UnitName(TimeUnit::type unit) {
  constexpr std::string_view kNames[] = {"s", "ms", "us", "ns"};
  return kNames[static_cast<int>(unit)];
}

bool ParseUnit(std::string_view text, TimeUnit::type* unit) {
  for (int i = 0; i < 4; ++i) {
    if (text == UnitName(static_cast<TimeUnit::type>(i))) {
      *unit = static_cast<TimeUnit::type>(i);
      return true;
    }
  }
  return false;
}

Status UnknownType(std::string_view logical_type) {
  return Unsupported("lance.schema.logical_type", "read a field of logical type '" +
                                                      std::string(logical_type) +
                                                      "': this type is not known or not built");
}

std::shared_ptr<arrow::DataType> PlainType(arrow::Type::type id) {
  switch (id) {
    case arrow::Type::NA:
      return arrow::null();
    case arrow::Type::BOOL:
      return arrow::boolean();
    case arrow::Type::INT8:
      return arrow::int8();
    case arrow::Type::INT16:
      return arrow::int16();
    case arrow::Type::INT32:
      return arrow::int32();
    case arrow::Type::INT64:
      return arrow::int64();
    case arrow::Type::UINT8:
      return arrow::uint8();
    case arrow::Type::UINT16:
      return arrow::uint16();
    case arrow::Type::UINT32:
      return arrow::uint32();
    case arrow::Type::UINT64:
      return arrow::uint64();
    case arrow::Type::HALF_FLOAT:
      return arrow::float16();
    case arrow::Type::FLOAT:
      return arrow::float32();
    case arrow::Type::DOUBLE:
      return arrow::float64();
    case arrow::Type::STRING:
      return arrow::utf8();
    case arrow::Type::LARGE_STRING:
      return arrow::large_utf8();
    case arrow::Type::BINARY:
      return arrow::binary();
    case arrow::Type::LARGE_BINARY:
      return arrow::large_binary();
    case arrow::Type::DATE32:
      return arrow::date32();
    case arrow::Type::DATE64:
      return arrow::date64();
    default:
      return nullptr;
  }
}

/// The integer at the end of `text` after its last ':'; false when there is none in 1..2^31-1.
bool SplitTrailingNumber(std::string_view text, std::string_view* head, int32_t* number) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return false;
  }
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
  *head = text.substr(0, colon);
  return error == std::errc() && end == digits.data() + digits.size() && *number > 0;
}

Result<std::shared_ptr<arrow::DataType>> TimestampType(std::string_view text) {
  const std::string_view rest = text.substr(std::string_view("timestamp:").size());
  const size_t colon = rest.find(':');
  TimeUnit::type unit;
  if (!ParseUnit(rest.substr(0, colon), &unit)) {
    return UnknownType(text);
  }
  const std::string zone(colon == std::string_view::npos ? "-" : rest.substr(colon + 1));
  return zone == "-" ? arrow::timestamp(unit) : arrow::timestamp(unit, zone);
}

Result<std::shared_ptr<arrow::DataType>> DecimalType(std::string_view text) {
  std::string_view head;
  std::string_view prefix;
  int32_t scale = 0;
  int32_t precision = 0;
  // A scale may be zero, which SplitTrailingNumber does not take.
  const size_t colon = text.rfind(':');
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), scale);
  head = text.substr(0, colon);
  if (error != std::errc() || end != digits.data() + digits.size() ||
      !SplitTrailingNumber(head, &prefix, &precision)) {
    return UnknownType(text);
  }
  Result<std::shared_ptr<arrow::DataType>> type = UnknownType(text);
  if (prefix == "decimal:128") {
    type = arrow::Decimal128Type::Make(precision, scale);
  } else if (prefix == "decimal:256") {
    type = arrow::Decimal256Type::Make(precision, scale);
  }
  return type.ok() ? type : UnknownType(text);
}

Result<std::string> FixedSizeListName(const arrow::FixedSizeListType& type) {
  if (HasChildFields(*type.value_type())) {
    return Unsupported("lance.schema.type", "store " + type.ToString() +
                                                ": fixed-size lists hold primitive values only");
  }
  OG_ASSIGN_OR_RETURN(const std::string item, LogicalTypeOf(*type.value_type()));
  if (type.list_size() <= 0 || arrow::is_base_binary_like(type.value_type()->id()) ||
      type.value_type()->id() == arrow::Type::NA) {
    return Unsupported("lance.schema.type", "store " + type.ToString() +
                                                ": items must be of fixed width and at least one");
  }
  return "fixed_size_list:" + item + ":" + std::to_string(type.list_size());
}

}  // namespace

bool HasChildFields(const arrow::DataType& type) {
  return type.id() == arrow::Type::STRUCT || type.id() == arrow::Type::LIST ||
         type.id() == arrow::Type::LARGE_LIST || type.id() == arrow::Type::MAP;
}

std::optional<int64_t> FixedBits(const arrow::DataType& type) {
  int64_t bits = 0;
  switch (type.id()) {
    case arrow::Type::FIXED_SIZE_BINARY:
      // The type's own bit_width() is an int, and wraps.
      bits = 8 * int64_t{static_cast<const arrow::FixedSizeBinaryType&>(type).byte_width()};
      break;
    case arrow::Type::FIXED_SIZE_LIST: {
      const auto& list = static_cast<const arrow::FixedSizeListType&>(type);
      bits = FixedBits(*list.value_type()).value_or(0) * list.list_size();
      break;
    }
    case arrow::Type::DICTIONARY:
      break;
    default:
      bits = type.bit_width();
      break;
  }
  return bits > 0 && bits <= kValueBitsMax ? std::optional(bits) : std::nullopt;
}

Result<std::string> LogicalTypeOf(const arrow::DataType& type) {
  for (const auto& [name, id] : kPlainNames) {
    if (id == type.id()) {
      return std::string(name);
    }
  }
  switch (type.id()) {
    case arrow::Type::FIXED_SIZE_BINARY: {
      const auto& fixed = static_cast<const arrow::FixedSizeBinaryType&>(type);
      if (fixed.byte_width() > 0) {
        return "fixed_size_binary:" + std::to_string(fixed.byte_width());
      }
      break;
    }
    case arrow::Type::TIME32:
    case arrow::Type::TIME64: {
      const auto unit = UnitName(static_cast<const arrow::TimeType&>(type).unit());
      return (type.id() == arrow::Type::TIME32 ? "time32:" : "time64:") + std::string(unit);
    }
    case arrow::Type::TIMESTAMP: {
      const auto& stamp = static_cast<const arrow::TimestampType&>(type);
      return "timestamp:" + std::string(UnitName(stamp.unit())) + ":" +
             (stamp.timezone().empty() ? "-" : stamp.timezone());
    }
    case arrow::Type::DURATION:
      return "duration:" +
             std::string(UnitName(static_cast<const arrow::DurationType&>(type).unit()));
    case arrow::Type::DECIMAL128:
    case arrow::Type::DECIMAL256: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      return (type.id() == arrow::Type::DECIMAL128 ? "decimal:128:" : "decimal:256:") +
             std::to_string(decimal.precision()) + ":" + std::to_string(decimal.scale());
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST: {
      const auto& list = static_cast<const arrow::BaseListType&>(type);
      const std::string name = type.id() == arrow::Type::LIST ? "list" : "large_list";
      return list.value_type()->id() == arrow::Type::STRUCT ? name + ".struct" : name;
    }
    case arrow::Type::FIXED_SIZE_LIST:
      return FixedSizeListName(static_cast<const arrow::FixedSizeListType&>(type));
    case arrow::Type::DICTIONARY:
      return LogicalTypeOf(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      break;
  }
  return Unsupported("lance.schema.type", "store a column of type " + type.ToString());
}

namespace {

/// Types around a type, such as fixed-size lists of fixed-size lists, are read recursively.
Result<std::shared_ptr<arrow::DataType>> LeafTypeAt(std::string_view logical_type, int depth) {
  if (depth > kTypeDepthMax) {
    return Unsupported("lance.schema.logical_type",
                       "read a field of a logical type that is nested "
                       "deeper than " +
                           std::to_string(kTypeDepthMax));
  }
  for (const auto& [name, id] : kPlainNames) {
    if (name == logical_type) {
      auto plain = PlainType(id);
      return plain != nullptr ? Result<std::shared_ptr<arrow::DataType>>(plain)
                              : UnknownType(logical_type);
    }
  }
  std::string_view head;
  int32_t number = 0;
  TimeUnit::type unit;
  const std::string_view text = logical_type;
  if (text.starts_with("timestamp:")) {
    return TimestampType(text);
  }
  if (text.starts_with("decimal:")) {
    return DecimalType(text);
  }
  if (text.starts_with("duration:") && ParseUnit(text.substr(9), &unit)) {
    return arrow::duration(unit);
  }
  if (text == "time32:s" || text == "time32:ms") {
    return arrow::time32(text == "time32:s" ? TimeUnit::SECOND : TimeUnit::MILLI);
  }
  if (text == "time64:us" || text == "time64:ns") {
    return arrow::time64(text == "time64:us" ? TimeUnit::MICRO : TimeUnit::NANO);
  }
  if (text.starts_with("fixed_size_binary:") && SplitTrailingNumber(text, &head, &number) &&
      head == "fixed_size_binary") {
    auto type = arrow::fixed_size_binary(number);
    return FixedBits(*type) ? Result(std::move(type)) : UnknownType(logical_type);
  }
  if (text.starts_with("fixed_size_list:") && SplitTrailingNumber(text, &head, &number) &&
      head.size() > 16) {
    OG_ASSIGN_OR_RETURN(auto item, LeafTypeAt(head.substr(16), depth + 1));
    auto type = arrow::fixed_size_list(arrow::field("item", std::move(item)), number);
    return FixedBits(*type) ? Result(std::move(type)) : UnknownType(logical_type);
  }
  if (text.starts_with("dict:") && text.find(':', 5) != std::string_view::npos) {
    // dict:VALUE:INDEX:ORDERED; the value type may itself hold colons.
    const size_t ordered = text.rfind(':');
    const size_t index = text.rfind(':', ordered - 1);
    if (index != std::string_view::npos && index > 5) {
      return LeafTypeAt(text.substr(5, index - 5), depth + 1);
    }
  }
  return UnknownType(logical_type);
}

}  // namespace

Result<std::shared_ptr<arrow::DataType>> LeafTypeOf(std::string_view logical_type) {
  return LeafTypeAt(logical_type, 0);
}

}  // namespace omnigraph::lance
