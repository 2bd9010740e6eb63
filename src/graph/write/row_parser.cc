#include "omnigraph/graph/write/row_parser.h"

#include <simdjson.h>

#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "identity.h"
#include "line_scan.h"
#include "omnigraph/runtime/ids.h"
#include "staged_row.h"
#include "value_reader.h"

namespace omnigraph::write {
namespace {

namespace ondemand = simdjson::ondemand;
using schema::Member;
using schema::TypeDef;

/// Members of a line's own object.
enum EnvelopeMember : unsigned {
  kType = 1,
  kEdge = 2,
  kId = 4,
  kOp = 8,
  kFrom = 16,
  kTo = 32,
  kData = 64,
};

unsigned EnvelopeMemberOf(std::string_view key) {
  static constexpr std::pair<std::string_view, unsigned> kMembers[] = {
      {"type", kType}, {"edge", kEdge}, {"id", kId},    {"op", kOp},
      {"from", kFrom}, {"to", kTo},     {"data", kData}};
  for (const auto& [name, member] : kMembers) {
    if (name == key) {
      return member;
    }
  }
  return 0;
}

/// Everything about one type that a line needs.
struct TypePlan {
  const TypeDef* type = nullptr;
  int type_index = 0;
  std::vector<PropertyPlan> properties;
  std::unordered_map<std::string_view, int> by_name;
  /// Properties in the order of the last line: a guess that is mostly right.
  std::vector<int> order;
  bool has_id_property = false;

  int Find(std::string_view name, size_t position) {
    if (position < order.size() &&
        type->properties[static_cast<size_t>(order[position])].name == name) {
      return order[position];
    }
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      return -1;
    }
    if (position < order.size()) {
      order[position] = found->second;
    }
    return found->second;
  }
};

}  // namespace

class RowParser::Impl {
 public:
  Impl(std::shared_ptr<const schema::Catalog> catalog, RowParserOptions options)
      : catalog_(std::move(catalog)), options_(std::move(options)) {}

  Status Plan() {
    for (const TypeDef& type : catalog_->types()) {
      TypePlan plan;
      plan.type = &type;
      plan.type_index = static_cast<int>(plans_.size());
      OG_ASSIGN_OR_RETURN(plan.properties, PlanProperties(type));
      for (size_t i = 0; i < type.properties.size(); ++i) {
        plan.by_name[type.properties[i].name] = static_cast<int>(i);
        plan.order.push_back(static_cast<int>(i));
      }
      plan.has_id_property = type.FindProperty("id") >= 0;
      plans_.push_back(std::move(plan));
    }
    return Status::OK();
  }

  bool Parse(const Line& line, RowSet* rows, AdmittedRow* admitted, LineError* error) {
    Reset(line, error);
    if (!ReadLine() || !CheckRow()) {
      return false;
    }
    TypeRows& target = rows->at(plan_->type_index);
    const int64_t position = target.rows();
    if (const Status status = target.Append(row_); !status.ok()) {
      return Fail({nullptr, "row.memory", status.message()});
    }
    *admitted = {plan_->type_index, position, row_.tombstone, row_.minted};
    return true;
  }

  const schema::Catalog& catalog() const { return *catalog_; }

 private:
  void Reset(const Line& line, LineError* error) {
    line_ = &line;
    error_ = error;
    plan_ = nullptr;
    seen_ = 0;
    data_late_ = false;
    data_id_ = false;
    property_ = {};
    row_.type = nullptr;
    row_.id = row_.src = row_.dst = {};
    row_.tombstone = row_.minted = false;
    row_.line = line.number;
    row_.values.clear();
    row_.items.clear();
    row_.floats.clear();
    scratch_.clear();
    id_buffer_.clear();
  }

  // --- errors ---

  bool Fail(Fault fault) {
    const std::string_view text = line_->text;
    LineError& out = *error_;
    out = {};
    out.line = line_->number;
    out.code = fault.code;
    out.message = std::move(fault.message);
    if (fault.at != nullptr) {
      out.column = fault.at - text.data() + 1;
    }
    if (row_.type != nullptr) {
      out.type = row_.type->name;
    }
    out.property = std::string(property_);
    // A line that is nested without end is refused for that, whatever else is wrong with it.
    if (!text.empty() && (text.find('[') != text.npos || text.find('{') != text.npos) &&
        ScanShape(text).max_depth > kMaxDepth) {
      out.code = "row.depth";
      out.message = "the row is nested deeper than " + std::to_string(kMaxDepth) + " levels";
    }
    return false;
  }

  bool Fail(const char* at, const char* code, std::string message) {
    return Fail(Fault{at, code, std::move(message)});
  }

  /// The line is no JSON: say where and why.
  bool FailJson(simdjson::error_code code, const char* at) {
    const std::string_view text = line_->text;
    property_ = {};
    if (code == simdjson::UTF8_ERROR) {
      const size_t bad = FindBadUtf8(text).value_or(0);
      return Fail(text.data() + bad, "row.utf8", "this byte is not UTF-8");
    }
    const LineShape shape = ScanShape(text);
    if (code == simdjson::UNESCAPED_CHARS && shape.control.has_value()) {
      return Fail(text.data() + *shape.control, "row.control_character",
                  "a raw control character within a string; write it as \\u00XX");
    }
    if (shape.open) {
      const std::string what = shape.open_string ? "a string" : "an object or an array";
      return Fail(text.data() + shape.open_at, "row.incomplete",
                  line_->terminated
                      ? "the line ends within " + what + "; a row is one JSON object on one line"
                      : "the last row is incomplete: the input ends within " + what);
    }
    if (shape.trailing.has_value()) {
      return Fail(text.data() + *shape.trailing, "row.json",
                  "there is text behind the row's object; a row is one JSON object on one line");
    }
    return Fail(at, "row.json", "the line is no JSON object");
  }

  const char* Location() {
    const char* at = nullptr;
    if (document_.current_location().get(at) != simdjson::SUCCESS) {
      return nullptr;
    }
    const std::string_view text = line_->text;
    return at >= text.data() && at <= text.data() + text.size() ? at : nullptr;
  }

  // --- the line's own object ---

  bool ReadLine() {
    if (line_->too_long) {
      return Fail(nullptr, "row.too_long",
                  "the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
    }
    const std::string_view text = line_->text;
    const simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kLinePadding);
    if (const auto code = parser_.iterate(padded).get(document_); code != simdjson::SUCCESS) {
      return FailJson(code, nullptr);
    }
    const size_t first = text.find_first_not_of(" \t\r");
    if (text[first] != '{') {
      const bool comment = text[first] == '#' || text.substr(first, 2) == "//";
      return Fail(text.data() + first, "row.not_object",
                  comment ? "comments are not allowed"
                          : "a row is one JSON object, such as {\"type\":\"T\",\"data\":{}}");
    }
    if (!ReadEnvelope(false)) {
      return false;
    }
    if (!ChoosePlan()) {
      return false;
    }
    if (data_late_) {
      KeepStrings();
      document_.rewind();
      return ReadEnvelope(true);
    }
    return true;
  }

  /// Read the members of the line's object; in the second pass only `data`, which came before the
  /// type in the first.
  bool ReadEnvelope(bool only_data) {
    ondemand::object object;
    if (const auto code = document_.get_object().get(object); code != simdjson::SUCCESS) {
      return FailJson(code, nullptr);
    }
    for (auto result : object) {
      ondemand::field field;
      if (const auto code = std::move(result).get(field); code != simdjson::SUCCESS) {
        return FailJson(code, Location());
      }
      std::string_view key;
      const char* at = field.key().raw() - 1;
      if (!KeyOf(field, &key)) {
        return false;
      }
      const unsigned member = EnvelopeMemberOf(key);
      if (only_data) {
        if (member == kData && !ReadData(field.value())) {
          return false;
        }
        continue;
      }
      if (member == 0) {
        return Fail(at, "row.unknown_member",
                    "a row has no member '" + Shown(key) +
                        "'; its members are type or edge, id, from, to, op, data");
      }
      if ((seen_ & member) != 0) {
        return Fail(at, "row.duplicate_member", "'" + std::string(key) + "' stands twice");
      }
      seen_ |= member;
      if (!ReadMember(member, key, field.value(), at)) {
        return false;
      }
    }
    if (document_.current_location().error() != simdjson::OUT_OF_BOUNDS) {
      return FailJson(simdjson::TAPE_ERROR, Location());
    }
    return true;
  }

  bool ReadMember(unsigned member, std::string_view key, ondemand::value value, const char* at) {
    if (member == kData) {
      if (plan_ == nullptr && !ChooseEarly()) {
        data_late_ = true;
        return true;
      }
      return ReadData(value);
    }
    const std::string_view token = TokenOf(value);
    std::string_view text;
    Fault fault;
    if (!ReadText(key, value, token, &text, &fault)) {
      return Fail(std::move(fault));
    }
    switch (member) {
      case kType:
      case kEdge:
        if ((seen_ & kType) != 0 && (seen_ & kEdge) != 0) {
          return Fail(at, "row.envelope", "a row has either 'type' (a node) or 'edge'");
        }
        return FindType(member == kEdge, text, token.data());
      case kOp:
        if (text != "upsert" && text != "delete") {
          return Fail(token.data(), "row.op", "'op' is \"upsert\" or \"delete\"");
        }
        row_.tombstone = text == "delete";
        if (row_.tombstone && !options_.allow_delete) {
          return Fail(token.data(), "row.op",
                      "a load takes no deletes; send them by ingest or a mutation");
        }
        return true;
      case kId:
        row_.id = text;
        break;
      case kFrom:
        row_.src = text;
        break;
      default:
        row_.dst = text;
        break;
    }
    property_ = EnvelopeName(member);
    const bool good = CheckId(text, token.data());
    property_ = good ? std::string_view() : property_;
    return good;
  }

  static std::string_view EnvelopeName(unsigned member) {
    return member == kId ? "id" : member == kFrom ? "from" : "to";
  }

  bool CheckId(std::string_view id, const char* at) {
    if (id.empty() || id.size() > kMaxIdBytes) {
      return Fail(at, "row.id_size",
                  "an id has 1 to " + std::to_string(kMaxIdBytes) + " bytes, found " +
                      std::to_string(id.size()));
    }
    return true;
  }

  bool FindType(bool edge, std::string_view name, const char* at) {
    TypePlan*& last = edge ? last_edge_ : last_node_;
    if (last == nullptr || last->type->name != name) {
      const TypeDef* type = edge ? catalog_->FindEdge(name) : catalog_->FindNode(name);
      if (type == nullptr) {
        return Fail(
            at, "row.unknown_type",
            std::string("there is no ") + (edge ? "edge" : "node") + " type '" + Shown(name) + "'");
      }
      last = &plans_[static_cast<size_t>(catalog_->IndexOf(*type))];
    }
    plan_ = last;
    row_.type = plan_->type;
    row_.values.assign(plan_->properties.size(), StagedValue());
    return true;
  }

  /// The type is known before the data.
  bool ChooseEarly() const { return plan_ != nullptr; }

  /// All members were read: is there a type, and do the others go with it?
  bool ChoosePlan() {
    if (plan_ == nullptr) {
      return Fail(nullptr, "row.envelope", "a row needs 'type' (a node) or 'edge'");
    }
    if (plan_->type->is_node() && (seen_ & (kFrom | kTo)) != 0) {
      return Fail(nullptr, "row.envelope", "only an edge has 'from' and 'to'");
    }
    return true;
  }

  /// A second pass begins: texts in the parser's own memory would be overwritten.
  void KeepStrings() {
    for (std::string_view* text : {&row_.id, &row_.src, &row_.dst}) {
      scratch_.emplace_back(*text);
      *text = scratch_.back();
    }
  }

  // --- properties ---

  bool KeyOf(ondemand::field& field, std::string_view* key) {
    const char* begin = field.key().raw();
    const char* end = begin;
    while (*end != '"' && *end != '\\') {
      ++end;
    }
    if (*end == '"') {
      *key = {begin, static_cast<size_t>(end - begin)};
      return true;
    }
    while (*end != '"') {
      end += *end == '\\' ? 2 : 1;
    }
    if (!SurrogatesPair({begin, static_cast<size_t>(end - begin)})) {
      return Fail(begin - 1, "row.surrogate", "a member's name holds half of a surrogate pair");
    }
    if (field.unescaped_key().get(*key) != simdjson::SUCCESS) {
      return Fail(begin - 1, "row.json", "a member's name holds an escape that JSON does not have");
    }
    return true;
  }

  bool ReadData(ondemand::value value) {
    const std::string_view token = TokenOf(value);
    ondemand::object object;
    if (token.empty() || token.front() != '{' ||
        value.get_object().get(object) != simdjson::SUCCESS) {
      return Fail(token.data(), "row.type", "'data' is an object of properties");
    }
    size_t position = 0;
    for (auto result : object) {
      property_ = {};
      ondemand::field field;
      if (const auto code = std::move(result).get(field); code != simdjson::SUCCESS) {
        return FailJson(code, Location());
      }
      std::string_view key;
      const char* at = field.key().raw() - 1;
      if (!KeyOf(field, &key)) {
        return false;
      }
      const int index = plan_->Find(key, position++);
      if (index < 0) {
        if (!ReadDataId(key, field.value(), at)) {
          return false;
        }
        continue;
      }
      const auto slot = static_cast<size_t>(index);
      property_ = plan_->properties[slot].property->name;
      if (row_.values[slot].state != StagedValue::State::kAbsent) {
        return Fail(at, "row.duplicate_member", "'" + std::string(property_) + "' stands twice");
      }
      Fault fault;
      if (!ReadValue(plan_->properties[slot], slot, field.value(), &row_, &scratch_, &fault)) {
        return fault.at == nullptr || std::string_view(fault.code) != "row.json" ||
                       !ScanShape(line_->text).open
                   ? Fail(std::move(fault))
                   : FailJson(simdjson::INCOMPLETE_ARRAY_OR_OBJECT, fault.at);
      }
    }
    property_ = {};
    return true;
  }

  /// A member of `data` that is no property: older files carry the id there.
  bool ReadDataId(std::string_view key, ondemand::value value, const char* at) {
    property_ = {};
    if (key != "id") {
      std::string hint;
      if (plan_->type->is_edge() &&
          (key == "from" || key == "to" || key == "src" || key == "dst")) {
        hint = "; the endpoints of an edge are 'from' and 'to' beside 'edge'";
      }
      const std::string message =
          plan_->type->name + " has no property '" + Shown(key) + "'" + hint;
      scratch_.emplace_back(Shown(key));
      property_ = scratch_.back();
      return Fail(at, "row.unknown_property", message);
    }
    property_ = "id";
    if (data_id_) {
      return Fail(at, "row.duplicate_member", "'id' stands twice");
    }
    if ((seen_ & kId) != 0) {
      return Fail(at, "row.duplicate_member", "'id' stands beside the type and in 'data'");
    }
    data_id_ = true;
    const std::string_view token = TokenOf(value);
    Fault fault;
    if (!ReadText("id", value, token, &row_.id, &fault)) {
      return Fail(std::move(fault));
    }
    const bool good = CheckId(row_.id, token.data());
    property_ = {};
    return good;
  }

  // --- the row as a whole ---

  bool CheckRow() {
    if (data_id_ && (seen_ & kId) != 0) {
      property_ = "id";
      return Fail(nullptr, "row.duplicate_member", "'id' stands beside the type and in 'data'");
    }
    if (!row_.tombstone && !CheckRequired()) {
      return false;
    }
    return CheckIdentity();
  }

  bool CheckRequired() {
    if (row_.type->is_edge()) {
      for (const unsigned member : {kFrom, kTo}) {
        if ((seen_ & member) == 0) {
          property_ = EnvelopeName(member);
          return Fail(nullptr, "row.required",
                      "an edge needs '" + std::string(property_) + "', the id of a node");
        }
      }
    }
    for (size_t i = 0; i < row_.values.size(); ++i) {
      const schema::Property& property = *plan_->properties[i].property;
      if (row_.values[i].has_value() || property.type.nullable) {
        continue;
      }
      property_ = property.name;
      return Fail(nullptr, "row.required",
                  "'" + property.name + "' of " + row_.type->name + " is required, and " +
                      (row_.values[i].state == StagedValue::State::kNull ? "null" : "absent"));
    }
    return true;
  }

  /// True if the row brings every member of the type's key.
  bool HasKey() const {
    for (const Member& member : row_.type->key) {
      const bool there = member.kind == Member::Kind::kSrc ? (seen_ & kFrom) != 0
                         : member.kind == Member::Kind::kDst
                             ? (seen_ & kTo) != 0
                             : row_.values[static_cast<size_t>(member.property)].has_value();
      if (!there) {
        return false;
      }
    }
    return row_.type->keyed();
  }

  bool CheckIdentity() {
    const bool supplied = data_id_ || (seen_ & kId) != 0;
    if (HasKey()) {
      return DeriveKeyId(supplied);
    }
    if (supplied) {
      return true;
    }
    if (row_.tombstone) {
      property_ = "id";
      return Fail(nullptr, "row.required", "a delete needs the id, or the whole key");
    }
    id_buffer_ = options_.mint_id ? options_.mint_id() : runtime::NewUlid();
    row_.id = id_buffer_;
    row_.minted = true;
    return true;
  }

  bool DeriveKeyId(bool supplied) {
    const Member& first = row_.type->key.front();
    std::string_view derived;
    if (row_.type->key.size() == 1 &&
        row_.type->properties[static_cast<size_t>(first.property)].type.scalar ==
            schema::ScalarType::kString) {
      derived = row_.values[static_cast<size_t>(first.property)].text;
    } else {
      DeriveId(row_, &id_buffer_);
      derived = id_buffer_;
    }
    if (supplied && row_.id != derived) {
      property_ = "id";
      return Fail(nullptr, "row.id_mismatch",
                  "the id is '" + Shown(row_.id) + "', but the key gives '" + Shown(derived) + "'");
    }
    row_.id = derived;
    property_ =
        first.kind == Member::Kind::kProperty
            ? std::string_view(row_.type->properties[static_cast<size_t>(first.property)].name)
            : std::string_view("from");
    const bool good = CheckId(derived, nullptr);
    property_ = {};
    return good;
  }

  std::shared_ptr<const schema::Catalog> catalog_;
  RowParserOptions options_;
  std::vector<TypePlan> plans_;
  TypePlan* last_node_ = nullptr;
  TypePlan* last_edge_ = nullptr;
  ondemand::parser parser_;
  ondemand::document document_;

  // Of the line at hand.
  const Line* line_ = nullptr;
  LineError* error_ = nullptr;
  TypePlan* plan_ = nullptr;
  unsigned seen_ = 0;
  bool data_late_ = false;
  bool data_id_ = false;
  std::string_view property_;  ///< what an error would name
  StagedRow row_;
  std::deque<std::string> scratch_;
  std::string id_buffer_;
};

RowParser::RowParser(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RowParser::~RowParser() = default;

Result<std::unique_ptr<RowParser>> RowParser::Make(std::shared_ptr<const schema::Catalog> catalog,
                                                   RowParserOptions options) {
  auto impl = std::make_unique<Impl>(std::move(catalog), std::move(options));
  OG_RETURN_NOT_OK(impl->Plan());
  return std::unique_ptr<RowParser>(new RowParser(std::move(impl)));
}

bool RowParser::Parse(const Line& line, RowSet* rows, AdmittedRow* admitted, LineError* error) {
  return impl_->Parse(line, rows, admitted, error);
}

const schema::Catalog& RowParser::catalog() const {
  return impl_->catalog();
}

Status ValidatePatterns(const schema::Catalog& catalog) {
  for (const TypeDef& type : catalog.types()) {
    OG_RETURN_NOT_OK(PlanProperties(type).status());
  }
  return Status::OK();
}

}  // namespace omnigraph::write
