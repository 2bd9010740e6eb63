/// \file
/// The resolved schema of a graph: types with stable ids, interfaces expanded, rules checked.
///
/// Everything above (writes, queries, the manifest) works on a Catalog, never on text. Its stored
/// form is in schema_json.h, the physical columns of its types in physical.h. What each rule means
/// for users: docs/schema.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/ast.h"

namespace omnigraph::schema {

enum class TypeKind : uint8_t { kNode, kEdge };

/// `node` or `edge`.
std::string_view TypeKindName(TypeKind kind);

/// What `@embed` says of a vector property.
struct Embed {
  std::string source;  ///< the String property that feeds the vector
  std::string model;   ///< empty: any
};

/// A property of a type. Value type.
struct Property {
  /// Unique within its type's incarnation, from 1 in the order of allocation; survives renames.
  uint32_t id = 0;
  std::string name;
  PropertyType type;
  std::string description;
  std::optional<Embed> embed;
  /// Annotations without a meaning of their own, kept as written.
  std::vector<Mark> marks;
};

/// One member of a key or of a `@unique` tuple: an endpoint of the edge, or a property.
struct Member {
  enum class Kind : uint8_t { kSrc, kDst, kProperty };

  Kind kind = Kind::kProperty;
  int property = -1;  ///< index into TypeDef::properties, for kProperty

  bool operator==(const Member&) const = default;
};

/// A `@unique` or `@index` rule over one or more members.
struct MemberRule {
  std::vector<Member> members;
};

/// One inclusive bound, exact for its property: integers as integers, the rest as doubles.
struct Bound {
  bool is_integer = false;
  bool negative = false;   ///< of an integer
  uint64_t magnitude = 0;  ///< of an integer
  double real = 0;         ///< of every bound, rounded for large integers
  std::string text;        ///< as written
};

/// A bound from its text: digits with an optional sign and fraction.
Bound BoundOfText(std::string text);

/// `@range(property, low..high)`; null passes, NaN does not.
struct RangeRule {
  int property = -1;
  std::optional<Bound> low;
  std::optional<Bound> high;
};

/// `@check(property, "pattern")`: an unanchored search in RE2 syntax; null passes.
struct CheckRule {
  int property = -1;
  std::string pattern;
};

/// `@card(min..max)`: edges of the type per source node.
struct Card {
  uint64_t min = 0;
  std::optional<uint64_t> max;
};

enum class OnReject : uint8_t { kDeadLetter, kHalt };

/// `@stream(shards=1, on_reject="dead_letter")`
struct StreamOptions {
  uint32_t shards = 1;
  OnReject on_reject = OnReject::kDeadLetter;
};

/// A node or an edge type. Immutable once in a Catalog.
///
/// INVARIANT: properties stand in ascending order of id, which is the order of their columns.
struct TypeDef {
  TypeKind kind = TypeKind::kNode;
  std::string name;
  uint64_t table_id = 0;     ///< stable through renames; 16 hex digits in names
  uint64_t incarnation = 0;  ///< fresh when a dropped name is declared again
  uint32_t next_property_id = 1;
  std::string description;
  std::string instruction;
  std::vector<Property> properties;
  /// Empty for a keyless type. Nodes: properties; edges: src and dst first where named. Always in
  /// the order of columns, whatever order the text has.
  std::vector<Member> key;
  std::vector<MemberRule> uniques;  ///< without the key
  std::vector<MemberRule> indexes;
  std::vector<RangeRule> ranges;
  std::vector<CheckRule> checks;
  std::vector<std::string> interfaces;  ///< nodes: names, as declared
  std::optional<StreamOptions> stream;
  std::vector<Mark> marks;  ///< annotations without a meaning of their own

  // Edges only.
  std::string source;  ///< name of the source's node type
  std::string target;
  Card card;

  bool is_node() const { return kind == TypeKind::kNode; }
  bool is_edge() const { return kind == TypeKind::kEdge; }
  bool keyed() const { return !key.empty(); }
  /// Index of a property by exact name; -1 when there is none.
  int FindProperty(std::string_view property_name) const;
  /// Path of the type's table below the graph's root: `nodes/<table id>-<incarnation>.lance`.
  std::string TablePath() const;
  /// `<table id>` as 16 hex digits.
  std::string TableIdHex() const;
};

/// Makes a random 64-bit id; never called twice for one thing. runtime::NewId64 in production.
using IdSource = std::function<uint64_t()>;

/// All types of a graph. Immutable; share as std::shared_ptr<const Catalog>.
class Catalog {
 public:
  /// Build from parts that ResolveCatalog or CatalogFromJson have checked.
  Catalog(std::string text, std::vector<TypeDef> types, std::vector<InterfaceDecl> interfaces);

  /// The `.pg` text from which this was resolved.
  const std::string& text() const { return text_; }
  /// Name of the schema object: SHA-256 of the resolved form (which holds the text's own hash), in
  /// hex. Two catalogs of one text but other type ids have different hashes.
  const std::string& hash() const { return hash_; }
  /// The resolved form, one line of JSON (schema_json.h).
  const std::string& json() const { return json_; }

  /// Nodes in the order of the text, then edges. An index into this is a type index.
  const std::vector<TypeDef>& types() const { return types_; }
  const TypeDef& type(int index) const { return types_[static_cast<size_t>(index)]; }
  const std::vector<InterfaceDecl>& interfaces() const { return interfaces_; }
  int node_count() const { return node_count_; }

  /// Node type by exact name; nullptr when there is none.
  const TypeDef* FindNode(std::string_view name) const;
  /// Edge type by exact name, else ignoring ASCII case; nullptr when there is none.
  const TypeDef* FindEdge(std::string_view name) const;
  /// Type by stable table id; nullptr when there is none.
  const TypeDef* FindTable(uint64_t table_id) const;
  /// Type index of a definition of this catalog.
  int IndexOf(const TypeDef& type) const;
  /// Type index of an edge's source and target node type.
  int SourceIndex(const TypeDef& edge) const;
  int TargetIndex(const TypeDef& edge) const;
  /// Type indices of the edge types that start or end at a node type.
  std::vector<int> IncidentEdges(const TypeDef& node) const;

 private:
  std::string text_;
  std::vector<TypeDef> types_;
  std::vector<InterfaceDecl> interfaces_;
  int node_count_ = 0;
  std::unordered_map<std::string, int> nodes_;
  std::unordered_map<std::string, int> edges_;
  std::unordered_map<std::string, int> edges_folded_;
  std::unordered_map<uint64_t, int> tables_;
  std::string json_;
  std::string hash_;
};

/// Check a parse tree and give it ids.
///
/// With `previous`, a type or property keeps the ids of the one of its name (or of its
/// `@rename_from`); everything else takes fresh ones from `ids`. Whether the change is allowed on a
/// graph with rows is not decided here.
///
/// Shape:  `text` is the text of which `ast` was parsed; it is kept.
/// Errors: kInvalid with line, column and a `schema.*` code of docs/errors.md.
Result<std::shared_ptr<const Catalog>> ResolveCatalog(std::string_view text, const Ast& ast,
                                                      const Catalog* previous, const IdSource& ids);

/// ParseSchema and ResolveCatalog in one.
Result<std::shared_ptr<const Catalog>> CompileSchema(std::string_view text, const Catalog* previous,
                                                     const IdSource& ids);

}  // namespace omnigraph::schema
