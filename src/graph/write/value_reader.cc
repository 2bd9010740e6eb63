#include "value_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "line_scan.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::write {
namespace {

namespace ondemand = simdjson::ondemand;
using schema::PropertyType;
using schema::ScalarType;

constexpr std::string_view kBase64Prefix = "base64:";

bool Refuse(Fault* fault, const char* at, const char* code, std::string message) {
  *fault = {at, code, std::move(message)};
  return false;
}

bool IsNull(std::string_view token) {
  return token == "null";
}

/// What a token is, in words; empty for what is no JSON value.
std::string_view KindOfToken(std::string_view token) {
  switch (token.empty() ? '\0' : token.front()) {
    case '"':
      return "a string";
    case '{':
      return "an object";
    case '[':
      return "an array";
    default:
      break;
  }
  if (token == "true" || token == "false") {
    return "a Bool";
  }
  if (IsNull(token)) {
    return "null";
  }
  return ClassifyNumber(token) != NumberForm::kNone ? "a number" : "";
}

/// The value is of another kind than the property, or no JSON at all.
bool RefuseKind(std::string_view name, std::string_view wanted, std::string_view token,
                Fault* fault) {
  const std::string_view kind = KindOfToken(token);
  if (kind.empty()) {
    return Refuse(fault, token.data(), "row.json", Shown(token) + " is no JSON value");
  }
  return Refuse(
      fault, token.data(), "row.type",
      "'" + std::string(name) + "' takes " + std::string(wanted) + ", found " + std::string(kind));
}

bool RefuseRange(std::string_view name, std::string_view type, std::string_view token,
                 Fault* fault) {
  return Refuse(fault, token.data(), "row.number_range",
                "'" + std::string(name) + "' is " + std::string(type) + ", which " + Shown(token) +
                    " does not fit");
}

/// An integer of at most 64 bits as sign and magnitude.
struct Integer {
  bool negative = false;
  uint64_t magnitude = 0;
};

/// Read an integer within [-2^63, 2^64 - 1]; `type` names the property's type in messages.
bool ReadInteger(std::string_view name, std::string_view type, std::string_view token, Integer* out,
                 Fault* fault) {
  const NumberForm form = ClassifyNumber(token);
  if (form == NumberForm::kNone) {
    return RefuseKind(name, "an integer (" + std::string(type) + ")", token, fault);
  }
  if (form == NumberForm::kReal) {
    return Refuse(fault, token.data(), "row.type",
                  "'" + std::string(name) + "' takes an integer (" + std::string(type) +
                      ") without fraction or exponent, found " + Shown(token));
  }
  out->negative = token.front() == '-';
  const char* first = token.data() + (out->negative ? 1 : 0);
  const auto parsed = std::from_chars(first, token.data() + token.size(), out->magnitude);
  if (out->magnitude == 0) {
    out->negative = false;
  }
  constexpr uint64_t kMostNegative = uint64_t{1} << 63;
  if (parsed.ec != std::errc() || (out->negative && out->magnitude > kMostNegative)) {
    return RefuseRange(name, type, token, fault);
  }
  return true;
}

/// Read a signed integer within [min, max].
bool ReadSigned(std::string_view name, std::string_view type, std::string_view token, int64_t min,
                int64_t max, int64_t* out, Fault* fault) {
  Integer integer;
  if (!ReadInteger(name, type, token, &integer, fault)) {
    return false;
  }
  constexpr auto kMostPositive = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool fits = integer.negative || integer.magnitude <= kMostPositive;
  const auto value =
      static_cast<int64_t>(integer.negative ? 0 - integer.magnitude : integer.magnitude);
  if (!fits || value < min || value > max) {
    return RefuseRange(name, type, token, fault);
  }
  *out = value;
  return true;
}

bool ReadUnsigned(std::string_view name, std::string_view type, std::string_view token,
                  uint64_t max, uint64_t* out, Fault* fault) {
  Integer integer;
  if (!ReadInteger(name, type, token, &integer, fault)) {
    return false;
  }
  if (integer.negative || integer.magnitude > max) {
    return RefuseRange(name, type, token, fault);
  }
  *out = integer.magnitude;
  return true;
}

float SlowParse(const std::string& text, float) {
  return std::strtof(text.c_str(), nullptr);
}
double SlowParse(const std::string& text, double) {
  return std::strtod(text.c_str(), nullptr);
}

/// Round to nearest at the width of T: too large is refused, too small becomes a zero.
template <typename T>
bool ReadReal(std::string_view name, std::string_view type, std::string_view token, T* out,
              Fault* fault) {
  if (ClassifyNumber(token) == NumberForm::kNone) {
    return RefuseKind(name, "a number (" + std::string(type) + ")", token, fault);
  }
  const auto parsed = std::from_chars(token.data(), token.data() + token.size(), *out);
  if (parsed.ec != std::errc()) {
    // Out of range does not say which way.
    *out = SlowParse(std::string(token), T{});
  }
  if (!std::isfinite(*out)) {
    return RefuseRange(name, type, token, fault);
  }
  return true;
}

bool ReadDate(std::string_view name, ondemand::value value, std::string_view token, int64_t* out,
              Fault* fault) {
  if (token.front() != '"') {
    if (ClassifyNumber(token) == NumberForm::kNone) {
      return RefuseKind(name, "a date as \"YYYY-MM-DD\" or a number of days", token, fault);
    }
    return ReadSigned(name, "a Date of the years 0000 to 9999", token, schema::kMinDateDays,
                      schema::kMaxDateDays, out, fault);
  }
  std::string_view text;
  if (!ReadText(name, value, token, &text, fault)) {
    return false;
  }
  const auto days = schema::ParseDate(text);
  if (!days.has_value()) {
    return Refuse(fault, token.data(), "row.date",
                  "'" + std::string(name) + "' takes a date that exists as \"YYYY-MM-DD\", found " +
                      Shown(token));
  }
  *out = *days;
  return true;
}

bool ReadDateTime(std::string_view name, ondemand::value value, std::string_view token,
                  int64_t* out, Fault* fault) {
  if (token.front() != '"') {
    if (ClassifyNumber(token) == NumberForm::kNone) {
      return RefuseKind(name, "an ISO 8601 date and time or a number of milliseconds", token,
                        fault);
    }
    return ReadSigned(name, "a DateTime of the years 0000 to 9999", token, schema::kMinDateTimeMs,
                      schema::kMaxDateTimeMs, out, fault);
  }
  std::string_view text;
  if (!ReadText(name, value, token, &text, fault)) {
    return false;
  }
  const auto ms = schema::ParseDateTime(text);
  if (!ms.has_value()) {
    return Refuse(fault, token.data(), "row.date",
                  "'" + std::string(name) +
                      "' takes an ISO 8601 date and time such as \"2024-05-01T12:00:00Z\", found " +
                      Shown(token));
  }
  *out = *ms;
  return true;
}

bool ReadBlob(std::string_view name, ondemand::value value, std::string_view token,
              std::deque<std::string>* scratch, StagedValue* out, Fault* fault) {
  std::string_view text;
  if (!ReadText(name, value, token, &text, fault)) {
    return false;
  }
  if (text.substr(0, kBase64Prefix.size()) != kBase64Prefix) {
    return Refuse(
        fault, token.data(), "row.blob",
        "'" + std::string(name) + "' takes \"base64:<bytes>\"; a URI as a Blob is not supported");
  }
  auto bytes = schema::DecodeBase64(text.substr(kBase64Prefix.size()));
  if (!bytes.has_value()) {
    return Refuse(fault, token.data(), "row.blob",
                  "'" + std::string(name) + "' is no base64 with padding");
  }
  scratch->push_back(std::move(*bytes));
  out->text = scratch->back();
  return true;
}

bool ReadScalar(std::string_view name, ScalarType type, ondemand::value value,
                std::string_view token, std::deque<std::string>* scratch, StagedValue* out,
                Fault* fault) {
  const std::string_view type_name = schema::ScalarTypeName(type);
  switch (type) {
    case ScalarType::kString:
      return ReadText(name, value, token, &out->text, fault);
    case ScalarType::kBool:
      if (token != "true" && token != "false") {
        return RefuseKind(name, "true or false", token, fault);
      }
      out->integer = token == "true" ? 1 : 0;
      return true;
    case ScalarType::kI32:
      return ReadSigned(name, type_name, token, INT32_MIN, INT32_MAX, &out->integer, fault);
    case ScalarType::kI64:
      return ReadSigned(name, type_name, token, INT64_MIN, INT64_MAX, &out->integer, fault);
    case ScalarType::kU32:
      return ReadUnsigned(name, type_name, token, UINT32_MAX, &out->natural, fault);
    case ScalarType::kU64:
      return ReadUnsigned(name, type_name, token, UINT64_MAX, &out->natural, fault);
    case ScalarType::kF32:
      return ReadReal(name, type_name, token, &out->single, fault);
    case ScalarType::kF64:
      return ReadReal(name, type_name, token, &out->real, fault);
    case ScalarType::kDate:
      return ReadDate(name, value, token, &out->integer, fault);
    case ScalarType::kDateTime:
      return ReadDateTime(name, value, token, &out->integer, fault);
    case ScalarType::kBlob:
      return ReadBlob(name, value, token, scratch, out, fault);
  }
  return true;
}

bool ReadEnum(const schema::Property& property, ondemand::value value, std::string_view token,
              StagedValue* out, Fault* fault) {
  if (!ReadText(property.name, value, token, &out->text, fault)) {
    return false;
  }
  const auto& members = property.type.enum_values;
  if (!std::binary_search(members.begin(), members.end(), out->text)) {
    PropertyType shown = property.type;
    shown.nullable = false;
    return Refuse(fault, token.data(), "constraint.enum",
                  "'" + property.name + "' takes " + shown.ToString() + ", found " + Shown(token));
  }
  return true;
}

/// Start reading an array; a string or a number in its place is a kind of its own.
bool OpenArray(const schema::Property& property, ondemand::value& value, std::string_view token,
               ondemand::array* out, Fault* fault) {
  if (token.empty() || token.front() != '[') {
    return RefuseKind(property.name,
                      property.type.form == PropertyType::Form::kVector
                          ? "an array of " + std::to_string(property.type.dimension) + " numbers"
                          : "an array (" + property.type.ToString() + ")",
                      token, fault);
  }
  if (value.get_array().get(*out) != simdjson::SUCCESS) {
    return Refuse(fault, token.data(), "row.json", "this array is not closed");
  }
  return true;
}

/// Run `each(value, token)` over the elements of an array; null is never an element.
template <typename Each>
bool ReadElements(const schema::Property& property, ondemand::array array, const char* at,
                  Fault* fault, Each each) {
  for (auto element : array) {
    ondemand::value value;
    if (std::move(element).get(value) != simdjson::SUCCESS) {
      return Refuse(fault, at, "row.json", "the array of '" + property.name + "' is no JSON");
    }
    const std::string_view token = TokenOf(value);
    if (IsNull(token)) {
      return Refuse(fault, token.data(), "row.list_element",
                    "an element of '" + property.name + "' is null; leave it out");
    }
    if (!each(value, token)) {
      return false;
    }
  }
  return true;
}

bool ReadList(const schema::Property& property, ondemand::value value, std::string_view token,
              StagedRow* row, std::deque<std::string>* scratch, StagedValue* out, Fault* fault) {
  ondemand::array array;
  if (!OpenArray(property, value, token, &array, fault)) {
    return false;
  }
  out->begin = static_cast<uint32_t>(row->items.size());
  const bool good = ReadElements(property, array, token.data(), fault,
                                 [&](ondemand::value element, std::string_view element_token) {
                                   StagedValue item;
                                   item.state = StagedValue::State::kValue;
                                   if (!ReadScalar(property.name, property.type.scalar, element,
                                                   element_token, scratch, &item, fault)) {
                                     return false;
                                   }
                                   row->items.push_back(item);
                                   return true;
                                 });
  out->end = static_cast<uint32_t>(row->items.size());
  return good;
}

bool ReadVector(const schema::Property& property, ondemand::value value, std::string_view token,
                StagedRow* row, StagedValue* out, Fault* fault) {
  ondemand::array array;
  if (!OpenArray(property, value, token, &array, fault)) {
    return false;
  }
  out->begin = static_cast<uint32_t>(row->floats.size());
  if (!ReadElements(property, array, token.data(), fault,
                    [&](ondemand::value, std::string_view element_token) {
                      float number = 0;
                      if (!ReadReal(property.name, "a vector of F32", element_token, &number,
                                    fault)) {
                        return false;
                      }
                      row->floats.push_back(number);
                      return true;
                    })) {
    return false;
  }
  out->end = static_cast<uint32_t>(row->floats.size());
  if (out->end - out->begin != static_cast<uint32_t>(property.type.dimension)) {
    return Refuse(fault, token.data(), "row.vector_width",
                  "'" + property.name + "' takes " + std::to_string(property.type.dimension) +
                      " numbers, found " + std::to_string(out->end - out->begin));
  }
  return true;
}

/// -1, 0, 1 for less, equal, greater.
int CompareInteger(const Integer& value, const schema::Bound& bound) {
  if (!bound.is_integer) {
    const double real = value.negative ? -static_cast<double>(value.magnitude)
                                       : static_cast<double>(value.magnitude);
    return real < bound.real ? -1 : real > bound.real ? 1 : 0;
  }
  const bool bound_negative = bound.negative && bound.magnitude != 0;
  if (value.negative != bound_negative) {
    return value.negative ? -1 : 1;
  }
  const int order = value.magnitude < bound.magnitude   ? -1
                    : value.magnitude > bound.magnitude ? 1
                                                        : 0;
  return value.negative ? -order : order;
}

/// Compare at the width at which the value is stored, so that a bound equals its own text.
int CompareValue(ScalarType type, const StagedValue& value, const schema::Bound& bound) {
  switch (type) {
    case ScalarType::kF32: {
      const auto limit = static_cast<float>(bound.real);
      return value.single < limit ? -1 : value.single > limit ? 1 : 0;
    }
    case ScalarType::kF64:
      return value.real < bound.real ? -1 : value.real > bound.real ? 1 : 0;
    case ScalarType::kU32:
    case ScalarType::kU64:
      return CompareInteger({false, value.natural}, bound);
    default:
      return CompareInteger(
          {value.integer < 0, value.integer < 0 ? 0 - static_cast<uint64_t>(value.integer)
                                                : static_cast<uint64_t>(value.integer)},
          bound);
  }
}

bool CheckRules(const PropertyPlan& plan, const StagedValue& value, std::string_view token,
                Fault* fault) {
  const schema::Property& property = *plan.property;
  for (const schema::RangeRule* rule : plan.ranges) {
    const bool low =
        rule->low.has_value() && CompareValue(property.type.scalar, value, *rule->low) < 0;
    const bool high =
        rule->high.has_value() && CompareValue(property.type.scalar, value, *rule->high) > 0;
    if (low || high) {
      return Refuse(fault, token.data(), "constraint.range",
                    "'" + property.name + "' is " + Shown(token) + "; @range allows " +
                        (rule->low.has_value() ? rule->low->text : "") + ".." +
                        (rule->high.has_value() ? rule->high->text : ""));
    }
  }
  for (size_t i = 0; i < plan.checks.size(); ++i) {
    if (!plan.patterns[i]->Search(value.text)) {
      return Refuse(fault, token.data(), "constraint.check",
                    "'" + property.name + "' is " + Shown(token) +
                        ", which does not match @check " + plan.checks[i]->pattern);
    }
  }
  return true;
}

}  // namespace

Result<std::vector<PropertyPlan>> PlanProperties(const schema::TypeDef& type) {
  std::vector<PropertyPlan> plans(type.properties.size());
  for (size_t i = 0; i < plans.size(); ++i) {
    plans[i].property = &type.properties[i];
  }
  for (const schema::RangeRule& rule : type.ranges) {
    plans[static_cast<size_t>(rule.property)].ranges.push_back(&rule);
  }
  for (const schema::CheckRule& rule : type.checks) {
    PropertyPlan& plan = plans[static_cast<size_t>(rule.property)];
    Result<std::unique_ptr<Pattern>> pattern = Pattern::Make(rule.pattern);
    if (!pattern.ok()) {
      Place place;
      place.property = type.name + "." + plan.property->name;
      return WithPlace(pattern.status(), place);
    }
    plan.checks.push_back(&rule);
    plan.patterns.push_back(std::move(pattern).ValueUnsafe());
  }
  return plans;
}

std::string_view TokenOf(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' ||
                            token.back() == '\n')) {
    token.remove_suffix(1);
  }
  return token;
}

std::string Shown(std::string_view token) {
  constexpr size_t kMost = 60;
  if (token.size() <= kMost) {
    return std::string(token);
  }
  size_t size = kMost;
  while (size > 0 && (static_cast<uint8_t>(token[size]) & 0xc0) == 0x80) {
    --size;
  }
  return std::string(token.substr(0, size)) + "...";
}

bool ReadText(std::string_view name, ondemand::value value, std::string_view token,
              std::string_view* out, Fault* fault) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') {
    return RefuseKind(name, "a string", token, fault);
  }
  const std::string_view raw = token.substr(1, token.size() - 2);
  if (raw.empty() || std::memchr(raw.data(), '\\', raw.size()) == nullptr) {
    *out = raw;
    return true;
  }
  if (!SurrogatesPair(raw)) {
    return Refuse(fault, token.data(), "row.surrogate",
                  "'" + std::string(name) + "' holds half of a surrogate pair: " + Shown(token));
  }
  if (value.get_string().get(*out) != simdjson::SUCCESS) {
    return Refuse(
        fault, token.data(), "row.json",
        "'" + std::string(name) + "' holds an escape that JSON does not have: " + Shown(token));
  }
  return true;
}

bool ReadValue(const PropertyPlan& plan, size_t index, ondemand::value value, StagedRow* row,
               std::deque<std::string>* scratch, Fault* fault) {
  const schema::Property& property = *plan.property;
  const std::string_view token = TokenOf(value);
  StagedValue staged;
  if (IsNull(token)) {
    staged.state = StagedValue::State::kNull;
    row->values[index] = staged;
    return true;
  }
  bool good = false;
  switch (property.type.form) {
    case PropertyType::Form::kScalar:
      good = ReadScalar(property.name, property.type.scalar, value, token, scratch, &staged, fault);
      break;
    case PropertyType::Form::kEnum:
      good = ReadEnum(property, value, token, &staged, fault);
      break;
    case PropertyType::Form::kList:
      good = ReadList(property, value, token, row, scratch, &staged, fault);
      break;
    case PropertyType::Form::kVector:
      good = ReadVector(property, value, token, row, &staged, fault);
      break;
  }
  if (!good || !CheckRules(plan, staged, token, fault)) {
    return false;
  }
  staged.state = StagedValue::State::kValue;
  row->values[index] = staged;
  return true;
}

}  // namespace omnigraph::write
