/// \file
/// The parse tree of a `.pg` text: what was written and where, nothing resolved.
///
/// Made by ParseSchema (parser.h), consumed by ResolveCatalog (catalog.h). Names are not checked
/// against each other here. Grammar: docs/schema.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omnigraph::schema {

/// A place in the text; both count from 1, columns in bytes.
struct SourcePos {
  int64_t line = 1;
  int64_t column = 1;
};

/// The scalar types of `.pg`.
enum class ScalarType : uint8_t {
  kString,
  kBool,
  kI32,
  kI64,
  kU32,
  kU64,
  kF32,
  kF64,
  kDate,
  kDateTime,
  kBlob
};

/// The spelling in `.pg`.
std::string_view ScalarTypeName(ScalarType type);

/// The widest vector. Lines end at 16 MiB and pages at a few, so wider ones could not be filled.
inline constexpr int32_t kMaxVectorDimension = 65536;

/// The type of a property, as written and as resolved. Value type.
struct PropertyType {
  enum class Form : uint8_t { kScalar, kList, kEnum, kVector };

  Form form = Form::kScalar;
  /// kScalar: the type; kList: the element type; kEnum: kString; kVector: kF32.
  ScalarType scalar = ScalarType::kString;
  /// kEnum only: the members. As written in the tree, sorted in a catalog.
  std::vector<std::string> enum_values;
  /// kVector only: 1 to kMaxVectorDimension.
  int32_t dimension = 0;
  bool nullable = false;

  bool operator==(const PropertyType&) const = default;
  bool is_scalar(ScalarType type) const { return form == Form::kScalar && scalar == type; }
  /// True for scalar integers and floats.
  bool is_numeric() const;
  /// The `.pg` spelling, such as `[String]?` or `enum(eu, us)`.
  std::string ToString() const;
};

/// A literal, a bare name, or one end of a range.
struct Literal {
  enum class Kind : uint8_t { kString, kInteger, kFloat, kBool, kName };

  Kind kind = Kind::kString;
  /// kString: decoded; kName: the name (`@src` keeps its sign); numbers: as written, with sign.
  std::string text;
  bool boolean = false;
  SourcePos pos;
};

/// One argument of an annotation: positional where `name` is empty.
struct MarkArg {
  std::string name;
  Literal value;
};

/// An annotation `@name(...)` on a type or a property.
struct Mark {
  std::string name;  ///< without the sign
  std::vector<MarkArg> args;
  SourcePos pos;
};

/// `name: Type @marks`
struct FieldDecl {
  std::string name;
  PropertyType type;
  std::vector<Mark> marks;
  SourcePos pos;
  SourcePos type_pos;
};

/// Inclusive bounds of `@range`; at least one is there.
struct BoundsDecl {
  std::optional<Literal> low;
  std::optional<Literal> high;
};

/// A rule inside a body: `@key(a, b)`, `@range(p, 0..9)`, ...
struct RuleDecl {
  enum class Kind : uint8_t { kKey, kUnique, kIndex, kRange, kCheck };

  Kind kind = Kind::kKey;
  std::vector<Literal> names;        ///< the properties; `@src` and `@dst` keep their sign
  std::optional<BoundsDecl> bounds;  ///< kRange
  std::optional<Literal> pattern;    ///< kCheck
  SourcePos pos;
};

/// A type name and where it stands.
struct NameRef {
  std::string name;
  SourcePos pos;
};

struct InterfaceDecl {
  std::string name;
  std::vector<FieldDecl> fields;
  SourcePos pos;
};

struct NodeDecl {
  std::string name;
  std::vector<Mark> marks;
  std::vector<NameRef> implements;
  std::vector<FieldDecl> fields;
  std::vector<RuleDecl> rules;
  SourcePos pos;
};

/// `@card(min..max)`
struct CardDecl {
  uint64_t min = 0;
  std::optional<uint64_t> max;
  SourcePos pos;
};

struct EdgeDecl {
  std::string name;
  NameRef source;
  NameRef target;
  std::optional<CardDecl> card;
  std::vector<Mark> marks;
  std::vector<FieldDecl> fields;
  std::vector<RuleDecl> rules;
  SourcePos pos;
};

/// A whole text, each kind in the order written.
struct Ast {
  std::vector<InterfaceDecl> interfaces;
  std::vector<NodeDecl> nodes;
  std::vector<EdgeDecl> edges;
};

}  // namespace omnigraph::schema
