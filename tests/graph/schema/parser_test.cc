// The grammar of .pg: what is accepted, and where and how the rest is refused.
#include "omnigraph/graph/schema/parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "omnigraph/testing/status_matchers.h"
#include "schema_fixture.h"

namespace omnigraph::schema {
namespace {

TEST(SchemaParser, ReadsTheWholeFixture) {
  OG_ASSERT_OK_AND_ASSIGN(const Ast ast, ParseSchema(kFixture));
  ASSERT_EQ(ast.interfaces.size(), 1u);
  ASSERT_EQ(ast.nodes.size(), 3u);
  ASSERT_EQ(ast.edges.size(), 2u);
  const NodeDecl& person = ast.nodes[0];
  EXPECT_EQ(person.implements.at(0).name, "Named");
  ASSERT_EQ(person.fields.size(), 3u);
  EXPECT_EQ(person.fields[0].marks.at(0).name, "key");
  EXPECT_EQ(person.fields[1].type.ToString(), "I32?");
  EXPECT_EQ(person.fields[2].type.ToString(), "[String]?");
  EXPECT_EQ(person.rules.at(0).kind, RuleDecl::Kind::kRange);
  EXPECT_EQ(person.rules.at(0).bounds->high->text, "150");
  EXPECT_EQ(ast.nodes[1].fields[1].type.ToString(), "enum(eu, us, apac)");
  EXPECT_EQ(ast.edges[1].card->min, 0u);
  EXPECT_EQ(ast.edges[1].card->max, 1u);
}

TEST(SchemaParser, ReadsEveryTypeAndComment) {
  OG_ASSERT_OK_AND_ASSIGN(const Ast ast, ParseSchema(R"(// all of them
node All @description("d\n\"q\"\\ \t\r") @instruction("i") @stream(shards=2, on_reject="halt") {
  a: String  b: Blob? c: Bool d: I32 e: I64 f: U32 g: U64 h: F32 i: F64 j: Date k: DateTime
  l: [Date]? /* a comment
                of two lines ** / */
  m: enum(in-progress, 2024, 5x,
          _done)?
  n: Vector(3) @embed("a", model="m1") @odd(1, x=2.5, y=true, z=name)
  @unique (a, d) @index(e) @range(h, -1.5..) @range(i, ..10) @check(a, "^x") @key(d)
}
edge Likes: All -> All
edge Has: All -> All @card(2..) @description("e") { since: Date? @unique(src, since) @key(@src, @dst) }
)"));
  ASSERT_EQ(ast.nodes.size(), 1u);
  const NodeDecl& all = ast.nodes[0];
  EXPECT_EQ(all.marks.at(0).args.at(0).value.text, "d\n\"q\"\\ \t\r");
  EXPECT_EQ(all.marks.at(2).args.at(1).name, "on_reject");
  ASSERT_EQ(all.fields.size(), 14u);
  EXPECT_EQ(all.fields[12].type.ToString(), "enum(in-progress, 2024, 5x, _done)?");
  EXPECT_EQ(all.fields[13].type.dimension, 3);
  EXPECT_EQ(all.fields[13].marks.at(1).args.at(1).value.kind, Literal::Kind::kFloat);
  ASSERT_EQ(all.rules.size(), 6u);
  EXPECT_EQ(all.rules[2].bounds->low->text, "-1.5");
  EXPECT_FALSE(all.rules[2].bounds->high.has_value());
  // `..10` is an upper bound (choice 9 of the surface).
  EXPECT_FALSE(all.rules[3].bounds->low.has_value());
  EXPECT_EQ(all.rules[3].bounds->high->text, "10");
  EXPECT_FALSE(ast.edges[1].card->max.has_value());
  EXPECT_EQ(ast.edges[1].rules.at(1).names.at(0).text, "@src");
}

TEST(SchemaParser, RuleAfterPropertyIsARule) {
  OG_ASSERT_OK_AND_ASSIGN(const Ast ast, ParseSchema("node A { x: I32 name: String @unique(x) }"));
  EXPECT_TRUE(ast.nodes[0].fields[1].marks.empty());
  EXPECT_EQ(ast.nodes[0].rules.size(), 1u);
}

TEST(SchemaParser, AcceptsEmptyTextByteOrderMarkAndCrLf) {
  OG_EXPECT_OK(ParseSchema(""));
  OG_EXPECT_OK(ParseSchema(" \r\n\t// only a comment"));
  OG_EXPECT_OK(ParseSchema("\xef\xbb\xbfnode A {\r\n  x: I32\r\n}\r\n"));
}

struct BadText {
  std::string_view text;
  const char* code;
  int64_t line;
  int64_t column;
};

class SchemaParserRefuses : public ::testing::TestWithParam<BadText> {};

TEST_P(SchemaParserRefuses, WithCodeAndPlace) {
  const Status status = ParseSchema(GetParam().text).status();
  OG_EXPECT_ERROR(status, ErrorKind::kInvalid, GetParam().code);
  const ErrorDetail* detail = GetErrorDetail(status);
  ASSERT_NE(detail, nullptr) << GetParam().text;
  EXPECT_EQ(detail->place().line, GetParam().line) << status.ToString();
  EXPECT_EQ(detail->place().column, GetParam().column) << status.ToString();
}

INSTANTIATE_TEST_SUITE_P(
    Texts, SchemaParserRefuses,
    ::testing::Values(
        // A1: annotations stand before `implements`.
        BadText{"node Person implements Named @description(\"d\") {}", "schema.annotation", 1, 30},
        BadText{"node A {}\n# note", "schema.syntax", 2, 1},          // A2
        BadText{"edge E: A -> B @card(2..1)", "schema.card", 1, 16},  // A3
        BadText{"edge E: A -> B @description(\"x\") @card(0..1)", "schema.card", 1, 34},
        BadText{"edge E: A -> B @card(-1..2)", "schema.syntax", 1, 22},
        BadText{"edge E: A -> B @card(0)", "schema.syntax", 1, 23},
        BadText{"edge E: A -> B @card(99999999999999999999..)", "schema.number", 1, 22},
        BadText{"edge E A -> B", "schema.syntax", 1, 8},
        BadText{"edge E: A B", "schema.syntax", 1, 11},
        BadText{"edge E: A ->", "schema.syntax", 1, 13},
        BadText{"edge E: A -> B @key(src, dst)", "schema.annotation", 1, 16},
        BadText{"node person {}", "schema.syntax", 1, 6}, BadText{"node A", "schema.syntax", 1, 7},
        BadText{"node A {", "schema.syntax", 1, 9},
        BadText{"node A { Name: String }", "schema.syntax", 1, 10},
        BadText{"node A { x String }", "schema.syntax", 1, 12},
        BadText{"node A { x: string }", "schema.syntax", 1, 13},
        BadText{"node A { x: Strings }", "schema.syntax", 1, 13},
        BadText{"node A { x: I32, y: I32 }", "schema.syntax", 1, 16},
        BadText{"node A { @description(\"x\") x: I32 }", "schema.annotation", 1, 10},
        BadText{"nodes A {}", "schema.syntax", 1, 1}, BadText{"type A {}", "schema.syntax", 1, 1},
        BadText{"node A { x: [[I32]] }", "schema.list", 1, 14},
        BadText{"node A { x: [enum(a)] }", "schema.list", 1, 14},
        BadText{"node A { x: [Vector(3)] }", "schema.list", 1, 14},
        BadText{"node A { x: [Blob] }", "schema.list", 1, 14},
        BadText{"node A { x: [I32?] }", "schema.list", 1, 17},
        BadText{"node A { x: [I32 }", "schema.syntax", 1, 18},
        BadText{"node A { x: enum() }", "schema.enum", 1, 13},
        BadText{"node A { x: enum(a, b,\n a) }", "schema.enum", 2, 2},
        BadText{"node A { x: enum(a b) }", "schema.syntax", 1, 20},
        BadText{"node A { x: enum(\"a\") }", "schema.syntax", 1, 18},
        // B31: degenerate widths make no schema.
        BadText{"node A { v: Vector(0) }", "schema.vector_dimension", 1, 20},
        BadText{"node A { v: Vector(-1) }", "schema.vector_dimension", 1, 20},
        BadText{"node A { v: Vector(100000) }", "schema.vector_dimension", 1, 20},
        BadText{"node A { v: Vector(2147483648) }", "schema.vector_dimension", 1, 20},
        BadText{"node A { v: Vector }", "schema.syntax", 1, 20},
        BadText{"node A { x: I32 @range(x, 5) }", "schema.syntax", 1, 28},
        BadText{"node A { x: I32 @range(x, ..) }", "schema.range", 1, 17},
        BadText{"node A { x: I32 @range(x) }", "schema.syntax", 1, 25},
        BadText{"node A { x: I32 @range(x, 1e3..) }", "schema.syntax", 1, 28},
        BadText{"node A { x: String @check(x, y) }", "schema.syntax", 1, 30},
        BadText{"node A { x: String @check(x) }", "schema.syntax", 1, 28},
        BadText{"node A { x: I32 @key(\"x\") }", "schema.syntax", 1, 22},
        BadText{"node A { x: I32 @odd(-1) }", "schema.syntax", 1, 22},
        BadText{"node A @description() {}", "schema.arguments", 1, 21},
        BadText{"node A @description(\"a\\qb\") {}", "schema.string_escape", 1, 23},
        BadText{"node A @description(\"a", "schema.unterminated", 1, 21},
        BadText{"node A {} /* open", "schema.unterminated", 1, 11},
        BadText{"interface I @description(\"x\") {}", "schema.annotation", 1, 13},
        BadText{"interface I { x: I32 @key(x) }", "schema.annotation", 1, 22},
        BadText{"node A @key(x) { x: I32 }", "schema.annotation", 1, 8},
        BadText{"node A {}\n \xff", "schema.encoding", 2, 2},
        BadText{"node A {} // \xc3\xa9 \xed\xa0\x80", "schema.encoding", 1, 17},
        BadText{std::string_view("node A { \0 }", 12), "schema.syntax", 1, 10}));

TEST(SchemaParser, RefusesATextThatIsTooLong) {
  const std::string text(kMaxSchemaBytes + 1, ' ');
  OG_EXPECT_ERROR(ParseSchema(text), ErrorKind::kInvalid, "schema.too_large");
}

// Bytes from outside never crash: every prefix of a text parses or fails with a place.
TEST(SchemaParser, EveryPrefixAndEveryFlippedByteIsHandled) {
  const std::string text(kFixture);
  for (size_t size = 0; size <= text.size(); ++size) {
    const Status status = ParseSchema(std::string_view(text).substr(0, size)).status();
    EXPECT_TRUE(status.ok() || GetErrorDetail(status) != nullptr);
  }
  for (size_t at = 0; at < text.size(); ++at) {
    std::string broken = text;
    broken[at] = static_cast<char>(broken[at] ^ 0x55);
    const Status status = Compile(broken).status();
    EXPECT_TRUE(status.ok() || (IsInvalid(status) && !CodeOf(status).empty()));
  }
}

}  // namespace
}  // namespace omnigraph::schema
