#include "omnigraph/graph/schema/catalog.h"

#include <charconv>
#include <cmath>
#include <utility>

#include "omnigraph/base/hash.h"
#include "omnigraph/base/ids.h"
#include "omnigraph/graph/schema/schema_json.h"

namespace omnigraph::schema {
namespace {

std::string FoldCase(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return folded;
}

}  // namespace

std::string_view TypeKindName(TypeKind kind) {
  return kind == TypeKind::kNode ? "node" : "edge";
}

Bound BoundOfText(std::string text) {
  Bound bound;
  bound.negative = !text.empty() && text.front() == '-';
  const char* first = text.data() + (bound.negative ? 1 : 0);
  const char* last = text.data() + text.size();
  if (std::from_chars(text.data(), last, bound.real).ec != std::errc()) {
    // Digits beyond the range of a double: no stored number is beyond it.
    bound.real = bound.negative ? -HUGE_VAL : HUGE_VAL;
  }
  const auto parsed = std::from_chars(first, last, bound.magnitude);
  // A fraction, or an integer beyond 64 bits, is compared as a double.
  bound.is_integer = parsed.ec == std::errc() && parsed.ptr == last;
  bound.text = std::move(text);
  return bound;
}

int TypeDef::FindProperty(std::string_view property_name) const {
  for (size_t i = 0; i < properties.size(); ++i) {
    if (properties[i].name == property_name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string TypeDef::TableIdHex() const {
  return FormatHex64(table_id);
}

std::string TypeDef::TablePath() const {
  return (is_node() ? "nodes/" : "edges/") + FormatHex64(table_id) + "-" +
         FormatHex64(incarnation) + ".lance";
}

Catalog::Catalog(std::string text, std::vector<TypeDef> types,
                 std::vector<InterfaceDecl> interfaces)
    : text_(std::move(text)), types_(std::move(types)), interfaces_(std::move(interfaces)) {
  for (size_t i = 0; i < types_.size(); ++i) {
    const auto index = static_cast<int>(i);
    const TypeDef& type = types_[i];
    tables_[type.table_id] = index;
    if (type.is_node()) {
      // INVARIANT: nodes stand before edges.
      OG_CHECK(node_count_ == index);
      node_count_ = index + 1;
      nodes_[type.name] = index;
    } else {
      edges_[type.name] = index;
      edges_folded_[FoldCase(type.name)] = index;
    }
  }
  json_ = CatalogToJson(*this);
  hash_ = Sha256Hex(json_);
}

const TypeDef* Catalog::FindNode(std::string_view name) const {
  const auto found = nodes_.find(std::string(name));
  return found == nodes_.end() ? nullptr : &type(found->second);
}

const TypeDef* Catalog::FindEdge(std::string_view name) const {
  if (const auto exact = edges_.find(std::string(name)); exact != edges_.end()) {
    return &type(exact->second);
  }
  const auto folded = edges_folded_.find(FoldCase(name));
  return folded == edges_folded_.end() ? nullptr : &type(folded->second);
}

const TypeDef* Catalog::FindTable(uint64_t table_id) const {
  const auto found = tables_.find(table_id);
  return found == tables_.end() ? nullptr : &type(found->second);
}

int Catalog::IndexOf(const TypeDef& type) const {
  const auto found = tables_.find(type.table_id);
  OG_CHECK(found != tables_.end());
  return found->second;
}

int Catalog::SourceIndex(const TypeDef& edge) const {
  return nodes_.at(edge.source);
}

int Catalog::TargetIndex(const TypeDef& edge) const {
  return nodes_.at(edge.target);
}

std::vector<int> Catalog::IncidentEdges(const TypeDef& node) const {
  std::vector<int> incident;
  for (size_t i = static_cast<size_t>(node_count_); i < types_.size(); ++i) {
    if (types_[i].source == node.name || types_[i].target == node.name) {
      incident.push_back(static_cast<int>(i));
    }
  }
  return incident;
}

}  // namespace omnigraph::schema
