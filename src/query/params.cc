#include "omnigraph/query/params.h"

#include <arrow/api.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::query {
namespace {

using schema::ScalarType;
using Form = schema::PropertyType::Form;
using simdjson::dom::element;
using simdjson::dom::element_type;
using ScalarRef = std::shared_ptr<arrow::Scalar>;

Status ParamError(std::string_view code, const BoundQuery& query, const BoundParam& param,
                  std::string message) {
  return Invalid(code, fmt::format("parameter `${}`: {}", param.name, message),
                 {.object = query.source, .property = param.name});
}

/// A whole number of a JSON number or, for 64-bit types, of a decimal string.
std::optional<int64_t> WholeNumber(const element& json, bool or_text) {
  int64_t value = 0;
  if (json.type() == element_type::INT64 && json.get(value) == simdjson::SUCCESS) {
    return value;
  }
  std::string_view text;
  if (!or_text || json.type() != element_type::STRING || json.get(text) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

template <typename T>
ScalarRef IntegerScalar(std::optional<int64_t> value) {
  if (!value || !std::in_range<T>(*value)) {
    return nullptr;
  }
  return arrow::MakeScalar(static_cast<T>(*value));
}

ScalarRef FloatScalar(const element& json, bool single) {
  double value = 0;
  if (!json.is_number() || json.get(value) != simdjson::SUCCESS || !std::isfinite(value)) {
    return nullptr;
  }
  if (!single) {
    return arrow::MakeScalar(value);
  }
  const auto narrow = static_cast<float>(value);
  return std::isfinite(narrow) ? arrow::MakeScalar(narrow) : nullptr;
}

ScalarRef TextScalar(ScalarType type, std::string_view text) {
  if (type == ScalarType::kString) {
    return arrow::MakeScalar(std::string(text));
  }
  if (type == ScalarType::kDate) {
    const auto days = schema::ParseDate(text);
    return days ? std::make_shared<arrow::Date32Scalar>(*days) : nullptr;
  }
  const auto millis = schema::ParseDateTime(text);
  schema::PropertyType date_time;
  date_time.scalar = type;
  return millis ? std::make_shared<arrow::TimestampScalar>(*millis, schema::ArrowTypeOf(date_time))
                : nullptr;
}

/// The value of one scalar; nullptr when the JSON value is not of the type.
ScalarRef ReadScalar(ScalarType type, const element& json) {
  std::string_view text;
  bool boolean = false;
  switch (type) {
    case ScalarType::kString:
    case ScalarType::kDate:
    case ScalarType::kDateTime:
      return json.get(text) == simdjson::SUCCESS ? TextScalar(type, text) : nullptr;
    case ScalarType::kBool:
      return json.get(boolean) == simdjson::SUCCESS ? arrow::MakeScalar(boolean) : nullptr;
    case ScalarType::kI32:
      return IntegerScalar<int32_t>(WholeNumber(json, false));
    case ScalarType::kU32:
      return IntegerScalar<uint32_t>(WholeNumber(json, false));
    case ScalarType::kI64:
      return IntegerScalar<int64_t>(WholeNumber(json, true));
    case ScalarType::kU64:
      return IntegerScalar<uint64_t>(WholeNumber(json, true));
    case ScalarType::kF32:
      return FloatScalar(json, true);
    case ScalarType::kF64:
      return FloatScalar(json, false);
    case ScalarType::kBlob:
      break;
  }
  return nullptr;
}

Result<ScalarRef> ReadItems(const BoundQuery& query, const BoundParam& param,
                            const simdjson::dom::array& items) {
  const schema::PropertyType& type = param.type.property;
  const bool is_vector = type.form == Form::kVector;
  if (is_vector && items.size() != static_cast<size_t>(type.dimension)) {
    return ParamError(
        "query.param_type", query, param,
        fmt::format("a Vector({}) has as many numbers, got {}", type.dimension, items.size()));
  }
  const std::shared_ptr<arrow::DataType> list_type = schema::ArrowTypeOf(type);
  OG_ASSIGN_OR_RETURN(const auto builder, arrow::MakeBuilder(list_type->field(0)->type()));
  size_t index = 0;
  for (const element item : items) {
    const ScalarRef value = ReadScalar(is_vector ? ScalarType::kF32 : type.scalar, item);
    if (value == nullptr) {
      return ParamError(
          "query.param_type", query, param,
          fmt::format("item {} is no {}", index, schema::ScalarTypeName(type.scalar)));
    }
    OG_RETURN_NOT_OK(builder->AppendScalar(*value));
    ++index;
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> array, builder->Finish());
  if (is_vector) {
    return std::make_shared<arrow::FixedSizeListScalar>(array, list_type);
  }
  return std::make_shared<arrow::ListScalar>(array, list_type);
}

Result<ScalarRef> ReadParam(const BoundQuery& query, const BoundParam& param, const element& json) {
  const schema::PropertyType& type = param.type.property;
  if (type.form == Form::kScalar) {
    ScalarRef value = ReadScalar(type.scalar, json);
    if (value == nullptr) {
      return ParamError("query.param_type", query, param,
                        fmt::format("{} is no {}", simdjson::minify(json), type.ToString()));
    }
    return value;
  }
  simdjson::dom::array items;
  if (json.get(items) != simdjson::SUCCESS) {
    return ParamError("query.param_type", query, param,
                      fmt::format("a {} is a JSON array", param.type.ToString()));
  }
  return ReadItems(query, param, items);
}

}  // namespace

Result<Parameters> ParseParameters(const BoundQuery& query, std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string text(json.empty() ? std::string_view("{}") : json);
  const auto error = parser.parse(text).get(object);
  if (error != simdjson::SUCCESS) {
    return Invalid("query.params_json",
                   fmt::format("the parameters are no JSON object ({}); write {{\"name\": value}}",
                               simdjson::error_message(error)),
                   {.object = query.source});
  }
  Parameters values;
  for (const BoundParam& param : query.params) {
    element member;
    const bool present = object.at_key(param.name).get(member) == simdjson::SUCCESS;
    if (present && !member.is_null()) {
      OG_ASSIGN_OR_RETURN(ScalarRef value, ReadParam(query, param, member));
      values.push_back(std::move(value));
    } else if (param.type.property.nullable) {
      values.push_back(arrow::MakeNullScalar(schema::ArrowTypeOf(param.type.property)));
    } else if (present) {
      return ParamError("query.param_null", query, param,
                        fmt::format("null, but {} is not nullable", param.type.ToString()));
    } else {
      return ParamError("query.param_missing", query, param,
                        fmt::format("a value of type {} is required", param.type.ToString()));
    }
  }
  return values;
}

}  // namespace omnigraph::query
