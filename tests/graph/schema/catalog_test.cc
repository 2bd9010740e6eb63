// Resolution: interfaces, rules, ids, the stored form and the physical columns.
#include "omnigraph/graph/schema/catalog.h"

#include <arrow/type.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "omnigraph/base/hash.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/schema_json.h"
#include "omnigraph/testing/status_matchers.h"
#include "schema_fixture.h"

namespace omnigraph::schema {
namespace {

std::vector<std::string> Names(const TypeDef& type) {
  std::vector<std::string> names;
  for (const Property& property : type.properties) {
    names.push_back(property.name);
  }
  return names;
}

TEST(Catalog, ResolvesTheFixture) {
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog, Compile(kFixture));
  ASSERT_EQ(catalog->types().size(), 5u);
  EXPECT_EQ(catalog->node_count(), 3);
  const TypeDef* person = catalog->FindNode("Person");
  ASSERT_NE(person, nullptr);
  EXPECT_EQ(Names(*person), (std::vector<std::string>{"slug", "age", "tags", "name"}));
  EXPECT_EQ(person->indexes.size(), 1u);  // the interface's mark came along
  EXPECT_EQ(person->key.size(), 1u);
  EXPECT_EQ(person->ranges.at(0).high->magnitude, 150u);
  const TypeDef* team = catalog->FindNode("Team");
  EXPECT_EQ(team->properties[1].type.ToString(), "enum(apac, eu, us)");
  const TypeDef* member_of = catalog->FindEdge("MemberOf");
  EXPECT_EQ(member_of->card.max, 1u);
  EXPECT_EQ(catalog->TargetIndex(*member_of), catalog->IndexOf(*team));
  EXPECT_EQ(catalog->IncidentEdges(*person), (std::vector<int>{3, 4}));
  EXPECT_EQ(catalog->FindTable(person->table_id), person);
  EXPECT_EQ(person->TablePath(), "nodes/0000000000000001-0000000000000002.lance");
  EXPECT_EQ(member_of->TablePath().substr(0, 6), "edges/");
}

TEST(Catalog, FindsEdgesInAnyCaseAndNodesExactly) {
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog, Compile(kFixture));
  EXPECT_EQ(catalog->FindEdge("memberof"), catalog->FindEdge("MemberOf"));
  EXPECT_NE(catalog->FindEdge("memberOf"), nullptr);
  EXPECT_EQ(catalog->FindNode("person"), nullptr);
  EXPECT_EQ(catalog->FindNode("Named"), nullptr);  // interfaces are no types
  EXPECT_EQ(catalog->FindEdge("Person"), nullptr);
}

TEST(Catalog, NodeAndEdgeMayShareAName) {
  OG_EXPECT_OK(Compile("node A { x: I32 } edge A: A -> A"));
}

TEST(Catalog, KeyMembersStandInTheOrderOfProperties) {
  // A4: `["T1","eu"]` whatever order @key has.
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog,
                          Compile("node T { code: String region: String @key(region, code) } "
                                  "edge E: T -> T { kind: String @key(kind, @dst, src) }"));
  const TypeDef& team = catalog->type(0);
  EXPECT_EQ(team.key,
            (std::vector<Member>{{Member::Kind::kProperty, 0}, {Member::Kind::kProperty, 1}}));
  const TypeDef& edge = catalog->type(1);
  EXPECT_EQ(edge.key,
            (std::vector<Member>{
                {Member::Kind::kSrc, -1}, {Member::Kind::kDst, -1}, {Member::Kind::kProperty, 0}}));
}

TEST(Catalog, StreamEmbedAndOpaqueAnnotationsAreKept) {
  OG_ASSERT_OK_AND_ASSIGN(
      const auto catalog,
      Compile("node A @stream @owner(\"x\") { t: String v: Vector(3)? @embed(t, model=\"m\") "
              "w: Vector(3)? @embed(source=\"t\") @odd } "
              "edge E: A -> A @stream(on_reject=\"halt\")"));
  const TypeDef& node = catalog->type(0);
  EXPECT_EQ(node.stream->shards, 1u);
  EXPECT_EQ(node.stream->on_reject, OnReject::kDeadLetter);
  EXPECT_EQ(node.marks.at(0).name, "owner");
  EXPECT_EQ(node.properties[1].embed->source, "t");
  EXPECT_EQ(node.properties[1].embed->model, "m");
  EXPECT_EQ(node.properties[2].marks.at(0).name, "odd");
  EXPECT_EQ(catalog->type(1).stream->on_reject, OnReject::kHalt);
}

TEST(Catalog, BoundsAreExact) {
  const Bound large = BoundOfText("-9223372036854775807");
  EXPECT_TRUE(large.is_integer);
  EXPECT_TRUE(large.negative);
  EXPECT_EQ(large.magnitude, 9223372036854775807u);
  EXPECT_FALSE(BoundOfText("0.5").is_integer);
  EXPECT_FALSE(BoundOfText("99999999999999999999").is_integer);
  EXPECT_EQ(BoundOfText("99999999999999999999").real, 1e20);
}

struct BadSchema {
  const char* text;
  const char* code;
  int64_t column;
};

class CatalogRefuses : public ::testing::TestWithParam<BadSchema> {};

TEST_P(CatalogRefuses, WithCodeAndPlace) {
  const Status status = Compile(GetParam().text).status();
  OG_EXPECT_ERROR(status, ErrorKind::kInvalid, GetParam().code);
  const ErrorDetail* detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr) << GetParam().text;
  EXPECT_EQ(detail->place().line, 1) << status.ToString();
  EXPECT_EQ(detail->place().column, GetParam().column) << status.ToString();
}

INSTANTIATE_TEST_SUITE_P(
    Schemas, CatalogRefuses,
    ::testing::Values(
        BadSchema{"node A {} node A {}", "schema.duplicate_type", 16},
        BadSchema{"interface A {} interface A {}", "schema.duplicate_type", 26},
        BadSchema{"node A {} edge E: A -> A edge E: A -> A", "schema.duplicate_type", 31},
        BadSchema{"node A {} edge Knows: A -> A edge KNOWS: A -> A", "schema.duplicate_type", 35},
        BadSchema{"node A { x: I32 x: I64 }", "schema.duplicate_property", 17},
        BadSchema{"node A implements I {}", "schema.unknown_interface", 19},
        BadSchema{"interface I {} node A implements I, I {}", "schema.duplicate_type", 37},
        BadSchema{"interface I { x: I32 } node A implements I { x: I32? }",
                  "schema.interface_mismatch", 46},
        BadSchema{"interface I { x: I32 } interface J { x: I64 } node A implements I, J {}",
                  "schema.interface_mismatch", 15},
        BadSchema{"node A {} edge E: A -> B", "schema.unknown_type", 24},
        BadSchema{"interface I {} node A {} edge E: I -> A", "schema.unknown_type", 34},
        BadSchema{"node A { x: I32 @key(y) }", "schema.unknown_property", 22},
        BadSchema{"node A { x: I32 @unique(src) }", "schema.unknown_property", 25},
        BadSchema{"node A { x: I32 @range(y, 0..) }", "schema.unknown_property", 24},
        BadSchema{"node A { x: I32 @unique(x, x) }", "schema.arguments", 28},
        BadSchema{"node A { x: I32 @key y: I32 @key }", "schema.key", 29},
        BadSchema{"node A { x: I32 @key @key(x) }", "schema.key", 22},
        BadSchema{"node A { x: I32? @key }", "schema.key", 18},
        BadSchema{"node A { x: [I32] @key }", "schema.key", 19},
        BadSchema{"node A { x: Vector(3) @key }", "schema.key", 23},
        BadSchema{"node A { x: Blob @key }", "schema.key", 18},
        BadSchema{"node A @key { x: I32 }", "schema.annotation", 8},
        BadSchema{"node A @unique { x: I32 }", "schema.annotation", 8},
        BadSchema{"node A {} edge E: A -> A { k: I32 @key }", "schema.key", 35},
        BadSchema{"node A {} edge E: A -> A { k: I32 @key(src, k) }", "schema.key", 35},
        BadSchema{"node A {} edge E: A -> A { k: I32 @range(k, 0..) }", "schema.range", 35},
        BadSchema{"node A {} edge E: A -> A { k: String @check(k, \"x\") }", "schema.check", 38},
        BadSchema{"node A {} edge E: A -> A { k: String v: Vector(2) @embed(k) }", "schema.embed",
                  51},
        BadSchema{"node A { x: [I32] @unique }", "schema.unique", 19},
        BadSchema{"node A { x: Blob? @unique }", "schema.unique", 19},
        BadSchema{"node A { x: [I32] @index }", "schema.index", 19},
        BadSchema{"node A { x: Blob @index(x) }", "schema.index", 18},
        BadSchema{"node A { x: String @range(x, 0..) }", "schema.range", 20},
        BadSchema{"node A { x: I32 @range(x, 5..-5) }", "schema.range", 17},
        BadSchema{"node A { x: I32 @check(x, \"a\") }", "schema.check", 17},
        BadSchema{"node A { x: I32 @range }", "schema.annotation", 17},
        BadSchema{"node A { x: I32 @instruction(\"a\") }", "schema.annotation", 17},
        BadSchema{"node A { x: I32 @stream }", "schema.annotation", 17},
        BadSchema{"node A { x: String y: I32 @embed(x) }", "schema.embed", 27},
        BadSchema{"node A { v: Vector(2) @embed(\"x\") }", "schema.embed", 23},
        BadSchema{"node A { x: String? v: Vector(2) @embed(\"x\", dims=3) }", "schema.embed", 51},
        BadSchema{"node A { x: I32 v: Vector(2) @embed(\"x\") }", "schema.embed", 30},
        BadSchema{"node A { v: Vector(2) @embed }", "schema.embed", 23},
        BadSchema{"node A @description(\"\") {}", "schema.arguments", 8},
        BadSchema{"node A @description(\"a\", \"b\") {}", "schema.arguments", 8},
        BadSchema{"node A @description(\"a\") @description(\"b\") {}", "schema.arguments", 26},
        BadSchema{"node A @rename_from(name=\"B\") {}", "schema.arguments", 8},
        BadSchema{"node A { x: I32 @key(x) y: I32 @unique @rename_from(3) }", "schema.arguments",
                  40},
        BadSchema{"node A @stream(shards=0) {}", "schema.stream", 23},
        BadSchema{"node A @stream(on_reject=\"drop\") {}", "schema.stream", 26},
        BadSchema{"node A @stream(shards=1, shards=2) {}", "schema.stream", 33},
        BadSchema{"node A @stream @stream {}", "schema.stream", 16},
        BadSchema{"node A { _x: I32 }", "schema.reserved_name", 10},
        BadSchema{"interface I { _rowid: I32 }", "schema.reserved_name", 15},
        BadSchema{"node A {} edge E: A -> A { src: I32 }", "schema.reserved_name", 28},
        BadSchema{"node A {} edge E: A -> A { to: I32 }", "schema.reserved_name", 28},
        BadSchema{"node A {} edge E: A -> A { id: String }", "schema.reserved_name", 28},
        BadSchema{"node A { id: String }", "schema.reserved_name", 10},
        BadSchema{"node A { id: I64 @key }", "schema.reserved_name", 10},
        BadSchema{"node A { id: String x: String @key(id, x) }", "schema.reserved_name", 10}));

TEST(Catalog, KeepsIdsThroughAChangeOfText) {
  OG_ASSERT_OK_AND_ASSIGN(const auto first, Compile(kFixture));
  // A5: code becomes ident, a property is put in front, a type is renamed, one is dropped.
  OG_ASSERT_OK_AND_ASSIGN(
      const auto second,
      Compile(
          "node Squad @rename_from(\"Team\") { extra: I32? ident: String @rename_from(\"code\") "
          "region: enum(eu, us, apac) size: I32 @key(ident, region) } "
          "node Memo { body: String @index }",
          first.get(), 100));
  const TypeDef* team = first->FindNode("Team");
  const TypeDef* squad = second->FindNode("Squad");
  EXPECT_EQ(squad->table_id, team->table_id);
  EXPECT_EQ(squad->incarnation, team->incarnation);
  EXPECT_EQ(Names(*squad), (std::vector<std::string>{"ident", "region", "size", "extra"}));
  EXPECT_EQ(squad->properties[3].id, 4u);
  EXPECT_EQ(squad->next_property_id, 5u);
  // Dropped and declared again: another table.
  OG_ASSERT_OK_AND_ASSIGN(const auto third, Compile(kFixture, second.get(), 200));
  EXPECT_EQ(third->FindNode("Memo")->table_id, first->FindNode("Memo")->table_id);
  EXPECT_NE(third->FindNode("Person")->table_id, first->FindNode("Person")->table_id);
  EXPECT_NE(third->hash(), first->hash());
  EXPECT_EQ(third->text(), first->text());
}

TEST(CatalogJson, ReadsBackToTheSameCatalog) {
  const std::string text = std::string(kFixture) + R"(
node All @description("d") @instruction("i") @stream(shards=2) @x(1, y="z") {
  a: String @description("quote \" and \\") b: Blob? l: [Date]? e: enum(b, a)? v: Vector(3)? @embed("a", model="m")
  n: I64 @range(n, -5..9007199254740993) @check(a, "^[a-z]+$") @unique(a, n) @index(n, a)
}
edge Has: All -> Person @card(1..) { k: String @key(src, dst, k) @unique(dst, k) }
)";
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog, Compile(text));
  OG_ASSERT_OK_AND_ASSIGN(const auto back, CatalogFromJson(catalog->json(), text, "o"));
  EXPECT_EQ(back->json(), catalog->json());
  EXPECT_EQ(back->hash(), catalog->hash());
  EXPECT_EQ(back->hash(), Sha256Hex(catalog->json()));
  EXPECT_EQ(back->FindNode("All")->ranges.at(0).high->magnitude, 9007199254740993u);
  EXPECT_EQ(back->FindEdge("has")->key.size(), 3u);
  EXPECT_EQ(back->interfaces().at(0).fields.at(0).name, "name");
}

TEST(CatalogJson, RefusesOtherBytes) {
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog, Compile(kFixture));
  const std::string& json = catalog->json();
  const auto read = [&](const std::string& bytes) {
    return CatalogFromJson(bytes, kFixture, "_schemas/x.json").status();
  };
  OG_EXPECT_ERROR(read(""), ErrorKind::kCorruption, "schema.stored");
  OG_EXPECT_ERROR(read("{}"), ErrorKind::kCorruption, "schema.stored");
  OG_EXPECT_ERROR(read("{\"v\":2}"), ErrorKind::kUnsupported, "schema.stored_version");
  OG_EXPECT_ERROR(CatalogFromJson(json, "node A {}", "o"), ErrorKind::kCorruption, "schema.stored");
  for (size_t size = 0; size < json.size(); ++size) {
    EXPECT_TRUE(IsCorruption(read(json.substr(0, size))));
  }
  for (size_t at = 0; at < json.size(); ++at) {
    std::string broken = json;
    broken[at] = static_cast<char>(broken[at] ^ 0x01);
    const Status status = read(broken);
    // A flip inside an id or a name may give another well-formed schema; it must not crash.
    EXPECT_TRUE(status.ok() || IsCorruption(status) || IsUnsupported(status));
  }
}

TEST(PhysicalSchema, PutsSystemColumnsFirst) {
  OG_ASSERT_OK_AND_ASSIGN(
      const auto catalog,
      Compile("node A { a: String b: Bool? c: I32 d: I64 e: U32 f: U64 g: F32 h: F64 i: Date "
              "j: DateTime k: enum(x) l: [I32]? m: Vector(2) n: Blob? } "
              "edge E: A -> A { w: F64? }"));
  EXPECT_EQ(ArrowSchemaOf(catalog->type(0))->ToString(),
            "id: string not null\na: string not null\nb: bool\nc: int32 not null\n"
            "d: int64 not null\ne: uint32 not null\nf: uint64 not null\ng: float not null\n"
            "h: double not null\ni: date32[day] not null\nj: timestamp[ms, tz=UTC] not null\n"
            "k: string not null\nl: list<item: int32>\n"
            "m: fixed_size_list<item: float>[2] not null\nn: large_binary");
  EXPECT_EQ(ArrowLogSchemaOf(catalog->type(1))->ToString(),
            "id: string not null\nsrc: string not null\ndst: string not null\nw: double\n"
            "_tombstone: bool not null");
  EXPECT_EQ(ColumnOf(catalog->type(0), 2), 3);
  EXPECT_EQ(ColumnOf(catalog->type(1), 0), 3);
  EXPECT_EQ(ColumnOf(catalog->type(1), Member{Member::Kind::kDst, -1}), 2);
}

TEST(PhysicalSchema, AKeyNamedIdIsTheIdColumn) {
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog,
                          Compile("node A { x: I32 id: String @key src: String y: I32 }"));
  EXPECT_EQ(ArrowSchemaOf(catalog->type(0))->ToString(),
            "id: string not null\nx: int32 not null\nsrc: string not null\ny: int32 not null");
  EXPECT_EQ(ColumnOf(catalog->type(0), 0), 1);
  EXPECT_EQ(ColumnOf(catalog->type(0), 1), 0);
  EXPECT_EQ(ColumnOf(catalog->type(0), 3), 3);
}

}  // namespace
}  // namespace omnigraph::schema
