#include "omnigraph/graph/schema/schema_json.h"

#include <simdjson.h>

#include <map>
#include <utility>

#include "omnigraph/base/hash.h"
#include "omnigraph/base/ids.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::schema {
namespace {

using Form = PropertyType::Form;
namespace dom = simdjson::dom;

/// Writes compact JSON; commas are its own business.
class JsonOut {
 public:
  void Open(char bracket) {
    Separate();
    text_.push_back(bracket);
    fresh_ = true;
  }
  void Close(char bracket) {
    text_.push_back(bracket);
    fresh_ = false;
  }
  void Key(std::string_view key) {
    Separate();
    AppendJsonString(key, &text_);
    text_.push_back(':');
    fresh_ = true;
  }
  void String(std::string_view value) {
    Separate();
    AppendJsonString(value, &text_);
  }
  void Raw(std::string_view value) {
    Separate();
    text_ += value;
  }
  void Member(std::string_view key, std::string_view value) {
    Key(key);
    String(value);
  }
  void Number(std::string_view key, uint64_t value) {
    Key(key);
    Raw(std::to_string(value));
  }
  std::string Take() { return std::move(text_); }

 private:
  void Separate() {
    if (!fresh_) {
      text_.push_back(',');
    }
    fresh_ = false;
  }

  std::string text_;
  bool fresh_ = true;
};

std::string_view LiteralKindName(Literal::Kind kind) {
  switch (kind) {
    case Literal::Kind::kString:
      return "string";
    case Literal::Kind::kInteger:
      return "integer";
    case Literal::Kind::kFloat:
      return "float";
    case Literal::Kind::kBool:
      return "bool";
    case Literal::Kind::kName:
      return "name";
  }
  return "";
}

void WriteType(const PropertyType& type, JsonOut* out) {
  switch (type.form) {
    case Form::kScalar:
      out->Member("type", ScalarTypeName(type.scalar));
      break;
    case Form::kList:
      out->Member("list", ScalarTypeName(type.scalar));
      break;
    case Form::kEnum:
      out->Key("enum");
      out->Open('[');
      for (const std::string& member : type.enum_values) {
        out->String(member);
      }
      out->Close(']');
      break;
    case Form::kVector:
      out->Number("vector", static_cast<uint64_t>(type.dimension));
      break;
  }
  if (type.nullable) {
    out->Key("nullable");
    out->Raw("true");
  }
}

void WriteMarks(const std::vector<Mark>& marks, JsonOut* out) {
  if (marks.empty()) {
    return;
  }
  out->Key("marks");
  out->Open('[');
  for (const Mark& mark : marks) {
    out->Open('{');
    out->Member("name", mark.name);
    if (!mark.args.empty()) {
      out->Key("args");
      out->Open('[');
      for (const MarkArg& arg : mark.args) {
        out->Open('{');
        if (!arg.name.empty()) {
          out->Member("name", arg.name);
        }
        out->Member(LiteralKindName(arg.value.kind), arg.value.text);
        out->Close('}');
      }
      out->Close(']');
    }
    out->Close('}');
  }
  out->Close(']');
}

std::string MemberName(const TypeDef& type, const Member& member) {
  switch (member.kind) {
    case Member::Kind::kSrc:
      return "@src";
    case Member::Kind::kDst:
      return "@dst";
    case Member::Kind::kProperty:
      return type.properties[static_cast<size_t>(member.property)].name;
  }
  return "";
}

void WriteMembers(const TypeDef& type, const std::vector<Member>& members, JsonOut* out) {
  out->Open('[');
  for (const Member& member : members) {
    out->String(MemberName(type, member));
  }
  out->Close(']');
}

void WriteRules(const TypeDef& type, std::string_view key, const std::vector<MemberRule>& rules,
                JsonOut* out) {
  if (rules.empty()) {
    return;
  }
  out->Key(key);
  out->Open('[');
  for (const MemberRule& rule : rules) {
    WriteMembers(type, rule.members, out);
  }
  out->Close(']');
}

void WriteProperty(const Property& property, JsonOut* out) {
  out->Open('{');
  out->Number("id", property.id);
  out->Member("name", property.name);
  WriteType(property.type, out);
  if (!property.description.empty()) {
    out->Member("description", property.description);
  }
  if (property.embed.has_value()) {
    out->Key("embed");
    out->Open('{');
    out->Member("source", property.embed->source);
    if (!property.embed->model.empty()) {
      out->Member("model", property.embed->model);
    }
    out->Close('}');
  }
  WriteMarks(property.marks, out);
  out->Close('}');
}

void WriteConstraints(const TypeDef& type, JsonOut* out) {
  if (type.keyed()) {
    out->Key("key");
    WriteMembers(type, type.key, out);
  }
  WriteRules(type, "unique", type.uniques, out);
  WriteRules(type, "index", type.indexes, out);
  if (!type.ranges.empty()) {
    out->Key("range");
    out->Open('[');
    for (const RangeRule& rule : type.ranges) {
      out->Open('{');
      out->Member("property", type.properties[static_cast<size_t>(rule.property)].name);
      if (rule.low.has_value()) {
        out->Member("low", rule.low->text);
      }
      if (rule.high.has_value()) {
        out->Member("high", rule.high->text);
      }
      out->Close('}');
    }
    out->Close(']');
  }
  if (!type.checks.empty()) {
    out->Key("check");
    out->Open('[');
    for (const CheckRule& rule : type.checks) {
      out->Open('{');
      out->Member("property", type.properties[static_cast<size_t>(rule.property)].name);
      out->Member("pattern", rule.pattern);
      out->Close('}');
    }
    out->Close(']');
  }
}

void WriteTypeDef(const TypeDef& type, JsonOut* out) {
  out->Open('{');
  out->Member("kind", TypeKindName(type.kind));
  out->Member("name", type.name);
  out->Member("table", FormatHex64(type.table_id));
  out->Member("incarnation", FormatHex64(type.incarnation));
  out->Number("next_property", type.next_property_id);
  if (type.is_edge()) {
    out->Member("from", type.source);
    out->Member("to", type.target);
    out->Key("card");
    out->Open('{');
    out->Number("min", type.card.min);
    if (type.card.max.has_value()) {
      out->Number("max", *type.card.max);
    }
    out->Close('}');
  }
  if (!type.description.empty()) {
    out->Member("description", type.description);
  }
  if (!type.instruction.empty()) {
    out->Member("instruction", type.instruction);
  }
  if (!type.interfaces.empty()) {
    out->Key("implements");
    out->Open('[');
    for (const std::string& name : type.interfaces) {
      out->String(name);
    }
    out->Close(']');
  }
  if (type.stream.has_value()) {
    out->Key("stream");
    out->Open('{');
    out->Number("shards", type.stream->shards);
    out->Member("on_reject", type.stream->on_reject == OnReject::kHalt ? "halt" : "dead_letter");
    out->Close('}');
  }
  out->Key("properties");
  out->Open('[');
  for (const Property& property : type.properties) {
    WriteProperty(property, out);
  }
  out->Close(']');
  WriteConstraints(type, out);
  WriteMarks(type.marks, out);
  out->Close('}');
}

/// Reads the resolved form back. simdjson's DOM reports errors by value; a first error is kept and
/// every later read answers with an empty value, so that the shape can be read straight down.
class JsonIn {
 public:
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }

  std::string String(dom::element object, const char* key, bool required = true) {
    std::string_view value;
    if (object[key].get(value) != simdjson::SUCCESS) {
      failed_ = failed_ || required || Has(object, key);
      return {};
    }
    return std::string(value);
  }
  uint64_t Number(dom::element object, const char* key, uint64_t most) {
    uint64_t value = 0;
    if (object[key].get(value) != simdjson::SUCCESS || value > most) {
      failed_ = true;
      return 0;
    }
    return value;
  }
  uint64_t Hex(dom::element object, const char* key) {
    const Result<uint64_t> value = ParseHex64(String(object, key));
    failed_ = failed_ || !value.ok();
    return value.ok() ? *value : 0;
  }
  bool Has(dom::element object, const char* key) {
    return object[key].error() == simdjson::SUCCESS;
  }
  /// The elements of an array member; absent is empty.
  std::vector<dom::element> Array(dom::element object, const char* key) {
    std::vector<dom::element> elements;
    dom::array array;
    if (Has(object, key)) {
      if (object[key].get(array) != simdjson::SUCCESS) {
        failed_ = true;
      } else {
        for (const dom::element element : array) {
          elements.push_back(element);
        }
      }
    }
    return elements;
  }
  std::string Text(dom::element element) {
    std::string_view value;
    if (element.get(value) != simdjson::SUCCESS) {
      failed_ = true;
    }
    return std::string(value);
  }

  PropertyType Type(dom::element object) {
    PropertyType type;
    bool nullable = false;
    if (object["nullable"].get(nullable) == simdjson::SUCCESS) {
      type.nullable = nullable;
    }
    if (Has(object, "type")) {
      type.scalar = Scalar(String(object, "type"));
    } else if (Has(object, "list")) {
      type.form = Form::kList;
      type.scalar = Scalar(String(object, "list"));
    } else if (Has(object, "enum")) {
      type.form = Form::kEnum;
      for (const dom::element element : Array(object, "enum")) {
        type.enum_values.push_back(Text(element));
      }
    } else {
      type.form = Form::kVector;
      type.scalar = ScalarType::kF32;
      type.dimension = static_cast<int32_t>(Number(object, "vector", kMaxVectorDimension));
      failed_ = failed_ || type.dimension == 0;
    }
    return type;
  }

  std::vector<Mark> Marks(dom::element object) {
    static const std::map<std::string_view, Literal::Kind> kKinds = {
        {"string", Literal::Kind::kString},
        {"integer", Literal::Kind::kInteger},
        {"float", Literal::Kind::kFloat},
        {"bool", Literal::Kind::kBool},
        {"name", Literal::Kind::kName}};
    std::vector<Mark> marks;
    for (const dom::element element : Array(object, "marks")) {
      Mark mark;
      mark.name = String(element, "name");
      for (const dom::element arg_element : Array(element, "args")) {
        MarkArg arg;
        arg.name = String(arg_element, "name", false);
        for (const auto& [key, kind] : kKinds) {
          if (Has(arg_element, key.data())) {
            arg.value.kind = kind;
            arg.value.text = String(arg_element, key.data());
            arg.value.boolean = kind == Literal::Kind::kBool && arg.value.text == "true";
          }
        }
        mark.args.push_back(std::move(arg));
      }
      marks.push_back(std::move(mark));
    }
    return marks;
  }

  TypeDef ReadTypeDef(dom::element object) {
    TypeDef type;
    const std::string kind = String(object, "kind");
    failed_ = failed_ || (kind != "node" && kind != "edge");
    type.kind = kind == "edge" ? TypeKind::kEdge : TypeKind::kNode;
    type.name = String(object, "name");
    type.table_id = Hex(object, "table");
    type.incarnation = Hex(object, "incarnation");
    type.next_property_id = static_cast<uint32_t>(Number(object, "next_property", UINT32_MAX));
    type.description = String(object, "description", false);
    type.instruction = String(object, "instruction", false);
    if (type.is_edge()) {
      type.source = String(object, "from");
      type.target = String(object, "to");
      dom::element card;
      if (object["card"].get(card) != simdjson::SUCCESS) {
        failed_ = true;
      } else {
        type.card.min = Number(card, "min", UINT64_MAX);
        if (Has(card, "max")) {
          type.card.max = Number(card, "max", UINT64_MAX);
        }
      }
    }
    for (const dom::element element : Array(object, "implements")) {
      type.interfaces.push_back(Text(element));
    }
    ReadStream(object, &type);
    for (const dom::element element : Array(object, "properties")) {
      type.properties.push_back(ReadProperty(element));
    }
    ReadConstraints(object, &type);
    type.marks = Marks(object);
    return type;
  }

 private:
  ScalarType Scalar(const std::string& name) {
    for (int i = 0; i <= static_cast<int>(ScalarType::kBlob); ++i) {
      if (ScalarTypeName(static_cast<ScalarType>(i)) == name) {
        return static_cast<ScalarType>(i);
      }
    }
    failed_ = true;
    return ScalarType::kString;
  }

  Property ReadProperty(dom::element object) {
    Property property;
    property.id = static_cast<uint32_t>(Number(object, "id", UINT32_MAX));
    property.name = String(object, "name");
    property.type = Type(object);
    property.description = String(object, "description", false);
    dom::element embed;
    if (object["embed"].get(embed) == simdjson::SUCCESS) {
      property.embed = Embed{String(embed, "source"), String(embed, "model", false)};
    }
    property.marks = Marks(object);
    return property;
  }

  void ReadStream(dom::element object, TypeDef* type) {
    dom::element stream;
    if (object["stream"].get(stream) != simdjson::SUCCESS) {
      return;
    }
    StreamOptions options;
    options.shards = static_cast<uint32_t>(Number(stream, "shards", UINT32_MAX));
    options.on_reject =
        String(stream, "on_reject") == "halt" ? OnReject::kHalt : OnReject::kDeadLetter;
    type->stream = options;
  }

  int PropertyIndex(const TypeDef& type, const std::string& name) {
    const int index = type.FindProperty(name);
    failed_ = failed_ || index < 0;
    return index;
  }

  std::vector<Member> Members(const TypeDef& type, const std::vector<dom::element>& elements) {
    std::vector<Member> members;
    for (const dom::element element : elements) {
      const std::string name = Text(element);
      if (name == "@src" || name == "@dst") {
        failed_ = failed_ || type.is_node();
        members.push_back({name == "@src" ? Member::Kind::kSrc : Member::Kind::kDst, -1});
      } else {
        members.push_back({Member::Kind::kProperty, PropertyIndex(type, name)});
      }
    }
    return members;
  }

  std::vector<MemberRule> Rules(dom::element object, const char* key, const TypeDef& type) {
    std::vector<MemberRule> rules;
    for (const dom::element element : Array(object, key)) {
      dom::array array;
      std::vector<dom::element> names;
      if (element.get(array) != simdjson::SUCCESS) {
        failed_ = true;
      } else {
        for (const dom::element name : array) {
          names.push_back(name);
        }
      }
      rules.push_back({Members(type, names)});
    }
    return rules;
  }

  std::optional<Bound> ReadBound(dom::element object, const char* key) {
    if (!Has(object, key)) {
      return std::nullopt;
    }
    return BoundOfText(String(object, key));
  }

  void ReadConstraints(dom::element object, TypeDef* type) {
    type->key = Members(*type, Array(object, "key"));
    type->uniques = Rules(object, "unique", *type);
    type->indexes = Rules(object, "index", *type);
    for (const dom::element element : Array(object, "range")) {
      RangeRule rule;
      rule.property = PropertyIndex(*type, String(element, "property"));
      rule.low = ReadBound(element, "low");
      rule.high = ReadBound(element, "high");
      type->ranges.push_back(std::move(rule));
    }
    for (const dom::element element : Array(object, "check")) {
      type->checks.push_back(
          {PropertyIndex(*type, String(element, "property")), String(element, "pattern")});
    }
  }

  bool failed_ = false;
};

/// Cross references that a Catalog relies on.
bool IsConsistent(const std::vector<TypeDef>& types) {
  std::map<std::string, bool> nodes;
  std::map<uint64_t, bool> tables;
  bool edges_begun = false;
  for (const TypeDef& type : types) {
    edges_begun = edges_begun || type.is_edge();
    if (!tables.emplace(type.table_id, true).second || (edges_begun && type.is_node())) {
      return false;
    }
    if (type.is_node() && !nodes.emplace(type.name, true).second) {
      return false;
    }
    if (type.is_edge() && (nodes.count(type.source) == 0 || nodes.count(type.target) == 0)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string CatalogToJson(const Catalog& catalog) {
  JsonOut out;
  out.Open('{');
  out.Number("v", kSchemaJsonVersion);
  out.Member("text", Sha256Hex(catalog.text()));
  out.Key("interfaces");
  out.Open('[');
  for (const InterfaceDecl& decl : catalog.interfaces()) {
    out.Open('{');
    out.Member("name", decl.name);
    out.Key("properties");
    out.Open('[');
    for (const FieldDecl& field : decl.fields) {
      out.Open('{');
      out.Member("name", field.name);
      WriteType(field.type, &out);
      out.Close('}');
    }
    out.Close(']');
    out.Close('}');
  }
  out.Close(']');
  out.Key("types");
  out.Open('[');
  for (const TypeDef& type : catalog.types()) {
    WriteTypeDef(type, &out);
  }
  out.Close(']');
  out.Close('}');
  return out.Take();
}

Result<std::shared_ptr<const Catalog>> CatalogFromJson(std::string_view json, std::string_view text,
                                                       std::string_view object) {
  dom::parser parser;
  dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) {
    return Corruption("schema.stored", "the stored schema is no JSON", object);
  }
  JsonIn in;
  uint64_t version = 0;
  if (root["v"].get(version) != simdjson::SUCCESS) {
    return Corruption("schema.stored", "the stored schema names no version", object);
  }
  if (version != kSchemaJsonVersion) {
    return Unsupported("schema.stored_version",
                       "the stored schema is of version " + std::to_string(version) +
                           ", this program reads " + std::to_string(kSchemaJsonVersion) +
                           "; use a newer one",
                       Place{std::string(object)});
  }
  if (in.String(root, "text") != Sha256Hex(text)) {
    return Corruption("schema.stored", "the stored schema does not belong to its text", object);
  }
  std::vector<InterfaceDecl> interfaces;
  for (const dom::element element : in.Array(root, "interfaces")) {
    InterfaceDecl decl;
    decl.name = in.String(element, "name");
    for (const dom::element field_element : in.Array(element, "properties")) {
      FieldDecl field;
      field.name = in.String(field_element, "name");
      field.type = in.Type(field_element);
      decl.fields.push_back(std::move(field));
    }
    interfaces.push_back(std::move(decl));
  }
  std::vector<TypeDef> types;
  for (const dom::element element : in.Array(root, "types")) {
    types.push_back(in.ReadTypeDef(element));
  }
  if (in.failed() || !IsConsistent(types)) {
    return Corruption("schema.stored", "the stored schema breaks its shape", object);
  }
  auto catalog =
      std::make_shared<const Catalog>(std::string(text), std::move(types), std::move(interfaces));
  if (catalog->json() != json) {
    return Corruption("schema.stored", "the stored schema holds members that are not known",
                      object);
  }
  return catalog;
}

}  // namespace omnigraph::schema
