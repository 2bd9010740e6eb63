// Admission of single lines: the envelope, JSON, values, identity. Each refusal names line, column,
// code and property (G8, B09 to B51).
#include "omnigraph/graph/write/row_parser.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/testing/status_matchers.h"
#include "write_fixture.h"

namespace omnigraph::write {
namespace {

// --- envelope ---

TEST(RowParser, TakesNodesAndEdgesInEveryOrderOfMembers) {
  Door door;
  door.Take(R"({"type":"Person","data":{"slug":"p1","age":3}}
{"data":{"age":4,"slug":"p2"},"type":"Person"}
{ "data" : { "slug" : "p\u0033" , "name" : "\"q\"" } , "id" : "p\u0033" , "type" : "Person" }
{"edge":"Knows","from":"p1","to":"p2","data":{}}
{"to":"p\u0033","data":{},"edge":"knows","from":"p\u0031"}
{"edge":"KNOWS","from":"p1","to":"p2","id":"e1"}
{"edge":"Knows","from":"p1","to":"p2","data":{"id":"e2"}}
{"type":"City","op":"upsert","data":{"slug":"c"}})");
  ASSERT_TRUE(door.errors.empty()) << door.errors[0].message;
  EXPECT_EQ(door.admitted.size(), 8u);
  const RowBatch people = door.Batch("Person");
  EXPECT_EQ(Column<arrow::StringArray>(people, "id").GetString(2), "p3");
  EXPECT_EQ(Column<arrow::StringArray>(people, "slug").GetString(2), "p3");
  EXPECT_EQ(Column<arrow::StringArray>(people, "name").GetString(2), "\"q\"");
  EXPECT_EQ(Column<arrow::Int32Array>(people, "age").Value(1), 4);
  EXPECT_EQ(people.lines, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(people.minted, (std::vector<uint8_t>{0, 0, 0}));
  const RowBatch knows = door.Batch("Knows", true);
  EXPECT_EQ(Column<arrow::StringArray>(knows, "src").GetString(1), "p1");
  EXPECT_EQ(Column<arrow::StringArray>(knows, "dst").GetString(1), "p3");
  EXPECT_EQ(Column<arrow::StringArray>(knows, "id").GetString(3), "e2");
  EXPECT_TRUE(IsUlid(Column<arrow::StringArray>(knows, "id").GetString(0)));
  EXPECT_EQ(knows.minted, (std::vector<uint8_t>{1, 1, 0, 0}));
}

struct BadLine {
  std::string line;
  const char* code;
  int64_t column;
  const char* property = "";
};

class RowParserRefuses : public ::testing::TestWithParam<BadLine> {};

TEST_P(RowParserRefuses, ThatLineAlone) {
  const BadLine& bad = GetParam();
  Door door;
  door.Take("{\"type\":\"City\",\"data\":{\"slug\":\"before\"}}\n" + bad.line +
            "\n{\"type\":\"City\",\"data\":{\"slug\":\"after\"}}\n");
  ASSERT_EQ(door.errors.size(), 1u) << bad.line;
  const LineError& error = door.errors[0];
  EXPECT_EQ(error.code, bad.code) << bad.line << ": " << error.message;
  EXPECT_EQ(error.line, 2);
  EXPECT_EQ(error.column, bad.column) << bad.line << ": " << error.message;
  EXPECT_EQ(error.property, bad.property) << bad.line;
  EXPECT_FALSE(error.message.empty());
  // Nothing of the line stays behind.
  EXPECT_EQ(door.rows().rows(), 2);
  EXPECT_EQ(door.Batch("City").batch->num_rows(), 2);
  EXPECT_EQ(door.Batch("Person").batch->num_rows(), 0);
}

std::string Repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

// B09: what is no object is no row.
INSTANTIATE_TEST_SUITE_P(
    NotAnObject, RowParserRefuses,
    ::testing::Values(BadLine{"null", "row.not_object", 1}, BadLine{"[]", "row.not_object", 1},
                      BadLine{"7", "row.not_object", 1}, BadLine{"\"x\"", "row.not_object", 1},
                      BadLine{"{}", "row.envelope", 0}, BadLine{"# a comment", "row.not_object", 1},
                      BadLine{"  // c", "row.not_object", 3},
                      BadLine{"[{\"type\":\"City\",\"data\":{\"slug\":\"c\"}}]", "row.not_object",
                              1}));

INSTANTIATE_TEST_SUITE_P(
    Json, RowParserRefuses,
    ::testing::Values(
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c\"}}}", "row.json", 36},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c\"}} x", "row.json", 37},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c\"}}{}", "row.json", 36},
        BadLine{"{\"type\":\"City\" \"data\":{\"slug\":\"c\"}}", "row.json", 16},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c\",}}", "row.json", 35},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\"}}", "row.json", 30},
        BadLine{"{'type':'City'}", "row.json", 2}, BadLine{"{type:1}", "row.json", 2},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c\"", "row.incomplete", 23},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"c", "row.incomplete", 31},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":", "row.incomplete", 23},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"a\x01z\"}}", "row.control_character", 33},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"a\tz\"}}", "row.control_character", 33},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"\xff\"}}", "row.utf8", 32},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"\xc3\xa9\xed\xa0\x80\"}}", "row.utf8", 34},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"\\x\"}}", "row.json", 31, "slug"},
        BadLine{"{\"type\":\"City\",\"data\":{\"slug\":\"\\u12\"}}", "row.json", 31, "slug"},
        BadLine{Person("\"age\":01"), "row.json", 44, "age"},
        BadLine{Person("\"age\":+1"), "row.json", 44, "age"},
        BadLine{Person("\"age\":1."), "row.json", 44, "age"},
        BadLine{Person("\"age\":.5"), "row.json", 44, "age"},
        BadLine{Person("\"age\":0x10"), "row.json", 44, "age"},
        BadLine{Person("\"age\":nul"), "row.json", 44, "age"},
        BadLine{Person("\"ok\":True"), "row.json", 43, "ok"},
        BadLine{Person("\"ok\":truex"), "row.json", 43, "ok"},
        // B25: no JSON number is spelt so.
        BadLine{Person("\"score\":NaN"), "row.json", 46, "score"},
        BadLine{Person("\"score\":Infinity"), "row.json", 46, "score"},
        BadLine{Person("\"score\":-Infinity"), "row.json", 46, "score"}));

// B13: half a pair is refused, wherever it stands.
INSTANTIATE_TEST_SUITE_P(
    Surrogates, RowParserRefuses,
    ::testing::Values(BadLine{Person(R"("name":"\udc00")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("name":"\ud83d")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("name":"\ud83dx")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("name":"\ud83d\n")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("name":"\ud83d\ud83d")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("name":"a\\\uDBFF")"), "row.surrogate", 45, "name"},
                      BadLine{Person(R"("tags":["\udc00"])"), "row.surrogate", 46, "tags"},
                      BadLine{Person(R"("\udc00":1)"), "row.surrogate", 38},
                      BadLine{R"({"edge":"Knows","from":"\udc00","to":"x"})", "row.surrogate",
                              24}));

// B15: depth is an error of that line; the stack stays flat.
INSTANTIATE_TEST_SUITE_P(
    Depth, RowParserRefuses,
    ::testing::Values(
        BadLine{"{\"type\":\"City\",\"x\":" + Repeat("[", 200000) + Repeat("]", 200000) +
                    ",\"data\":{\"slug\":\"c\"}}",
                "row.depth", 16},
        BadLine{Person("\"tags\":" + Repeat("[", 200000) + Repeat("]", 200000)), "row.depth", 46,
                "tags"},
        BadLine{Person("\"tags\":" + Repeat("{\"a\":", 5000) + "1" + Repeat("}", 5000)),
                "row.depth", 45, "tags"},
        // 64 levels are no depth error, but no list of strings either.
        BadLine{Person("\"tags\":" + Repeat("[", 62) + Repeat("]", 62)), "row.type", 46, "tags"},
        BadLine{Person("\"tags\":" + Repeat("[", 63) + Repeat("]", 63)), "row.depth", 46, "tags"}));

// B19: duplicates are refused wherever they stand, also under another spelling.
INSTANTIATE_TEST_SUITE_P(
    Duplicates, RowParserRefuses,
    ::testing::Values(BadLine{R"({"type":"City","data":{"slug":"u1","slug":"admin"}})",
                              "row.duplicate_member", 36, "slug"},
                      BadLine{R"({"type":"City","data":{"slug":"u1","sl\u0075g":"admin"}})",
                              "row.duplicate_member", 36, "slug"},
                      BadLine{R"({"type":"City","type":"Person","data":{"slug":"a"}})",
                              "row.duplicate_member", 16},
                      BadLine{R"({"type":"City","data":{"slug":"a"},"data":{"slug":"b"}})",
                              "row.duplicate_member", 36},
                      BadLine{R"({"data":{"slug":"a"},"type":"City","data":{"slug":"b"}})",
                              "row.duplicate_member", 36},
                      BadLine{R"({"edge":"Knows","from":"a","from":"b","to":"c"})",
                              "row.duplicate_member", 28},
                      BadLine{Person("\"age\":null,\"age\":1"), "row.duplicate_member", 49, "age"},
                      BadLine{R"({"edge":"Knows","from":"a","to":"b","id":"e","data":{"id":"e"}})",
                              "row.duplicate_member", 54, "id"},
                      BadLine{R"({"edge":"Knows","from":"a","to":"b","data":{"id":"e"},"id":"e"})",
                              "row.duplicate_member", 0, "id"},
                      BadLine{R"({"edge":"Knows","from":"a","to":"b","data":{"id":"e","id":"e"}})",
                              "row.duplicate_member", 54, "id"}));

INSTANTIATE_TEST_SUITE_P(
    Envelope, RowParserRefuses,
    ::testing::Values(
        BadLine{R"({"data":{"slug":"c"}})", "row.envelope", 0},
        BadLine{R"({"type":"City","edge":"Knows","from":"a","to":"b"})", "row.envelope", 16},
        BadLine{R"({"edge":"Knows","type":"City","from":"a","to":"b"})", "row.envelope", 17},
        BadLine{R"({"type":"City","from":"a","data":{"slug":"c"}})", "row.envelope", 0},
        BadLine{R"({"type":"Town","data":{"slug":"c"}})", "row.unknown_type", 9},
        BadLine{R"({"type":"city","data":{"slug":"c"}})", "row.unknown_type", 9},
        BadLine{R"({"type":"Knows","from":"a","to":"b"})", "row.unknown_type", 9},
        BadLine{R"({"edge":"City","from":"a","to":"b"})", "row.unknown_type", 9},
        BadLine{R"({"type":"City","data":{"slug":"c"},"extra":1})", "row.unknown_member", 36},
        BadLine{R"({"type":"City","_tombstone":true,"data":{"slug":"c"}})", "row.unknown_member",
                16},
        BadLine{R"({"type":"City","data":{"slug":"c","pop":1}})", "row.unknown_property", 35,
                "pop"},
        BadLine{R"({"type":"City","data":{"slug":"c","_rowid":1}})", "row.unknown_property", 35,
                "_rowid"},
        BadLine{R"({"edge":"Knows","from":"a","to":"b","data":{"src":"a"}})",
                "row.unknown_property", 45, "src"},
        BadLine{R"({"type":"City","data":[]})", "row.type", 23},
        BadLine{R"({"type":"City","data":null})", "row.type", 23},
        BadLine{R"({"type":7,"data":{"slug":"c"}})", "row.type", 9},
        BadLine{R"({"type":"City","op":"drop","data":{"slug":"c"}})", "row.op", 21},
        BadLine{R"({"type":"City","op":null,"data":{"slug":"c"}})", "row.type", 21},
        BadLine{R"({"type":"City","id":5,"data":{"slug":"c"}})", "row.type", 21},
        BadLine{R"({"type":"City"})", "row.required", 0, "slug"},
        BadLine{R"({"type":"City","data":{"slug":null}})", "row.required", 0, "slug"},
        // B59: a partial edge.
        BadLine{R"({"edge":"Knows","id":"e1"})", "row.required", 0, "from"},
        BadLine{R"({"edge":"Knows","from":"a"})", "row.required", 0, "to"},
        BadLine{R"({"edge":"Knows","from":7,"to":"b"})", "row.type", 24},
        BadLine{R"({"edge":"Knows","from":"","to":"b"})", "row.id_size", 24, "from"}));

// B27, B29: nothing is coerced.
INSTANTIATE_TEST_SUITE_P(
    Values, RowParserRefuses,
    ::testing::Values(
        BadLine{Person(R"("age":"")"), "row.type", 44, "age"},
        BadLine{Person(R"("age":"5")"), "row.type", 44, "age"},
        BadLine{Person(R"("age":true)"), "row.type", 44, "age"},
        BadLine{Person(R"("age":[5])"), "row.type", 44, "age"},
        BadLine{Person(R"("age":{"a":1})"), "row.type", 44, "age"},
        BadLine{Person(R"("age":1.0)"), "row.type", 44, "age"},
        BadLine{Person(R"("age":1e2)"), "row.type", 44, "age"},
        BadLine{Person(R"("age":2147483648)"), "row.number_range", 44, "age"},
        BadLine{Person(R"("age":-2147483649)"), "row.number_range", 44, "age"},
        BadLine{Person(R"("big":9223372036854775808)"), "row.number_range", 44, "big"},
        BadLine{Person(R"("big":-9223372036854775809)"), "row.number_range", 44, "big"},
        BadLine{Person(R"("big":99999999999999999999999)"), "row.number_range", 44, "big"},
        BadLine{Person(R"("score":1e400)"), "row.number_range", 46, "score"},
        BadLine{Person(R"("score":-1e400)"), "row.number_range", 46, "score"},
        BadLine{Person(R"("score":"1")"), "row.type", 46, "score"},
        BadLine{Person(R"("score":"NaN")"), "row.type", 46, "score"},
        BadLine{Person(R"("name":5)"), "row.type", 45, "name"},
        BadLine{Person(R"("name":false)"), "row.type", 45, "name"},
        BadLine{Person(R"("ok":1)"), "row.type", 43, "ok"},
        BadLine{Person(R"("ok":"true")"), "row.type", 43, "ok"},
        BadLine{Person(R"("tags":"")"), "row.type", 45, "tags"},
        BadLine{Person(R"("tags":"a")"), "row.type", 45, "tags"},
        BadLine{Person(R"("tags":["a",5])"), "row.type", 50, "tags"},
        BadLine{Person(R"("tags":["a",null])"), "row.list_element", 50, "tags"},
        BadLine{Person(R"("tags":["a" "b"])"), "row.json", 45, "tags"},
        BadLine{Person(R"("tags":["a",])"), "row.json", 50, "tags"},
        BadLine{Person(R"("tags":[["a"]])"), "row.type", 46, "tags"},
        // B35
        BadLine{Person(R"("vec":"")"), "row.type", 44, "vec"},
        BadLine{Person(R"("vec":"[0.1,0.2,0.3]")"), "row.type", 44, "vec"},
        BadLine{Person(R"("vec":[1,2])"), "row.vector_width", 44, "vec"},
        BadLine{Person(R"("vec":[1,2,3,4])"), "row.vector_width", 44, "vec"},
        BadLine{Person(R"("vec":[])"), "row.vector_width", 44, "vec"},
        BadLine{Person(R"("vec":[1,null,3])"), "row.list_element", 47, "vec"},
        BadLine{Person(R"("vec":[1,"2",3])"), "row.type", 47, "vec"},
        BadLine{Person(R"("vec":[1,1e39,3])"), "row.number_range", 47, "vec"},
        BadLine{Person(R"("vec":[1,1e999,3])"), "row.number_range", 47, "vec"},
        BadLine{Person(R"("born":"2023-02-29")"), "row.date", 45, "born"},
        BadLine{Person(R"("born":"2023-02-28T00:00:00Z")"), "row.date", 45, "born"},
        BadLine{Person(R"("born":3000000)"), "row.number_range", 45, "born"},
        BadLine{Person(R"("born":1.5)"), "row.type", 45, "born"},
        BadLine{Person(R"("born":true)"), "row.type", 45, "born"},
        // B33
        BadLine{Person(R"("seen":"2024-05-01T12:00:60Z")"), "row.date", 45, "seen"},
        BadLine{Person(R"("seen":"noon")"), "row.date", 45, "seen"},
        BadLine{Person(R"("seen":999999999999999)"), "row.number_range", 45, "seen"}));

// B47: keys of no byte, and over the limit.
INSTANTIATE_TEST_SUITE_P(
    Ids, RowParserRefuses,
    ::testing::Values(
        BadLine{R"({"type":"City","data":{"slug":""}})", "row.id_size", 0, "slug"},
        BadLine{R"({"type":"City","data":{"slug":")" + Repeat("x", kMaxIdBytes + 1) + "\"}}",
                "row.id_size", 0, "slug"},
        // The limit falls into the middle of a character.
        BadLine{
            R"({"type":"City","data":{"slug":"x)" + Repeat("\xc3\xa9", kMaxIdBytes / 2) + "\"}}",
            "row.id_size", 0, "slug"},
        BadLine{R"({"type":"City","data":{"slug":")" + Repeat("x", 1 << 20) + "\"}}", "row.id_size",
                0, "slug"},
        BadLine{R"({"type":"City","id":"d","data":{"slug":"c"}})", "row.id_mismatch", 0, "id"},
        BadLine{R"({"type":"City","data":{"slug":"c","id":"d"}})", "row.id_mismatch", 0, "id"},
        BadLine{R"({"type":"City","op":"delete"})", "row.required", 0, "id"},
        BadLine{R"({"edge":"Knows","op":"delete","from":"a","to":"b"})", "row.required", 0, "id"}));

TEST(RowParser, KeysOfEveryLegalLength) {
  Door door;
  for (const size_t size : {size_t{1}, kMaxIdBytes - 1, kMaxIdBytes}) {
    EXPECT_EQ(door.CodeOfLine(R"({"type":"City","data":{"slug":")" + Repeat("k", size) + "\"}}"),
              "");
  }
  EXPECT_EQ(door.Batch("City").batch->num_rows(), 3);
}

// B41: whatever a key holds, it is only a key.
TEST(RowParser, KeysWithEveryKindOfCharacter) {
  const std::vector<std::string> keys = {"\"",
                                         "\\",
                                         "{",
                                         ")",
                                         "' OR 1=1",
                                         "\n",
                                         "\xf0\x9f\x98\x80",
                                         "/",
                                         "..",
                                         "%2F",
                                         std::string("\0", 1)};
  Door door;
  for (const std::string& key : keys) {
    std::string text;
    for (const char c : key) {
      const auto byte = static_cast<uint8_t>(c);
      if (byte < 0x20 || c == '"' || c == '\\') {
        const char digits[] = "0123456789abcdef";
        text += "\\u00";
        text += digits[byte >> 4];
        text += digits[byte & 15];
      } else {
        text += c;
      }
    }
    ASSERT_EQ(door.CodeOfLine(R"({"type":"City","data":{"slug":")" + text + "\"}}"), "") << text;
  }
  const RowBatch cities = door.Batch("City");
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(Column<arrow::StringArray>(cities, "id").GetString(static_cast<int64_t>(i)), keys[i]);
  }
}

// B49: no normal form is applied; composed and decomposed are two keys.
TEST(RowParser, DoesNotNormalizeKeys) {
  Door door;
  door.Take(
      "{\"type\":\"City\",\"data\":{\"slug\":\"Montr\xc3\xa9\x61l\"}}\n"
      "{\"type\":\"City\",\"data\":{\"slug\":\"Montre\xcc\x81\x61l\"}}");
  const RowBatch cities = door.Batch("City");
  EXPECT_NE(Column<arrow::StringArray>(cities, "id").GetString(0),
            Column<arrow::StringArray>(cities, "id").GetString(1));
}

// --- values ---

// B13: the control: a whole pair is four bytes.
TEST(RowParser, SurrogatePairsBecomeFourBytes) {
  Door door;
  ASSERT_EQ(door.CodeOfLine(Person(R"("name":"\ud83d\ude00\u00e9\/\b")")), "");
  EXPECT_EQ(Column<arrow::StringArray>(door.Batch("Person"), "name").GetString(0),
            "\xf0\x9f\x98\x80\xc3\xa9/\b");
}

// B21, B23: integers are exact at every width.
TEST(RowParser, IntegersAreExact) {
  Door door;
  std::string text;
  const int64_t base = 1700000000123456789;
  for (int64_t i = 0; i < 1000; ++i) {
    text += R"({"type":"Person","data":{"slug":"p)" + std::to_string(i) +
            "\",\"big\":" + std::to_string(base + i) + "}}\n";
  }
  for (const char* value : {"50", "1944", "1099511627776", "-1", "9223372036854775807",
                            "-9223372036854775808", "0", "-0"}) {
    text += R"({"type":"Person","data":{"slug":"x","big":)" + std::string(value) + "}}\n";
  }
  door.Take(text, 4096);
  ASSERT_TRUE(door.errors.empty());
  const RowBatch people = door.Batch("Person");
  const auto& big = Column<arrow::Int64Array>(people, "big");
  for (int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(big.Value(i), base + i);
  }
  EXPECT_EQ(big.Value(1002), int64_t{1} << 40);
  EXPECT_EQ(big.Value(1003), -1);
  EXPECT_EQ(big.Value(1004), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(big.Value(1005), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(big.Value(1007), 0);
}

// B25: rounded to nearest; too small is a zero, -0.0 and subnormals keep their bits.
TEST(RowParser, FloatsAreRoundedToNearest) {
  Door door;
  for (const char* value :
       {"1e-400", "4.9e-324", "-0.0", "-1e-400", "1.7976931348623157e308", "5"}) {
    ASSERT_EQ(door.CodeOfLine(Person("\"score\":" + std::string(value))), "") << value;
  }
  const RowBatch people = door.Batch("Person");
  const auto& score = Column<arrow::DoubleArray>(people, "score");
  EXPECT_EQ(score.Value(0), 0.0);
  EXPECT_EQ(score.Value(1), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(score.Value(2), 0.0);
  EXPECT_TRUE(std::signbit(score.Value(2)));
  EXPECT_TRUE(std::signbit(score.Value(3)));
  EXPECT_EQ(score.Value(4), std::numeric_limits<double>::max());
  EXPECT_EQ(score.Value(5), 5.0);
}

// B29: null is null, once.
TEST(RowParser, NullIsStoredAsNull) {
  Door door;
  std::string text;
  for (int i = 0; i < 30000; ++i) {
    text += "{\"type\":\"Person\",\"data\":{\"slug\":\"p" + std::to_string(i) +
            "\",\"age\":" + (i == 29998 ? "null" : std::to_string(i)) + "}}\n";
  }
  door.Take(text, 65536);
  EXPECT_TRUE(door.errors.empty());
  const RowBatch people = door.Batch("Person");
  EXPECT_EQ(people.batch->GetColumnByName("age")->null_count(), 1);
  EXPECT_TRUE(people.batch->GetColumnByName("age")->IsNull(29998));
  EXPECT_EQ(people.batch->GetColumnByName("name")->null_count(), 30000);
}

// B33: one instant in many spellings; zone-less is UTC; digits beyond milliseconds are cut off.
TEST(RowParser, DateTimesAndDates) {
  Door door;
  for (const char* value :
       {R"("2024-05-01T12:00:00Z")", R"("2024-05-01T14:00:00+02:00")", R"("2024-05-01T12:00:00")",
        "1714564800000", R"("2024-05-01T12:00:00.000999Z")", R"("2024-05-01t14:00:00+0200")"}) {
    ASSERT_EQ(door.CodeOfLine(Person("\"seen\":" + std::string(value))), "") << value;
  }
  ASSERT_EQ(door.CodeOfLine(Person(R"("born":"1969-12-31")")), "");
  ASSERT_EQ(door.CodeOfLine(Person(R"("born":-1)")), "");
  const RowBatch people = door.Batch("Person");
  for (int64_t i = 0; i < 6; ++i) {
    EXPECT_EQ(Column<arrow::TimestampArray>(people, "seen").Value(i), 1714564800000) << i;
  }
  EXPECT_EQ(Column<arrow::Date32Array>(people, "born").Value(6), -1);
  EXPECT_EQ(Column<arrow::Date32Array>(people, "born").Value(7), -1);
}

constexpr std::string_view kAllTypes = R"(
node All {
  s: String @key
  b: Bool?  i: I32?  l: I64?  u: U32?  v: U64?  f: F32?  d: F64?  day: Date?  at: DateTime?
  e: enum(red, in-progress, 5x)?  blob: Blob?
  lb: [Bool]?  li: [I32]?  lu: [U64]?  lf: [F32]?  ld: [Date]?  lt: [DateTime]?  ls: [String]?
  w: Vector(2)?
  @range(i, -5..10) @range(v, 1..18446744073709551614) @range(f, 0.1..0.3) @range(d, ..0.5)
  @range(l, 9007199254740993..) @check(s, "^[a-z]+[0-9]*$") @check(s, "a")
}
edge Link: All -> All { kind: enum(x, y)  n: I32?  @key(src, dst, kind) }
)";

std::string All(const std::string& members) {
  return R"({"type":"All","data":{"s":"a1")" + (members.empty() ? "" : "," + members) + "}}";
}

// B51: one verdict and one code per kind of rule.
TEST(RowParser, ChecksRangesEnumsAndPatterns) {
  Door door(kAllTypes);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\"i\":-5", ""},
      {"\"i\":10", ""},
      {"\"i\":11", "constraint.range"},
      {"\"i\":-6", "constraint.range"},
      {"\"v\":18446744073709551614", ""},
      {"\"v\":18446744073709551615", "constraint.range"},
      {"\"v\":18446744073709551616", "row.number_range"},
      {"\"v\":0", "constraint.range"},
      {"\"v\":-1", "row.number_range"},
      {"\"u\":4294967295", ""},
      {"\"u\":4294967296", "row.number_range"},
      {"\"u\":-0", ""},
      // A bound equals its own text at the width of the property.
      {"\"f\":0.1", ""},
      {"\"f\":0.3", ""},
      {"\"f\":0.30001", "constraint.range"},
      {"\"f\":3.5e38", "row.number_range"},
      {"\"d\":0.5", ""},
      {"\"d\":0.50000000000000011", "constraint.range"},
      {"\"d\":-1e300", ""},
      {"\"l\":9007199254740993", ""},
      {"\"l\":9007199254740992", "constraint.range"},
      {"\"e\":\"red\"", ""},
      {"\"e\":\"in-progress\"", ""},
      {"\"e\":\"Red\"", "constraint.enum"},
      {"\"e\":\"\"", "constraint.enum"},
      {"\"e\":5", "row.type"},
      {"\"blob\":\"base64:AAE=\"", ""},
      {"\"blob\":\"base64:AAE\"", "row.blob"},
      {"\"blob\":\"AAE=\"", "row.blob"},
      {"\"blob\":\"s3://bucket/x\"", "row.blob"},
      {"\"lu\":[1,18446744073709551615]", ""},
      {"\"lu\":[1,-1]", "row.number_range"},
      {"\"lb\":[true,1]", "row.type"},
      {"\"ld\":[\"2024-01-01\",\"2024-01-32\"]", "row.date"},
      {"\"lf\":[1e39]", "row.number_range"},
      {"\"lf\":[]", ""},
  };
  for (const auto& [members, code] : cases) {
    EXPECT_EQ(door.CodeOfLine(All(members)), code) << members;
  }
  EXPECT_EQ(door.CodeOfLine(R"({"type":"All","data":{"s":"A1"}})"), "constraint.check");
  EXPECT_EQ(door.errors[0].property, "s");
  EXPECT_EQ(door.CodeOfLine(R"({"type":"All","data":{"s":"b1"}})"), "constraint.check");
  // A6: the message names the value and what is allowed.
  Door people("node P { slug: String @key age: I32? @range(age, 0..150) }");
  EXPECT_EQ(people.CodeOfLine(R"({"type":"P","data":{"slug":"x","age":151}})"), "constraint.range");
  EXPECT_NE(people.errors[0].message.find("151"), std::string::npos);
  EXPECT_NE(people.errors[0].message.find("0..150"), std::string::npos);
}

TEST(RowParser, BadPatternIsAnErrorOfTheSchema) {
  const auto catalog = CatalogOf("node A { s: String @check(s, \"a(\") }");
  OG_EXPECT_ERROR(RowParser::Make(catalog), ErrorKind::kInvalid, "schema.check_pattern");
  OG_EXPECT_ERROR(ValidatePatterns(*catalog), ErrorKind::kInvalid, "schema.check_pattern");
  OG_EXPECT_OK(ValidatePatterns(*CatalogOf(kAllTypes)));
}

// --- identity ---

std::string IdOf(std::string_view schema_text, const std::string& line, bool edge = false) {
  Door door(schema_text);
  const std::string code = door.CodeOfLine(line);
  if (!code.empty()) {
    return code;
  }
  const int index = door.admitted.at(0).type_index;
  auto batch = door.rows().at(index).Finish();
  OG_CHECK_OK(batch);
  static_cast<void>(edge);
  return Column<arrow::StringArray>(*batch, "id").GetString(0);
}

TEST(RowParser, DerivesIdsFromKeys) {
  const auto single = [](const std::string& type, const std::string& value) {
    return IdOf("node A { k: " + type + " @key }", R"({"type":"A","data":{"k":)" + value + "}}");
  };
  EXPECT_EQ(single("String", "\"x y\""), "x y");
  EXPECT_EQ(single("I64", "-12"), "-12");
  EXPECT_EQ(single("U64", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(single("Bool", "true"), "true");
  EXPECT_EQ(single("F64", "2.50"), "2.5");
  EXPECT_EQ(single("F64", "-0.0"), "0");
  EXPECT_EQ(single("F64", "1e21"), "1000000000000000000000");
  EXPECT_EQ(single("F32", "0.1"), "0.1");
  EXPECT_EQ(single("Date", "\"2024-05-01\""), "2024-05-01");
  EXPECT_EQ(single("Date", "0"), "1970-01-01");
  EXPECT_EQ(single("DateTime", "\"2024-05-01T14:00:00+02:00\""), "2024-05-01T12:00:00Z");
  EXPECT_EQ(single("enum(a, b)", "\"b\""), "b");
  // A4, and minimal escapes.
  EXPECT_EQ(IdOf("node T { code: String region: enum(eu, us) n: I32 @key(region, code, n) }",
                 R"({"type":"T","data":{"region":"eu","n":7,"code":"T\"\u00e9\n"}})"),
            "[\"T\\\"\xc3\xa9\\n\",\"eu\",\"7\"]");
  EXPECT_EQ(IdOf(kAllTypes, R"({"edge":"Link","from":"a","to":"b","data":{"kind":"x"}})"),
            R"(["a","b","x"])");
  // A key named id is the id, and may be said twice if it is the same.
  constexpr std::string_view kById = "node A { id: String @key x: I32? }";
  EXPECT_EQ(IdOf(kById, R"({"type":"A","data":{"id":"k"}})"), "k");
  EXPECT_EQ(IdOf(kById, R"({"type":"A","id":"k","data":{"x":1,"id":"k"}})"), "k");
  EXPECT_EQ(IdOf(kById, R"({"type":"A","id":"j","data":{"id":"k"}})"), "row.id_mismatch");
  EXPECT_EQ(IdOf(kById, R"({"type":"A","id":"j"})"), "row.required");
  // A supplied id that equals the key is fine, in both places.
  EXPECT_EQ(IdOf(kCaseSchema, R"({"type":"City","id":"c","data":{"slug":"c"}})"), "c");
  EXPECT_EQ(IdOf(kCaseSchema, R"({"type":"City","data":{"slug":"c","id":"c"}})"), "c");
  EXPECT_EQ(IdOf("node A { k: F64 @key }", R"({"type":"A","id":"2.50","data":{"k":2.5}})"),
            "row.id_mismatch");
}

TEST(RowParser, MintsIdsOnlyForAcceptedRows) {
  RowParserOptions options;
  options.mint_id = [next = 0]() mutable { return "id" + std::to_string(next++); };
  Door door("node Memo { body: String }", options);
  door.Take(R"({"type":"Memo","data":{"body":"a"}}
{"type":"Memo","data":{"body":5}}
{"type":"Memo","id":"mine","data":{"body":"b"}}
{"type":"Memo","data":{"body":"c"}})");
  const RowBatch memos = door.Batch("Memo");
  const auto& ids = Column<arrow::StringArray>(memos, "id");
  EXPECT_EQ(ids.GetString(0), "id0");
  EXPECT_EQ(ids.GetString(1), "mine");
  EXPECT_EQ(ids.GetString(2), "id1");
  EXPECT_EQ(memos.minted, (std::vector<uint8_t>{1, 0, 1}));
  EXPECT_EQ(memos.lines, (std::vector<int64_t>{1, 3, 4}));
  EXPECT_TRUE(door.admitted[0].minted);
}

// --- deletes ---

TEST(RowParser, TombstonesFillColumnsThatMayNotBeNull) {
  Door door(
      "node A { k: String @key n: I32 l: [I32] v: Vector(2) o: String? } "
      "edge E: A -> A { w: F64 }");
  door.Take(R"({"type":"A","id":"x","op":"delete"}
{"type":"A","op":"delete","data":{"k":"y","o":"kept?"}}
{"edge":"E","id":"e","op":"delete"}
{"edge":"E","id":"f","op":"delete","from":"x","to":"y"})");
  ASSERT_TRUE(door.errors.empty()) << door.errors[0].message;
  const RowBatch nodes = door.Batch("A");
  EXPECT_EQ(Column<arrow::StringArray>(nodes, "id").GetString(0), "x");
  EXPECT_EQ(Column<arrow::StringArray>(nodes, "id").GetString(1), "y");
  EXPECT_EQ(Column<arrow::StringArray>(nodes, "k").GetString(0), "");
  EXPECT_EQ(Column<arrow::Int32Array>(nodes, "n").Value(0), 0);
  EXPECT_TRUE(nodes.batch->GetColumnByName("o")->IsNull(1));
  EXPECT_TRUE(Column<arrow::BooleanArray>(nodes, "_tombstone").Value(0));
  for (const auto& field : nodes.batch->schema()->fields()) {
    if (!field->nullable()) {
      EXPECT_EQ(nodes.batch->GetColumnByName(field->name())->null_count(), 0) << field->name();
    }
  }
  const RowBatch edges = door.Batch("E", true);
  EXPECT_EQ(edges.batch->num_rows(), 2);
  EXPECT_EQ(edges.minted, (std::vector<uint8_t>{0, 0}));
}

TEST(RowParser, LoadsTakeNoDeletes) {
  RowParserOptions options;
  options.allow_delete = false;
  Door door(kCaseSchema, options);
  EXPECT_EQ(door.CodeOfLine(R"({"type":"City","id":"c","op":"delete"})"), "row.op");
}

// --- whole inputs ---

// B05: one bad row among many, whatever the line ends; blank lines are counted.
TEST(RowParser, OneBadRowHarmsNoOther) {
  std::string text;
  for (int i = 1; i <= 100000; ++i) {
    if (i == 500 || i == 60000) {
      text += i == 500 ? "\n" : "  \r\n";
      continue;
    }
    text += "{\"type\":\"City\",\"data\":{\"slug\":\"c" + std::to_string(i) +
            (i == 77777 ? "\x01" : "") + "\"}}" + (i % 3 == 0 ? "\r\n" : "\n");
  }
  Door door;
  door.Take(text, 65536);
  ASSERT_EQ(door.errors.size(), 1u);
  EXPECT_EQ(door.errors[0].line, 77777);
  EXPECT_EQ(door.errors[0].code, "row.control_character");
  EXPECT_EQ(door.blank, 2);
  EXPECT_EQ(door.lines, 100000);
  const RowBatch cities = door.Batch("City");
  EXPECT_EQ(cities.batch->num_rows(), 99997);
  EXPECT_EQ(Column<arrow::StringArray>(cities, "id").GetString(2), "c3");
}

// B07: a cut-off end is called by its name.
TEST(RowParser, TruncatedEndIsCalledIncomplete) {
  Door door;
  const std::string good = "{\"type\":\"City\",\"data\":{\"slug\":\"a\"}}\n";
  door.Take(good + good + good + R"({"type":"City","data":{"slug":"ab)");
  EXPECT_EQ(door.admitted.size(), 3u);
  ASSERT_EQ(door.errors.size(), 1u);
  EXPECT_EQ(door.errors[0].code, "row.incomplete");
  EXPECT_EQ(door.errors[0].line, 4);
  EXPECT_EQ(door.errors[0].column, 31);
  EXPECT_NE(door.errors[0].message.find("incomplete"), std::string::npos);
  EXPECT_EQ(door.errors[0].message.find("limit"), std::string::npos);
}

TEST(RowParser, LongLinesAreNamed) {
  Door door;
  door.Take("{\"type\":\"City\",\"data\":{\"slug\":\"" + std::string(200, 'a') +
                "\"}}\n{\"type\":\"City\",\"data\":{\"slug\":\"b\"}}",
            7, 128);
  ASSERT_EQ(door.errors.size(), 1u);
  EXPECT_EQ(door.errors[0].code, "row.too_long");
  EXPECT_EQ(door.errors[0].line, 1);
  EXPECT_EQ(door.admitted.size(), 1u);
}

// B03, B05: the same rows and the same errors for every way to cut the input.
TEST(RowParser, ChunksNeverChangeAResult) {
  const std::string text =
      "\xef\xbb\xbf{\"type\":\"Person\",\"data\":{\"slug\":\"p1\",\"name\":\"\xef\xbb\xbfx\"}}\r\n"
      "\n{\"type\":\"Person\",\"data\":{\"slug\":\"p2\",\"name\":\"\\ud83d\\ude00\"}}\n"
      "{\"type\":\"Person\",\"data\":{\"slug\":\"\xff\"}}\n{\"type\":\"Pers\n"
      "{\"edge\":\"Knows\",\"id\":\"e\",\"from\":\"p1\",\"to\":\"p2\"}\n"
      "{\"type\":\"Person\",\"data\":{\"slug\":\"p3\",\"vec\":[1,2.5,-3e-2],\"tags\":[\"a\",\"\"]}"
      "}";
  Door whole;
  whole.Take(text);
  const std::string rows = whole.Export();
  ASSERT_EQ(whole.errors.size(), 2u);
  EXPECT_NE(rows.find("\"name\":\"\xef\xbb\xbfx\""), std::string::npos);
  for (size_t chunk = 1; chunk <= text.size(); ++chunk) {
    Door cut;
    cut.Take(text, chunk);
    ASSERT_EQ(cut.Export(), rows) << chunk;
    ASSERT_EQ(cut.errors.size(), 2u) << chunk;
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(cut.errors[i].code, whole.errors[i].code);
      ASSERT_EQ(cut.errors[i].line, whole.errors[i].line);
      ASSERT_EQ(cut.errors[i].column, whole.errors[i].column);
    }
  }
}

// Bytes from outside never crash: every prefix and every flipped byte of a line is handled.
TEST(RowParser, EveryBrokenLineIsHandled) {
  const std::string line =
      R"({"type":"Person","id":"p\u0031","op":"upsert","data":{"slug":"p1","age":5,"tags":["a"],"vec":[1,2,3],"born":"2024-01-01","ok":true}})";
  Door door;
  ASSERT_EQ(door.CodeOfLine(line), "");
  for (size_t size = 1; size < line.size(); ++size) {
    EXPECT_NE(door.CodeOfLine(line.substr(0, size)), "") << size;
  }
  for (size_t at = 0; at < line.size(); ++at) {
    for (const int bit : {0x01, 0x20, 0x40, 0x80}) {
      std::string broken = line;
      broken[at] = static_cast<char>(broken[at] ^ bit);
      door.CodeOfLine(broken);
    }
  }
  EXPECT_EQ(door.Batch("Person").batch->ValidateFull().ok(), true);
}

// --- export ---

// An export line is a row that reads back to itself, and is always valid JSON (B25).
TEST(Export, RowsReadBackToTheSameRows) {
  Door door(kAllTypes);
  const std::string line =
      R"({"type":"All","id":"a1","data":{"s":"a1","b":false,"i":-5,"l":9223372036854775807,"u":4294967295,"v":18446744073709551614,"f":0.1,"d":-0,"day":"0001-02-03","at":"2024-05-01T12:00:00.001Z","e":"5x","blob":"base64:AAH/","lb":[true,false],"li":[],"lu":[18446744073709551615],"lf":[1.5,3.4028235e+38],"ld":["2024-01-01"],"lt":["1969-12-31T23:59:59.999Z"],"ls":["","\"\\\n\u0001é"],"w":[0.25,-1e-45]}}
{"type":"All","id":"ab","data":{"s":"ab"}}
{"type":"All","id":"gone","op":"delete"}
{"edge":"Link","id":"[\"a1\",\"ab\",\"y\"]","from":"a1","to":"ab","data":{"kind":"y"}}
)";
  door.Take(line);
  ASSERT_TRUE(door.errors.empty()) << door.errors[0].message;
  const std::string once = door.Export();
  EXPECT_EQ(once, line);
  door.Take(once);
  ASSERT_TRUE(door.errors.empty()) << door.errors[0].message;
  EXPECT_EQ(door.Export(), once);
}

TEST(Export, RefusesABatchOfAnotherShape) {
  Door door;
  const RowBatch people = door.Batch("Person");
  std::string out;
  OG_EXPECT_ERROR(AppendExportLines(*door.catalog().FindNode("City"), *people.batch, &out),
                  ErrorKind::kInternal, "row.shape");
  OG_EXPECT_ERROR(AppendRowJson(*door.catalog().FindNode("Person"), *people.batch, 0, &out),
                  ErrorKind::kInternal, "row.shape");
}

TEST(LineErrors, BecomeAStatusWithItsPlace) {
  const Status status = ToStatus({7, 3, "row.type", "no", "Person", "age"}, "in.ndjson");
  OG_EXPECT_ERROR(status, ErrorKind::kInvalid, "row.type");
  EXPECT_EQ(GetErrorDetail(status)->place().line, 7);
  EXPECT_EQ(GetErrorDetail(status)->place().property, "Person.age");
  EXPECT_EQ(GetErrorDetail(status)->place().object, "in.ndjson");
}

}  // namespace
}  // namespace omnigraph::write
