// The parser of `.gq`: shapes of the tree, and errors with line and column.
#include "omnigraph/query/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::query {
namespace {

const ReadBody& ReadOf(const QueryFile& file, size_t index = 0) {
  return std::get<ReadBody>(file.queries.at(index).body);
}

std::string Wrap(const std::string& match, const std::string& rest = "return { $p }") {
  return "query q() { match { " + match + " } " + rest + " }";
}

TEST(Parser, WhenFileHasSeveralQueries_KeepsThemInOrder) {
  OG_ASSERT_OK_AND_ASSIGN(const QueryFile file, ParseQueries(R"(
    // people
    query all() @description("everyone") @instruction("use \"sparingly\"") {
      match { $p: Person } return { $p.name }
    }
    /* one */
    query one($slug: String, $tags: [String]?, $v: Vector(3)) {
      match { $p: Person { slug: $slug, } } return { $p.name as name, $p.age }
      order { name desc, $p.age } limit 3
    })"));
  ASSERT_EQ(file.queries.size(), 2U);
  EXPECT_EQ(file.queries[0].description, "everyone");
  EXPECT_EQ(file.queries[0].instruction, "use \"sparingly\"");
  const QueryDecl& one = file.queries[1];
  ASSERT_EQ(one.params.size(), 3U);
  EXPECT_EQ(one.params[1].type.ToString(), "[String]?");
  EXPECT_EQ(one.params[2].type.ToString(), "Vector(3)");
  const ReadBody& read = ReadOf(file, 1);
  ASSERT_EQ(read.returns.size(), 2U);
  EXPECT_EQ(read.returns[0].alias, "name");
  ASSERT_EQ(read.order.size(), 2U);
  EXPECT_TRUE(read.order[0].descending);
  EXPECT_EQ(read.order[0].expr.kind, Expr::Kind::kName);
  ASSERT_TRUE(read.limit.has_value());
  EXPECT_EQ(read.limit->literal.magnitude, 3U);
  OG_ASSERT_OK_AND_ASSIGN(const QueryDecl* found, FindQuery(file, "one"));
  EXPECT_EQ(found, &one);
  OG_EXPECT_ERROR(FindQuery(file, "two"), ErrorKind::kInvalid, "query.unknown_name");
  OG_EXPECT_ERROR(FindQuery(file, ""), ErrorKind::kInvalid, "query.name_required");
}

TEST(Parser, WhenFileIsEmpty_HasNoQueries) {
  OG_ASSERT_OK_AND_ASSIGN(const QueryFile file, ParseQueries("\xef\xbb\xbf // nothing\n"));
  EXPECT_TRUE(file.queries.empty());
  OG_EXPECT_ERROR(FindQuery(file, ""), ErrorKind::kInvalid, "query.empty_file");
}

TEST(Parser, Hop_HasEveryForm) {
  OG_ASSERT_OK_AND_ASSIGN(const QueryFile file,
                          ParseQueries(Wrap("$a knows $b $a $e:knows $_ $a <knows>{2,3} $b "
                                            "$a contains{1,} $b $a starts_with $b")));
  const auto& match = ReadOf(file).match;
  ASSERT_EQ(match.size(), 5U);
  const auto& bound = std::get<Hop>(match[1].node);
  EXPECT_EQ(bound.edge_variable, "e");
  EXPECT_EQ(bound.to, "_");
  const auto& undirected = std::get<Hop>(match[2].node);
  EXPECT_TRUE(undirected.undirected);
  EXPECT_EQ(undirected.bounds->min, 2U);
  EXPECT_EQ(undirected.bounds->max, 3U);
  // The trap of the grammar: a bare variable on the left makes `contains` an edge.
  const auto& open = std::get<Hop>(match[3].node);
  EXPECT_EQ(open.edge, "contains");
  EXPECT_FALSE(open.bounds->max.has_value());
  EXPECT_EQ(std::get<Hop>(match[4].node).edge, "starts_with");
}

TEST(Parser, Filter_HasPrecedenceOfNotAndOr) {
  OG_ASSERT_OK_AND_ASSIGN(
      const QueryFile file,
      ParseQueries(Wrap("$p: Person not $p.a = 1 and $p.b < -2.5 or ($p.c is not null or $p.d)\n"
                        "$flag = true $t contains \"x\" not { $p knows $_ }")));
  const auto& match = ReadOf(file).match;
  ASSERT_EQ(match.size(), 5U);
  const auto& any = std::get<Expr>(match[1].node);
  ASSERT_EQ(any.kind, Expr::Kind::kOr);
  ASSERT_EQ(any.args.size(), 2U);
  EXPECT_EQ(any.args[0].kind, Expr::Kind::kAnd);
  EXPECT_EQ(any.args[0].args[0].kind, Expr::Kind::kNot);
  EXPECT_EQ(any.args[0].args[1].args[1].literal.real, -2.5);
  EXPECT_EQ(any.args[1].args[0].kind, Expr::Kind::kIsNull);
  EXPECT_TRUE(any.args[1].args[0].negated);
  EXPECT_EQ(std::get<Expr>(match[3].node).op, CompareOp::kContains);
  EXPECT_TRUE(std::get<Block>(match[4].node).negated);
}

TEST(Parser, Return_NeedsNoCommas) {
  OG_ASSERT_OK_AND_ASSIGN(
      const QueryFile file,
      ParseQueries(Wrap("$p: Person",
                        "return { $p.@id count($p) as n, now() [1, 2] date(\"2020-01-02\") }")));
  const auto& returns = ReadOf(file).returns;
  ASSERT_EQ(returns.size(), 5U);
  EXPECT_EQ(returns[0].expr.name, "@id");
  EXPECT_EQ(returns[1].expr.kind, Expr::Kind::kAggregate);
  EXPECT_EQ(returns[3].expr.literal.items.size(), 2U);
  EXPECT_EQ(returns[4].expr.literal.kind, Literal::Kind::kDate);
}

TEST(Parser, Mutation_IsToldApart) {
  OG_ASSERT_OK_AND_ASSIGN(const QueryFile file,
                          ParseQueries("query w() { insert Person { slug: \"a\" } }\n"
                                       "query r() { match { $p: Person } return { $p } }"));
  EXPECT_TRUE(file.queries[0].is_mutation());
  EXPECT_FALSE(file.queries[1].is_mutation());
}

struct BadText {
  const char* name;
  std::string text;
  int64_t line;
  int64_t column;
  const char* code = "query.syntax";
};

class ParserErrors : public ::testing::TestWithParam<BadText> {};

TEST_P(ParserErrors, NameLineAndColumn) {
  const auto result = ParseQueries(GetParam().text, "q.gq");
  ASSERT_FALSE(result.ok());
  const ErrorDetail* detail = GetErrorDetail(result.status());
  ASSERT_NE(detail, nullptr) << result.status().ToString();
  EXPECT_EQ(detail->code(), GetParam().code) << result.status().ToString();
  EXPECT_EQ(detail->place().object, "q.gq");
  EXPECT_EQ(detail->place().line, GetParam().line) << result.status().ToString();
  EXPECT_EQ(detail->place().column, GetParam().column) << result.status().ToString();
}

std::string Nested(int depth) {
  return Wrap("$p: Person " + std::string(static_cast<size_t>(depth), '(') + "$p.a = 1" +
              std::string(static_cast<size_t>(depth), ')'));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ParserErrors,
    ::testing::Values(
        BadText{"NoQuery", "match { $p: Person }", 1, 1}, BadText{"Hash", "# note", 1, 1},
        BadText{"NoReturn", "query q() {\n match { $p: Person }\n}", 3, 1},
        BadText{"EmptyReturn", "query q() { match { $p: Person } return { } }", 1, 43},
        BadText{"EmptyMatch", "query q() { match { } return { $p } }", 1, 21},
        BadText{"NoType", Wrap("$p: { a: 1 }"), 1, 25},
        BadText{"NoDestination", Wrap("$p knows \"ann\""), 1, 30},
        BadText{"NoEdge", Wrap("$p $q"), 1, 27}, BadText{"DoubleEquals", Wrap("$p.a == 1"), 1, 27},
        BadText{"Null", Wrap("$p.a = null"), 1, 28},
        BadText{"CommaInMatch", Wrap("$p: Person, $p.a = 1"), 1, 31},
        BadText{"SingleQuote", Wrap("$p.a = 'x'"), 1, 28},
        BadText{"OpenString", "query q() {\n  match { $p.a = \"x }", 2, 18},
        BadText{"BadEscape", Wrap("$p.a = \"a\\q\""), 1, 30},
        BadText{"OpenComment", "query q() { /* x", 1, 13},
        BadText{"UnknownFunction", Wrap("lower($p.a) = \"x\""), 1, 21},
        BadText{"TwoArguments", Wrap("$p: Person", "return { count($p, $p) }"), 1, 43},
        BadText{"EnumParam", "query q($x: enum(a)) { match { $p: P } return { $p } }", 1, 13},
        BadText{"ParamTwice", "query q($x: I32, $x: I32) { match { $p: P } return { $p } }", 1, 18},
        BadText{"Huge", Wrap("$p.a = 99999999999999999999"), 1, 28},
        BadText{"LimitText", Wrap("$p: P", "return { $p } limit \"3\""), 1, 49},
        BadText{"Offset", Wrap("$p: P", "return { $p } limit 3 offset 4"), 1, 51},
        BadText{"Bounds", Wrap("$p knows{2} $q"), 1, 31},
        BadText{"NotUtf8", "query q() {\n // \xff\n}", 2, 5, "query.encoding"},
        BadText{"Control", "query q() \x01", 1, 11}, BadText{"Dollar", Wrap("$ = 1"), 1, 21},
        BadText{"Mark", "query q() @card(1) { }", 1, 11}, BadText{"TooDeep", Nested(100), 1, 95},
        BadText{"SameName", "query q() { insert A {} }\nquery q() { insert A {} }", 2, 7,
                "query.duplicate_name"},
        BadText{"Branch", "branch create \"x\"", 1, 1, "query.unsupported"},
        BadText{"Explain", "query q() { insert A {} } explain query q", 1, 27, "query.unsupported"},
        BadText{"CountBlock", Wrap("$p: P count { $p knows $_ } > 2"), 1, 27, "query.unsupported"},
        BadText{"BlockInExpression", Wrap("$p.a = 1 or not { $p knows $_ }"), 1, 33,
                "query.unsupported"},
        BadText{"OpenMutation", "query q() { insert A {", 1, 23}),
    [](const auto& bad) { return bad.param.name; });

// Any prefix of a valid text, and any text with one byte dropped, is answered and never crashes.
TEST(Parser, WhenTextIsCut_AnswersWithAPlace) {
  const std::string text =
      "query q($a: [I32]?) @description(\"d\") { match { $p: P {x: $a} $p $e:k $q $p <k>{1,2} $_ "
      "not { $p k $q } $p.a is not null and ($p.b contains \"\\n\" or now() > date(\"x\")) } "
      "return "
      "{ $p.a as b, sum($p.c) } order { b desc } limit 3 }";
  OG_ASSERT_OK(ParseQueries(text));
  for (size_t cut = 1; cut < text.size(); ++cut) {
    const auto prefix = ParseQueries(std::string_view(text).substr(0, cut));
    ASSERT_FALSE(prefix.ok());
    EXPECT_GT(GetErrorDetail(prefix.status())->place().line, 0);
    std::string dropped = text;
    dropped.erase(cut, 1);
    (void)ParseQueries(dropped);
  }
}

}  // namespace
}  // namespace omnigraph::query
