#include "omnigraph/graph/schema/parser.h"

#include <arrow/util/utf8.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cursor.h"

namespace omnigraph::schema {
namespace {

constexpr std::array<ScalarType, 11> kScalarTypes = {
    ScalarType::kString, ScalarType::kBlob, ScalarType::kBool,    ScalarType::kI32,
    ScalarType::kI64,    ScalarType::kU32,  ScalarType::kU64,     ScalarType::kF32,
    ScalarType::kF64,    ScalarType::kDate, ScalarType::kDateTime};

constexpr std::array<std::pair<std::string_view, RuleDecl::Kind>, 5> kRules = {{
    {"key", RuleDecl::Kind::kKey},
    {"unique", RuleDecl::Kind::kUnique},
    {"index", RuleDecl::Kind::kIndex},
    {"range", RuleDecl::Kind::kRange},
    {"check", RuleDecl::Kind::kCheck},
}};

/// Recursive descent over the grammar of docs/schema.md, one method per production.
class Parser {
 public:
  explicit Parser(std::string_view text) : in_(text) {}

  Result<Ast> Parse() {
    Ast ast;
    if (in_.LooksAt("\xef\xbb\xbf")) {
      in_.Advance(3);
    }
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.AtEnd()) {
        return ast;
      }
      if (in_.LooksAtWord("interface")) {
        OG_ASSIGN_OR_RETURN(auto decl, ParseInterface());
        ast.interfaces.push_back(std::move(decl));
      } else if (in_.LooksAtWord("node")) {
        OG_ASSIGN_OR_RETURN(auto decl, ParseNode());
        ast.nodes.push_back(std::move(decl));
      } else if (in_.LooksAtWord("edge")) {
        OG_ASSIGN_OR_RETURN(auto decl, ParseEdge());
        ast.edges.push_back(std::move(decl));
      } else {
        return in_.Unexpected("'node', 'edge' or 'interface'");
      }
    }
  }

 private:
  Result<InterfaceDecl> ParseInterface() {
    in_.Advance(std::string_view("interface").size());
    InterfaceDecl decl;
    OG_RETURN_NOT_OK(in_.SkipSpace());
    decl.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(decl.name, in_.ReadTypeName("the name of the interface"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() == '@') {
      return SchemaError(in_.pos(), "schema.annotation",
                         "an interface takes no annotations; put them on the nodes that "
                         "implement it");
    }
    std::vector<RuleDecl> rules;
    OG_RETURN_NOT_OK(ParseBody(&decl.fields, &rules));
    if (!rules.empty()) {
      return SchemaError(rules.front().pos, "schema.annotation",
                         "an interface holds properties only; put the rule into the nodes that "
                         "implement it");
    }
    return decl;
  }

  Result<NodeDecl> ParseNode() {
    in_.Advance(std::string_view("node").size());
    NodeDecl decl;
    OG_RETURN_NOT_OK(in_.SkipSpace());
    decl.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(decl.name, in_.ReadTypeName("the name of the node type"));
    OG_RETURN_NOT_OK(ParseMarks(&decl.marks));
    if (in_.LooksAtWord("implements")) {
      in_.Advance(std::string_view("implements").size());
      OG_RETURN_NOT_OK(ParseImplements(&decl.implements));
      if (in_.Peek() == '@') {
        return SchemaError(in_.pos(), "schema.annotation",
                           "annotations of a node stand before 'implements'; move this one there");
      }
    }
    OG_RETURN_NOT_OK(ParseBody(&decl.fields, &decl.rules));
    return decl;
  }

  Status ParseImplements(std::vector<NameRef>* names) {
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      NameRef ref;
      ref.pos = in_.pos();
      OG_ASSIGN_OR_RETURN(ref.name, in_.ReadTypeName("the name of an interface"));
      names->push_back(std::move(ref));
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() != ',') {
        return Status::OK();
      }
      in_.Advance(1);
    }
  }

  Result<NameRef> ParseEndpoint(std::string_view what) {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    NameRef ref;
    ref.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(ref.name, in_.ReadTypeName(what));
    return ref;
  }

  Result<EdgeDecl> ParseEdge() {
    in_.Advance(std::string_view("edge").size());
    EdgeDecl decl;
    OG_RETURN_NOT_OK(in_.SkipSpace());
    decl.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(decl.name, in_.ReadTypeName("the name of the edge type"));
    OG_RETURN_NOT_OK(in_.Expect(':', "':' and the node type that the edge starts from"));
    OG_ASSIGN_OR_RETURN(decl.source, ParseEndpoint("the node type that the edge starts from"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (!in_.LooksAt("->")) {
      return in_.Unexpected("'->' and the node type that the edge leads to");
    }
    in_.Advance(2);
    OG_ASSIGN_OR_RETURN(decl.target, ParseEndpoint("the node type that the edge leads to"));
    OG_RETURN_NOT_OK(ParseCard(&decl.card));
    OG_RETURN_NOT_OK(ParseMarks(&decl.marks));
    if (in_.Peek() == '{') {
      OG_RETURN_NOT_OK(ParseBody(&decl.fields, &decl.rules));
    }
    return decl;
  }

  Status ParseCard(std::optional<CardDecl>* out) {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() != '@' || !LooksAtMark("card")) {
      return Status::OK();
    }
    CardDecl card;
    card.pos = in_.pos();
    in_.Advance(std::string_view("@card").size());
    OG_RETURN_NOT_OK(in_.Expect('(', "'(' after @card, as in @card(0..1)"));
    OG_ASSIGN_OR_RETURN(card.min, in_.ReadUnsigned("the least number of edges, as in @card(0..1)"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (!in_.LooksAt("..")) {
      return in_.Unexpected("'..', as in @card(0..1)");
    }
    in_.Advance(2);
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() != ')') {
      OG_ASSIGN_OR_RETURN(card.max, in_.ReadUnsigned("the greatest number of edges, or ')'"));
    }
    OG_RETURN_NOT_OK(in_.Expect(')', "')'"));
    if (card.max.has_value() && *card.max < card.min) {
      return SchemaError(card.pos, "schema.card",
                         "@card(" + std::to_string(card.min) + ".." + std::to_string(*card.max) +
                             ") allows nothing; write the smaller number first");
    }
    *out = card;
    return Status::OK();
  }

  bool LooksAtMark(std::string_view name) const {
    return in_.Peek() == '@' && in_.LooksAtWord("@" + std::string(name));
  }

  /// A rule begins with one of five names and an open parenthesis.
  bool LooksAtRule(RuleDecl::Kind* kind) const {
    for (const auto& [name, value] : kRules) {
      if (LooksAtMark(name)) {
        size_t ahead = name.size() + 1;
        while (in_.Peek(ahead) == ' ' || in_.Peek(ahead) == '\t' || in_.Peek(ahead) == '\r' ||
               in_.Peek(ahead) == '\n') {
          ++ahead;
        }
        *kind = value;
        return in_.Peek(ahead) == '(';
      }
    }
    return false;
  }

  Status ParseBody(std::vector<FieldDecl>* fields, std::vector<RuleDecl>* rules) {
    OG_RETURN_NOT_OK(in_.Expect('{', "'{' and the properties of the type"));
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      RuleDecl::Kind kind;
      if (in_.Peek() == '}') {
        in_.Advance(1);
        return Status::OK();
      }
      if (LooksAtRule(&kind)) {
        OG_ASSIGN_OR_RETURN(RuleDecl rule, ParseRule(kind));
        rules->push_back(std::move(rule));
      } else if (IsLowerOrUnderscore(in_.Peek())) {
        OG_ASSIGN_OR_RETURN(FieldDecl field, ParseField());
        fields->push_back(std::move(field));
      } else if (in_.Peek() == ',' || in_.Peek() == ';') {
        return SchemaError(
            in_.pos(), "schema.syntax",
            "properties are separated by white space only; leave out " + in_.Found());
      } else if (in_.Peek() == '@') {
        return SchemaError(in_.pos(), "schema.annotation",
                           "this annotation follows no property; a body holds properties and the "
                           "rules @key(..), @unique(..), @index(..), @range(..), @check(..)");
      } else {
        return in_.Unexpected("a property, a rule or '}'");
      }
    }
  }

  Result<FieldDecl> ParseField() {
    FieldDecl field;
    field.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(field.name, in_.ReadName("the name of a property"));
    OG_RETURN_NOT_OK(in_.Expect(':', "':' and the type of property '" + field.name + "'"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    field.type_pos = in_.pos();
    OG_ASSIGN_OR_RETURN(field.type, ParseType());
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      RuleDecl::Kind kind;
      if (in_.Peek() != '@' || LooksAtRule(&kind)) {
        return field;
      }
      OG_ASSIGN_OR_RETURN(Mark mark, ParseMark());
      field.marks.push_back(std::move(mark));
    }
  }

  Result<ScalarType> ParseScalar() {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    for (const ScalarType type : kScalarTypes) {
      const std::string_view name = ScalarTypeName(type);
      if (in_.LooksAtWord(name)) {
        in_.Advance(name.size());
        return type;
      }
    }
    return in_.Unexpected(
        "a type: String, Bool, I32, I64, U32, U64, F32, F64, Date, DateTime, Blob, [T], "
        "enum(..) or Vector(n)");
  }

  Result<PropertyType> ParseType() {
    PropertyType type;
    if (in_.Peek() == '[') {
      in_.Advance(1);
      type.form = PropertyType::Form::kList;
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() == '[' || in_.LooksAtWord("enum") || in_.LooksAtWord("Vector")) {
        return SchemaError(in_.pos(), "schema.list",
                           "a list holds scalars only, no lists, enums or vectors");
      }
      const SourcePos element = in_.pos();
      OG_ASSIGN_OR_RETURN(type.scalar, ParseScalar());
      if (type.scalar == ScalarType::kBlob) {
        return SchemaError(element, "schema.list", "a list of Blob is not supported");
      }
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() == '?') {
        return SchemaError(
            in_.pos(), "schema.list",
            "list elements are never null; write [T]? for a list that may be absent");
      }
      OG_RETURN_NOT_OK(in_.Expect(']', "']'"));
    } else if (in_.LooksAtWord("enum")) {
      OG_RETURN_NOT_OK(ParseEnum(&type));
    } else if (in_.LooksAtWord("Vector")) {
      OG_RETURN_NOT_OK(ParseVector(&type));
    } else {
      OG_ASSIGN_OR_RETURN(type.scalar, ParseScalar());
    }
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() == '?') {
      in_.Advance(1);
      type.nullable = true;
    }
    return type;
  }

  Status ParseEnum(PropertyType* type) {
    const SourcePos start = in_.pos();
    in_.Advance(std::string_view("enum").size());
    type->form = PropertyType::Form::kEnum;
    OG_RETURN_NOT_OK(in_.Expect('(', "'(' and the members of the enum"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() == ')') {
      return SchemaError(start, "schema.enum", "an enum needs at least one member");
    }
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      const SourcePos member_pos = in_.pos();
      OG_ASSIGN_OR_RETURN(std::string member, in_.ReadEnumMember());
      if (std::find(type->enum_values.begin(), type->enum_values.end(), member) !=
          type->enum_values.end()) {
        return SchemaError(member_pos, "schema.enum", "the enum names '" + member + "' twice");
      }
      type->enum_values.push_back(std::move(member));
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() != ',') {
        return in_.Expect(')', "',' or ')'");
      }
      in_.Advance(1);
    }
  }

  Status ParseVector(PropertyType* type) {
    in_.Advance(std::string_view("Vector").size());
    type->form = PropertyType::Form::kVector;
    type->scalar = ScalarType::kF32;
    OG_RETURN_NOT_OK(in_.Expect('(', "'(' and the width of the vector, as in Vector(768)"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    const SourcePos start = in_.pos();
    uint64_t dimension = 0;
    if (in_.Peek() != '-') {
      OG_ASSIGN_OR_RETURN(dimension, in_.ReadUnsigned("the width of the vector"));
    }
    if (dimension == 0 || dimension > static_cast<uint64_t>(kMaxVectorDimension)) {
      return SchemaError(start, "schema.vector_dimension",
                         "the width of a vector is 1 to " + std::to_string(kMaxVectorDimension));
    }
    type->dimension = static_cast<int32_t>(dimension);
    return in_.Expect(')', "')'");
  }

  Status ParseMarks(std::vector<Mark>* marks) {
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() != '@') {
        return Status::OK();
      }
      RuleDecl::Kind kind;
      if (LooksAtRule(&kind)) {
        return SchemaError(in_.pos(), "schema.annotation",
                           "this rule stands in the body of a type; move it between the braces");
      }
      if (LooksAtMark("card")) {
        return SchemaError(in_.pos(), "schema.card",
                           "@card stands once, directly after the endpoints of an edge");
      }
      OG_ASSIGN_OR_RETURN(Mark mark, ParseMark());
      marks->push_back(std::move(mark));
    }
  }

  Result<Mark> ParseMark() {
    Mark mark;
    mark.pos = in_.pos();
    in_.Advance(1);
    OG_ASSIGN_OR_RETURN(mark.name, in_.ReadName("the name of an annotation"));
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() != '(') {
      return mark;
    }
    in_.Advance(1);
    while (true) {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (mark.args.empty() && in_.Peek() == ')') {
        return SchemaError(in_.pos(), "schema.arguments",
                           "@" + mark.name + " has empty parentheses; leave them out");
      }
      OG_ASSIGN_OR_RETURN(MarkArg arg, ParseMarkArg());
      mark.args.push_back(std::move(arg));
      OG_RETURN_NOT_OK(in_.SkipSpace());
      if (in_.Peek() != ',') {
        OG_RETURN_NOT_OK(in_.Expect(')', "',' or ')'"));
        return mark;
      }
      in_.Advance(1);
    }
  }

  Result<MarkArg> ParseMarkArg() {
    MarkArg arg;
    OG_ASSIGN_OR_RETURN(arg.value, ParseLiteral());
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() == '=' && arg.value.kind == Literal::Kind::kName) {
      in_.Advance(1);
      arg.name = arg.value.text;
      OG_ASSIGN_OR_RETURN(arg.value, ParseLiteral());
    }
    return arg;
  }

  Result<Literal> ParseLiteral() {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() == '"') {
      return in_.ReadString();
    }
    if (IsDigit(in_.Peek()) || in_.Peek() == '-') {
      return in_.ReadNumber(false);
    }
    Literal literal;
    literal.pos = in_.pos();
    OG_ASSIGN_OR_RETURN(literal.text, in_.ReadName("a string, a number, true, false or a name"));
    literal.kind = Literal::Kind::kName;
    if (literal.text == "true" || literal.text == "false") {
      literal.kind = Literal::Kind::kBool;
      literal.boolean = literal.text == "true";
    }
    return literal;
  }

  /// A property, or an endpoint with its sign: `@src`.
  Result<Literal> ParseMember() {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    Literal literal;
    literal.kind = Literal::Kind::kName;
    literal.pos = in_.pos();
    std::string sign;
    if (in_.Peek() == '@') {
      in_.Advance(1);
      sign = "@";
    }
    OG_ASSIGN_OR_RETURN(const std::string name, in_.ReadName("the name of a property"));
    literal.text = sign + name;
    return literal;
  }

  Result<RuleDecl> ParseRule(RuleDecl::Kind kind) {
    RuleDecl rule;
    rule.kind = kind;
    rule.pos = in_.pos();
    in_.Advance(1);
    OG_ASSIGN_OR_RETURN(const std::string name, in_.ReadName("the name of a rule"));
    OG_RETURN_NOT_OK(in_.Expect('(', "'('"));
    OG_ASSIGN_OR_RETURN(Literal first, ParseMember());
    rule.names.push_back(std::move(first));
    if (kind == RuleDecl::Kind::kRange) {
      OG_RETURN_NOT_OK(in_.Expect(',', "',' and the bounds, as in @range(age, 0..150)"));
      OG_RETURN_NOT_OK(ParseBounds(&rule));
    } else if (kind == RuleDecl::Kind::kCheck) {
      OG_RETURN_NOT_OK(in_.Expect(',', "',' and the pattern, as in @check(code, \"^[A-Z]+$\")"));
      OG_ASSIGN_OR_RETURN(Literal pattern, in_.ReadString());
      rule.pattern = std::move(pattern);
    } else {
      OG_RETURN_NOT_OK(in_.SkipSpace());
      while (in_.Peek() == ',') {
        in_.Advance(1);
        OG_ASSIGN_OR_RETURN(Literal member, ParseMember());
        rule.names.push_back(std::move(member));
        OG_RETURN_NOT_OK(in_.SkipSpace());
      }
    }
    OG_RETURN_NOT_OK(in_.Expect(')', "')' at the end of @" + name));
    return rule;
  }

  Status ParseBounds(RuleDecl* rule) {
    OG_RETURN_NOT_OK(in_.SkipSpace());
    BoundsDecl bounds;
    if (!in_.LooksAt("..")) {
      OG_ASSIGN_OR_RETURN(Literal low, in_.ReadNumber(true));
      bounds.low = std::move(low);
      OG_RETURN_NOT_OK(in_.SkipSpace());
    }
    if (!in_.LooksAt("..")) {
      return in_.Unexpected("'..' between the bounds, as in 0..150, 0.. or ..150");
    }
    in_.Advance(2);
    OG_RETURN_NOT_OK(in_.SkipSpace());
    if (in_.Peek() != ')') {
      OG_ASSIGN_OR_RETURN(Literal high, in_.ReadNumber(true));
      bounds.high = std::move(high);
    }
    if (!bounds.low.has_value() && !bounds.high.has_value()) {
      return SchemaError(rule->pos, "schema.range",
                         "@range needs at least one bound, as in 0..150, 0.. or ..150");
    }
    rule->bounds = std::move(bounds);
    return Status::OK();
  }

  Cursor in_;
};

/// Place of the first byte that is not UTF-8.
SourcePos FirstBadByte(std::string_view text) {
  size_t good = 0;
  SourcePos pos;
  while (good < text.size()) {
    const auto lead = static_cast<uint8_t>(text[good]);
    const size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (good + size > text.size() || !arrow::util::ValidateUTF8(text.substr(good, size))) {
      break;
    }
    if (text[good] == '\n') {
      ++pos.line;
      pos.column = 1;
    } else {
      pos.column += static_cast<int64_t>(size);
    }
    good += size;
  }
  return pos;
}

}  // namespace

Result<Ast> ParseSchema(std::string_view text) {
  if (text.size() > kMaxSchemaBytes) {
    return Invalid("schema.too_large", "the schema has " + std::to_string(text.size()) +
                                           " bytes; the limit is " +
                                           std::to_string(kMaxSchemaBytes));
  }
  arrow::util::InitializeUTF8();
  if (!arrow::util::ValidateUTF8(text)) {
    return SchemaError(FirstBadByte(text), "schema.encoding",
                       "the schema is not UTF-8 here; save it as UTF-8");
  }
  return Parser(text).Parse();
}

}  // namespace omnigraph::schema
