// From a parse tree to a Catalog: expand interfaces, check every rule against the properties that
// it names, give ids. The order of checks is the order of the text within each type.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "cursor.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/schema/parser.h"

namespace omnigraph::schema {
namespace {

using Form = PropertyType::Form;

bool IsEndpoint(std::string_view name) {
  return name == "src" || name == "dst" || name == "@src" || name == "@dst";
}

PropertyType SortedEnum(PropertyType type) {
  std::sort(type.enum_values.begin(), type.enum_values.end());
  return type;
}

/// Why a property cannot be a member of a key or a `@unique`; empty if it can.
std::string NotComparable(const PropertyType& type) {
  switch (type.form) {
    case Form::kList:
      return "a list";
    case Form::kVector:
      return "a vector";
    default:
      return type.is_scalar(ScalarType::kBlob) ? "a Blob" : "";
  }
}

/// Resolves one node or edge type.
class TypeResolver {
 public:
  TypeResolver(TypeDef* type, const TypeDef* previous) : type_(*type), previous_(previous) {}

  Status Run(const std::vector<FieldDecl>& fields, const std::vector<Mark>& marks,
             const std::vector<RuleDecl>& rules) {
    for (const FieldDecl& field : fields) {
      OG_RETURN_NOT_OK(CheckFieldName(field));
      if (type_.FindProperty(field.name) >= 0) {
        return Error(field.pos, "schema.duplicate_property", field.name,
                     "property '" + field.name + "' is declared twice");
      }
      Property property;
      property.name = field.name;
      property.type = SortedEnum(field.type);
      type_.properties.push_back(std::move(property));
    }
    GiveIds(fields);
    for (const Mark& mark : marks) {
      OG_RETURN_NOT_OK(ApplyTypeMark(mark));
    }
    for (const FieldDecl& field : fields) {
      for (const Mark& mark : field.marks) {
        OG_RETURN_NOT_OK(ApplyPropertyMark(field, mark));
      }
    }
    for (const RuleDecl& rule : rules) {
      OG_RETURN_NOT_OK(ApplyRule(rule));
    }
    return CheckIdProperty(fields);
  }

 private:
  Status Error(SourcePos pos, std::string_view code, std::string_view property,
               std::string message) const {
    std::string where = type_.name;
    if (!property.empty()) {
      where += "." + std::string(property);
    }
    return SchemaError(pos, code, std::move(message), std::move(where));
  }

  Status CheckFieldName(const FieldDecl& field) const {
    if (field.name.front() == '_') {
      return Error(
          field.pos, "schema.reserved_name", field.name,
          "property names with a leading underscore are reserved; rename '" + field.name + "'");
    }
    static const std::set<std::string_view> kOnEdges = {"id", "src", "dst", "from", "to"};
    if (type_.is_edge() && kOnEdges.count(field.name) > 0) {
      return Error(field.pos, "schema.reserved_name", field.name,
                   "'" + field.name + "' is reserved on edges; rename the property");
    }
    return Status::OK();
  }

  /// Ids of the previous catalog by name or `@rename_from`, fresh ones for the rest; then the order
  /// of ids.
  void GiveIds(const std::vector<FieldDecl>& fields) {
    if (previous_ != nullptr) {
      type_.next_property_id = previous_->next_property_id;
      for (size_t i = 0; i < fields.size(); ++i) {
        int old = previous_->FindProperty(fields[i].name);
        for (const Mark& mark : fields[i].marks) {
          if (old < 0 && mark.name == "rename_from" && mark.args.size() == 1 &&
              type_.FindProperty(mark.args[0].value.text) < 0) {
            old = previous_->FindProperty(mark.args[0].value.text);
          }
        }
        if (old >= 0) {
          type_.properties[i].id = previous_->properties[static_cast<size_t>(old)].id;
        }
      }
    }
    for (Property& property : type_.properties) {
      if (property.id == 0) {
        property.id = type_.next_property_id++;
      }
    }
    std::sort(type_.properties.begin(), type_.properties.end(),
              [](const Property& a, const Property& b) { return a.id < b.id; });
  }

  /// The one positional or so named string of an annotation.
  Result<std::string> OneString(const Mark& mark, std::string_view property,
                                std::string_view keyword) const {
    if (mark.args.size() != 1 || mark.args[0].value.kind != Literal::Kind::kString ||
        (!mark.args[0].name.empty() && mark.args[0].name != keyword) ||
        mark.args[0].value.text.empty()) {
      return Error(mark.pos, "schema.arguments", property,
                   "@" + mark.name + " takes one string that is not empty, as in @" + mark.name +
                       "(\"...\")");
    }
    return mark.args[0].value.text;
  }

  Status SetOnce(const Mark& mark, std::string_view property, std::string_view keyword,
                 std::string* out) const {
    OG_ASSIGN_OR_RETURN(std::string value, OneString(mark, property, keyword));
    if (!out->empty()) {
      return Error(mark.pos, "schema.arguments", property, "@" + mark.name + " stands twice");
    }
    *out = std::move(value);
    return Status::OK();
  }

  Status ApplyTypeMark(const Mark& mark) {
    if (mark.name == "description") {
      return SetOnce(mark, "", "text", &type_.description);
    }
    if (mark.name == "instruction") {
      return SetOnce(mark, "", "text", &type_.instruction);
    }
    if (mark.name == "rename_from") {
      return SetOnce(mark, "", "", &renamed_type_);
    }
    if (mark.name == "stream") {
      return ApplyStream(mark);
    }
    static const std::set<std::string_view> kMisplaced = {"key",   "unique", "index", "range",
                                                          "check", "embed",  "card"};
    if (kMisplaced.count(mark.name) > 0) {
      return Error(mark.pos, "schema.annotation", "",
                   "@" + mark.name + " says nothing of a whole " +
                       std::string(TypeKindName(type_.kind)) +
                       " type; put it behind a property or as a rule into the body");
    }
    type_.marks.push_back(mark);
    return Status::OK();
  }

  Status ApplyStream(const Mark& mark) {
    if (type_.stream.has_value()) {
      return Error(mark.pos, "schema.stream", "", "@stream stands twice");
    }
    StreamOptions options;
    std::set<std::string> seen;
    for (const MarkArg& arg : mark.args) {
      const std::string name = arg.name.empty() && seen.empty() ? "shards" : arg.name;
      const Literal& value = arg.value;
      if (!seen.insert(name).second) {
        return Error(value.pos, "schema.stream", "", "@stream names '" + name + "' twice");
      }
      if (name == "shards" && value.kind == Literal::Kind::kInteger) {
        const uint64_t shards = std::strtoull(value.text.c_str(), nullptr, 10);
        if (shards < 1 || shards > 1024) {
          return Error(value.pos, "schema.stream", "", "the number of shards is 1 to 1024");
        }
        options.shards = static_cast<uint32_t>(shards);
      } else if (name == "on_reject" && value.text == "dead_letter") {
        options.on_reject = OnReject::kDeadLetter;
      } else if (name == "on_reject" && value.text == "halt") {
        options.on_reject = OnReject::kHalt;
      } else {
        return Error(value.pos, "schema.stream", "",
                     "@stream takes shards=<number> and on_reject=\"dead_letter\" or \"halt\"");
      }
    }
    type_.stream = options;
    return Status::OK();
  }

  Status ApplyPropertyMark(const FieldDecl& field, const Mark& mark) {
    const int index = type_.FindProperty(field.name);
    Property& property = type_.properties[static_cast<size_t>(index)];
    const Member member{Member::Kind::kProperty, index};
    if (mark.name == "key" || mark.name == "unique" || mark.name == "index") {
      if (!mark.args.empty()) {
        return Error(mark.pos, "schema.arguments", field.name,
                     "@" + mark.name + " behind a property takes no arguments");
      }
      return mark.name == "key"      ? SetKey(mark.pos, {member})
             : mark.name == "unique" ? AddUnique(mark.pos, {member})
                                     : AddIndex(mark.pos, {member}, true);
    }
    if (mark.name == "description") {
      return SetOnce(mark, field.name, "text", &property.description);
    }
    if (mark.name == "rename_from") {
      return SetOnce(mark, field.name, "", &renamed_properties_[field.name]);
    }
    if (mark.name == "embed") {
      return ApplyEmbed(field, mark, &property);
    }
    static const std::map<std::string_view, std::string_view> kMisplaced = {
        {"range", "write the rule @range(property, low..high) into the body"},
        {"check", "write the rule @check(property, \"pattern\") into the body"},
        {"card", "it stands after the endpoints of an edge"},
        {"stream", "it stands before the body of a type"},
        {"instruction", "it stands before the body of a type; use @description here"},
    };
    if (const auto found = kMisplaced.find(mark.name); found != kMisplaced.end()) {
      return Error(mark.pos, "schema.annotation", field.name,
                   "@" + mark.name + " says nothing of a property; " + std::string(found->second));
    }
    property.marks.push_back(mark);
    return Status::OK();
  }

  Status ApplyEmbed(const FieldDecl& field, const Mark& mark, Property* property) {
    if (type_.is_edge()) {
      return Error(mark.pos, "schema.embed", field.name, "@embed is not for edges");
    }
    if (property->type.form != Form::kVector) {
      return Error(mark.pos, "schema.embed", field.name,
                   "@embed stands behind a Vector property; '" + field.name + "' is " +
                       property->type.ToString());
    }
    if (property->embed.has_value()) {
      return Error(mark.pos, "schema.embed", field.name, "@embed stands twice");
    }
    Embed embed;
    for (size_t i = 0; i < mark.args.size(); ++i) {
      const MarkArg& arg = mark.args[i];
      const bool is_source = arg.name == "source" || (arg.name.empty() && i == 0);
      std::string* out = is_source ? &embed.source : arg.name == "model" ? &embed.model : nullptr;
      const bool named_property = is_source && arg.value.kind == Literal::Kind::kName;
      if (out == nullptr || !out->empty() || arg.value.text.empty() ||
          (arg.value.kind != Literal::Kind::kString && !named_property)) {
        return Error(arg.value.pos, "schema.embed", field.name,
                     "@embed takes the name of a String property and model=\"...\"");
      }
      *out = arg.value.text;
    }
    const int source = type_.FindProperty(embed.source);
    if (source < 0 ||
        !type_.properties[static_cast<size_t>(source)].type.is_scalar(ScalarType::kString)) {
      return Error(mark.pos, "schema.embed", field.name,
                   "@embed needs a String property of " + type_.name + " as its source; '" +
                       embed.source + "' is none");
    }
    property->embed = std::move(embed);
    return Status::OK();
  }

  Result<Member> FindMember(const Literal& name) const {
    if (type_.is_edge() && IsEndpoint(name.text)) {
      const bool is_src = name.text == "src" || name.text == "@src";
      return Member{is_src ? Member::Kind::kSrc : Member::Kind::kDst, -1};
    }
    const int index = type_.FindProperty(name.text);
    if (index < 0) {
      return Error(name.pos, "schema.unknown_property", name.text,
                   type_.name + " has no property '" + name.text + "'");
    }
    return Member{Member::Kind::kProperty, index};
  }

  Status ApplyRule(const RuleDecl& rule) {
    if (rule.kind == RuleDecl::Kind::kRange || rule.kind == RuleDecl::Kind::kCheck) {
      const bool range = rule.kind == RuleDecl::Kind::kRange;
      if (type_.is_edge()) {
        return Error(rule.pos, range ? "schema.range" : "schema.check", "",
                     std::string(range ? "@range" : "@check") + " is not for edges");
      }
      OG_ASSIGN_OR_RETURN(const Member member, FindMember(rule.names[0]));
      return range ? AddRange(rule, member.property) : AddCheck(rule, member.property);
    }
    std::vector<Member> members;
    for (const Literal& name : rule.names) {
      OG_ASSIGN_OR_RETURN(const Member member, FindMember(name));
      if (std::find(members.begin(), members.end(), member) != members.end()) {
        return Error(name.pos, "schema.arguments", name.text,
                     "the rule names '" + name.text + "' twice");
      }
      members.push_back(member);
    }
    switch (rule.kind) {
      case RuleDecl::Kind::kKey:
        return SetKey(rule.pos, std::move(members));
      case RuleDecl::Kind::kUnique:
        return AddUnique(rule.pos, std::move(members));
      default:
        return AddIndex(rule.pos, std::move(members), false);
    }
  }

  const Property* PropertyOf(const Member& member) const {
    return member.kind == Member::Kind::kProperty
               ? &type_.properties[static_cast<size_t>(member.property)]
               : nullptr;
  }

  Status SetKey(SourcePos pos, std::vector<Member> members) {
    if (type_.keyed()) {
      return Error(pos, "schema.key", "",
                   type_.name +
                       " has two keys; for a key of several properties write "
                       "@key(a, b) into the body");
    }
    bool has_src = false;
    bool has_dst = false;
    for (const Member& member : members) {
      has_src = has_src || member.kind == Member::Kind::kSrc;
      has_dst = has_dst || member.kind == Member::Kind::kDst;
      const Property* property = PropertyOf(member);
      if (property == nullptr) {
        continue;
      }
      const std::string bad = property->type.nullable ? "nullable" : NotComparable(property->type);
      if (!bad.empty()) {
        return Error(pos, "schema.key", property->name,
                     "'" + property->name + "' is " + bad + " and cannot be part of a key");
      }
    }
    if (type_.is_edge() && !(has_src && has_dst)) {
      return Error(pos, "schema.key", "",
                   "the key of an edge names both endpoints: @key(src, dst) or "
                   "@key(src, dst, property)");
    }
    type_.key = std::move(members);
    SortMembers(&type_.key);
    return Status::OK();
  }

  /// src, dst, then properties by id: the order survives renames and does not depend on the text.
  static void SortMembers(std::vector<Member>* members) {
    std::sort(members->begin(), members->end(), [](const Member& a, const Member& b) {
      return std::pair(a.kind, a.property) < std::pair(b.kind, b.property);
    });
  }

  Status AddUnique(SourcePos pos, std::vector<Member> members) {
    for (const Member& member : members) {
      const Property* property = PropertyOf(member);
      const std::string bad = property == nullptr ? "" : NotComparable(property->type);
      if (!bad.empty()) {
        return Error(pos, "schema.unique", property->name,
                     "'" + property->name + "' is " + bad + " and cannot be unique");
      }
    }
    SortMembers(&members);
    AddOnce(std::move(members), &type_.uniques);
    return Status::OK();
  }

  Status AddIndex(SourcePos pos, std::vector<Member> members, bool is_mark) {
    for (const Member& member : members) {
      const Property* property = PropertyOf(member);
      if (property == nullptr) {
        continue;
      }
      if (property->type.is_scalar(ScalarType::kBlob) ||
          (is_mark && property->type.form == Form::kList)) {
        return Error(pos, "schema.index", property->name,
                     "'" + property->name + "' is " + NotComparable(property->type) +
                         " and cannot be indexed");
      }
    }
    AddOnce(std::move(members), &type_.indexes);
    return Status::OK();
  }

  static void AddOnce(std::vector<Member> members, std::vector<MemberRule>* rules) {
    for (const MemberRule& rule : *rules) {
      if (rule.members == members) {
        return;
      }
    }
    rules->push_back({std::move(members)});
  }

  Status AddRange(const RuleDecl& rule, int index) {
    const Property& property = type_.properties[static_cast<size_t>(index)];
    if (!property.type.is_numeric()) {
      return Error(rule.pos, "schema.range", property.name,
                   "@range needs a number; '" + property.name + "' is " + property.type.ToString());
    }
    RangeRule range;
    range.property = index;
    if (rule.bounds->low.has_value()) {
      range.low = BoundOfText(rule.bounds->low->text);
    }
    if (rule.bounds->high.has_value()) {
      range.high = BoundOfText(rule.bounds->high->text);
    }
    if (range.low.has_value() && range.high.has_value() && range.low->real > range.high->real) {
      return Error(rule.pos, "schema.range", property.name,
                   "@range(" + property.name + ", " + range.low->text + ".." + range.high->text +
                       ") allows nothing; write the smaller bound first");
    }
    type_.ranges.push_back(std::move(range));
    return Status::OK();
  }

  Status AddCheck(const RuleDecl& rule, int index) {
    const Property& property = type_.properties[static_cast<size_t>(index)];
    if (!property.type.is_scalar(ScalarType::kString)) {
      return Error(rule.pos, "schema.check", property.name,
                   "@check needs a String; '" + property.name + "' is " + property.type.ToString());
    }
    type_.checks.push_back({index, rule.pattern->text});
    return Status::OK();
  }

  /// A node property named `id` is the id column itself, so it must be the whole key.
  Status CheckIdProperty(const std::vector<FieldDecl>& fields) const {
    const int index = type_.FindProperty("id");
    if (index < 0) {
      return Status::OK();
    }
    const Property& property = type_.properties[static_cast<size_t>(index)];
    const bool is_key = type_.key == std::vector<Member>{{Member::Kind::kProperty, index}};
    if (is_key && property.type.is_scalar(ScalarType::kString)) {
      return Status::OK();
    }
    for (const FieldDecl& field : fields) {
      if (field.name == "id") {
        return Error(field.pos, "schema.reserved_name", "id",
                     "a property named 'id' must be the only key and a String, as in "
                     "id: String @key; rename it otherwise");
      }
    }
    return Status::OK();
  }

  TypeDef& type_;
  const TypeDef* previous_;
  std::string renamed_type_;
  std::map<std::string, std::string> renamed_properties_;
};

/// Resolves a whole tree.
class Resolver {
 public:
  Resolver(const Ast& ast, const Catalog* previous, const IdSource& ids)
      : ast_(ast), previous_(previous), ids_(ids) {}

  Result<std::vector<TypeDef>> Run() {
    OG_RETURN_NOT_OK(CheckNames());
    OG_RETURN_NOT_OK(CheckInterfaces());
    std::vector<TypeDef> types;
    for (const NodeDecl& node : ast_.nodes) {
      OG_ASSIGN_OR_RETURN(TypeDef type, ResolveNode(node));
      types.push_back(std::move(type));
    }
    for (const EdgeDecl& edge : ast_.edges) {
      OG_ASSIGN_OR_RETURN(TypeDef type, ResolveEdge(edge));
      types.push_back(std::move(type));
    }
    return types;
  }

 private:
  Status CheckNames() const {
    std::set<std::string> seen;
    for (const InterfaceDecl& decl : ast_.interfaces) {
      if (!seen.insert(decl.name).second) {
        return SchemaError(decl.pos, "schema.duplicate_type",
                           "interface " + decl.name + " is declared twice", decl.name);
      }
    }
    seen.clear();
    for (const NodeDecl& decl : ast_.nodes) {
      if (!seen.insert(decl.name).second) {
        return SchemaError(decl.pos, "schema.duplicate_type",
                           "node type " + decl.name + " is declared twice", decl.name);
      }
    }
    std::map<std::string, std::string> folded;
    for (const EdgeDecl& decl : ast_.edges) {
      std::string key = decl.name;
      std::transform(key.begin(), key.end(), key.begin(),
                     [](char c) { return IsUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; });
      const auto [other, fresh] = folded.emplace(std::move(key), decl.name);
      if (!fresh) {
        return SchemaError(decl.pos, "schema.duplicate_type",
                           other->second == decl.name
                               ? "edge type " + decl.name + " is declared twice"
                               : "edge types " + other->second + " and " + decl.name +
                                     " differ only in case, which queries ignore; rename one",
                           decl.name);
      }
    }
    return Status::OK();
  }

  /// Properties of an interface nobody implements are checked too.
  Status CheckInterfaces() const {
    for (const InterfaceDecl& decl : ast_.interfaces) {
      TypeDef scratch;
      scratch.name = decl.name;
      OG_RETURN_NOT_OK(TypeResolver(&scratch, nullptr).Run(decl.fields, {}, {}));
    }
    return Status::OK();
  }

  const InterfaceDecl* FindInterface(const std::string& name) const {
    for (const InterfaceDecl& decl : ast_.interfaces) {
      if (decl.name == name) {
        return &decl;
      }
    }
    return nullptr;
  }

  /// The fields of a node: its own, then those of its interfaces that it does not declare.
  Result<std::vector<FieldDecl>> ExpandFields(const NodeDecl& node) const {
    std::vector<FieldDecl> fields = node.fields;
    std::set<std::string> seen;
    for (const NameRef& ref : node.implements) {
      const InterfaceDecl* interface_decl = FindInterface(ref.name);
      if (interface_decl == nullptr) {
        return SchemaError(ref.pos, "schema.unknown_interface",
                           "there is no interface " + ref.name + "; declare it or leave it out",
                           node.name);
      }
      if (!seen.insert(ref.name).second) {
        return SchemaError(ref.pos, "schema.duplicate_type",
                           node.name + " implements " + ref.name + " twice", node.name);
      }
      for (const FieldDecl& wanted : interface_decl->fields) {
        const auto own = std::find_if(fields.begin(), fields.end(), [&](const FieldDecl& field) {
          return field.name == wanted.name;
        });
        if (own == fields.end()) {
          fields.push_back(wanted);
        } else if (SortedEnum(own->type) != SortedEnum(wanted.type)) {
          return SchemaError(own->pos, "schema.interface_mismatch",
                             node.name + "." + wanted.name + " is " + own->type.ToString() +
                                 ", but interface " + ref.name + " says " + wanted.type.ToString() +
                                 "; make them equal",
                             node.name + "." + wanted.name);
        }
      }
    }
    return fields;
  }

  uint64_t FreshId() const {
    const uint64_t id = ids_();
    OG_CHECK(id != 0);
    return id;
  }

  /// The type of this name in the previous catalog, else the one that `@rename_from` names.
  const TypeDef* FindPrevious(TypeKind kind, const std::string& name,
                              const std::vector<Mark>& marks) const {
    if (previous_ == nullptr) {
      return nullptr;
    }
    const auto find = [&](const std::string& wanted) -> const TypeDef* {
      for (const TypeDef& type : previous_->types()) {
        if (type.kind == kind && type.name == wanted) {
          return &type;
        }
      }
      return nullptr;
    };
    const TypeDef* found = find(name);
    for (const Mark& mark : marks) {
      if (found == nullptr && mark.name == "rename_from" && mark.args.size() == 1 &&
          !IsDeclared(kind, mark.args[0].value.text)) {
        found = find(mark.args[0].value.text);
      }
    }
    return found;
  }

  bool IsDeclared(TypeKind kind, const std::string& name) const {
    const auto named = [&](const auto& decl) { return decl.name == name; };
    return kind == TypeKind::kNode ? std::any_of(ast_.nodes.begin(), ast_.nodes.end(), named)
                                   : std::any_of(ast_.edges.begin(), ast_.edges.end(), named);
  }

  TypeDef Start(TypeKind kind, const std::string& name, const TypeDef* previous) const {
    TypeDef type;
    type.kind = kind;
    type.name = name;
    type.table_id = previous != nullptr ? previous->table_id : FreshId();
    type.incarnation = previous != nullptr ? previous->incarnation : FreshId();
    return type;
  }

  Result<TypeDef> ResolveNode(const NodeDecl& node) const {
    OG_ASSIGN_OR_RETURN(const std::vector<FieldDecl> fields, ExpandFields(node));
    const TypeDef* previous = FindPrevious(TypeKind::kNode, node.name, node.marks);
    TypeDef type = Start(TypeKind::kNode, node.name, previous);
    for (const NameRef& ref : node.implements) {
      type.interfaces.push_back(ref.name);
    }
    OG_RETURN_NOT_OK(TypeResolver(&type, previous).Run(fields, node.marks, node.rules));
    return type;
  }

  Result<TypeDef> ResolveEdge(const EdgeDecl& edge) const {
    for (const NameRef* ref : {&edge.source, &edge.target}) {
      if (!IsDeclared(TypeKind::kNode, ref->name)) {
        return SchemaError(ref->pos, "schema.unknown_type",
                           FindInterface(ref->name) != nullptr
                               ? ref->name + " is an interface; an edge joins node types"
                               : "there is no node type " + ref->name + "; declare it",
                           edge.name);
      }
    }
    const TypeDef* previous = FindPrevious(TypeKind::kEdge, edge.name, edge.marks);
    TypeDef type = Start(TypeKind::kEdge, edge.name, previous);
    type.source = edge.source.name;
    type.target = edge.target.name;
    if (edge.card.has_value()) {
      type.card = {edge.card->min, edge.card->max};
    }
    OG_RETURN_NOT_OK(TypeResolver(&type, previous).Run(edge.fields, edge.marks, edge.rules));
    return type;
  }

  const Ast& ast_;
  const Catalog* previous_;
  const IdSource& ids_;
};

}  // namespace

Result<std::shared_ptr<const Catalog>> ResolveCatalog(std::string_view text, const Ast& ast,
                                                      const Catalog* previous,
                                                      const IdSource& ids) {
  OG_ASSIGN_OR_RETURN(std::vector<TypeDef> types, Resolver(ast, previous, ids).Run());
  return std::make_shared<const Catalog>(std::string(text), std::move(types), ast.interfaces);
}

Result<std::shared_ptr<const Catalog>> CompileSchema(std::string_view text, const Catalog* previous,
                                                     const IdSource& ids) {
  OG_ASSIGN_OR_RETURN(const Ast ast, ParseSchema(text));
  return ResolveCatalog(text, ast, previous, ids);
}

}  // namespace omnigraph::schema
