// Text forms of dates, floats, strings and bytes.
#include "omnigraph/graph/schema/value_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace omnigraph::schema {
namespace {

TEST(ValueText, DatesReadBackOverTheWholeRange) {
  EXPECT_EQ(ParseDate("1970-01-01"), 0);
  EXPECT_EQ(ParseDate("2024-02-29"), 19782);
  EXPECT_EQ(ParseDate("0000-01-01"), kMinDateDays);
  EXPECT_EQ(ParseDate("9999-12-31"), kMaxDateDays);
  for (int64_t days = kMinDateDays; days <= kMaxDateDays; days += 13) {
    ASSERT_EQ(ParseDate(FormatDate(days)), days);
  }
  for (const char* bad : {"", "2023-02-29", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-32",
                          "2024-1-01", "24-01-01", "2024/01/01", "2024-01-01 ", "+024-01-01"}) {
    EXPECT_FALSE(ParseDate(bad).has_value()) << bad;
  }
}

// B33: zones, fractions, leap seconds; nothing depends on the machine's zone.
TEST(ValueText, DateTimesOfEveryZone) {
  const int64_t noon = 1714564800000;  // 2024-05-01T12:00:00Z
  for (const char* same :
       {"2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "2024-05-01T12:00:00",
        "2024-05-01t12:00:00z", "2024-05-01T14:00:00+0200", "2024-05-01T14:00+02",
        "2024-05-01 12:00:00", "2024-05-01T07:30:00-04:30", "2024-05-01T12:00:00.000000000Z",
        "2024-05-02T11:59:00+23:59"}) {
    EXPECT_EQ(ParseDateTime(same), noon) << same;
  }
  EXPECT_EQ(ParseDateTime("2024-05-01"), noon - 12 * 3600000);
  EXPECT_EQ(ParseDateTime("2024-05-01T12:00:00.1Z"), noon + 100);
  EXPECT_EQ(ParseDateTime("2024-05-01T12:00:00.123Z"), noon + 123);
  // Cut off, never rounded, also before 1970.
  EXPECT_EQ(ParseDateTime("2024-05-01T12:00:00.123999Z"), noon + 123);
  EXPECT_EQ(ParseDateTime("2024-05-01T12:00:00.999999999Z"), noon + 999);
  EXPECT_EQ(ParseDateTime("1969-12-31T23:59:59.999999999Z"), -1);
  for (const char* bad :
       {"", "2024-05-01T", "2024-05-01T12", "2024-05-01T12:00:60Z", "2024-05-01T24:00:00Z",
        "2024-05-01T12:60:00Z", "2024-05-01T12:00:00.Z", "2024-05-01T12:00:00.1234567890Z",
        "2024-05-01T12:00:00 Z", "2024-05-01T12:00:00+2", "2024-05-01T12:00:00+24:00",
        "2024-05-01T12:00:00+02:60", "2024-05-01T12:00:00UTC", "2024-02-30T12:00:00Z",
        "2024-05-01_12:00:00", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01"}) {
    EXPECT_FALSE(ParseDateTime(bad).has_value()) << bad;
  }
}

TEST(ValueText, DateTimesReadBack) {
  EXPECT_EQ(FormatDateTime(1714564800000), "2024-05-01T12:00:00Z");
  EXPECT_EQ(FormatDateTime(1714564800007), "2024-05-01T12:00:00.007Z");
  EXPECT_EQ(FormatDateTime(-1), "1969-12-31T23:59:59.999Z");
  for (int64_t ms = kMinDateTimeMs; ms <= kMaxDateTimeMs; ms += 98765432109) {
    ASSERT_EQ(ParseDateTime(FormatDateTime(ms)), ms);
  }
  EXPECT_EQ(ParseDateTime(FormatDateTime(kMaxDateTimeMs)), kMaxDateTimeMs);
}

TEST(ValueText, FloatsAreShortAndReadBack) {
  std::string text;
  AppendFloat(0.1f, &text);
  text += ' ';
  AppendFloat(0.1, &text);
  text += ' ';
  AppendFloat(1e300, &text);
  text += ' ';
  AppendFloat(-0.0, &text);
  EXPECT_EQ(text, "0.1 0.1 1e+300 -0");
  EXPECT_EQ(CanonicalFloat(1e21), "1000000000000000000000");
  EXPECT_EQ(CanonicalFloat(-0.0), "0");
  EXPECT_EQ(CanonicalFloat(2.50), "2.5");
  EXPECT_EQ(CanonicalFloat(0.1f), "0.1");
  EXPECT_EQ(CanonicalFloat(1e-7), "0.0000001");
  EXPECT_EQ(CanonicalFloat(std::numeric_limits<double>::max()).size(), 309u);
}

TEST(ValueText, JsonStringsEscapeOnlyWhatTheyMust) {
  std::string text;
  AppendJsonString(std::string_view("a\"\\/\b\f\n\r\t\x01\x1f\x7f\0é", 15), &text);
  EXPECT_EQ(text, std::string("\"a\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000é\""));
}

TEST(ValueText, Base64HasOneSpelling) {
  for (const std::string bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
  EXPECT_EQ(EncodeBase64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(EncodeBase64(std::string("\xff\xfe\0", 3)), "//4A");
  for (const char* bad :
       {"Zg", "Zg=", "Zh==", "Zm9vYmF=", "Z===", "====", "Zm 9", "Zm9v\n", "=m9v", "Zg==Zg=="}) {
    EXPECT_FALSE(DecodeBase64(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace omnigraph::schema
