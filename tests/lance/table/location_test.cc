// Names inside a table folder (docs/format/lance-table.md, Name).
#include "omnigraph/lance/table/location.h"

#include <gtest/gtest.h>

#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

TEST(ManifestNames, SchemeV2_CountsDownSoThatTheNewestSortsFirst) {
  EXPECT_EQ(FormatManifestName(1, ManifestNaming::kV2), "18446744073709551614.manifest");
  EXPECT_LT(FormatManifestName(10, ManifestNaming::kV2),
            FormatManifestName(9, ManifestNaming::kV2));
  const auto parsed = ParseManifestName("18446744073709551614.manifest");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->version, 1u);
  EXPECT_EQ(parsed->naming, ManifestNaming::kV2);
}

TEST(ManifestNames, SchemeV1_IsThePlainNumber) {
  EXPECT_EQ(FormatManifestName(17, ManifestNaming::kV1), "17.manifest");
  const auto parsed = ParseManifestName("17.manifest");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->version, 17u);
  EXPECT_EQ(parsed->naming, ManifestNaming::kV1);
}

TEST(ManifestNames, Detached_HaveBit63AndSortBehindTheHistory) {
  const uint64_t version = (uint64_t{1} << 63) + 5;
  const std::string name = FormatManifestName(version, ManifestNaming::kV2);
  EXPECT_EQ(name, "d9223372036854775813.manifest");
  const auto parsed = ParseManifestName(name);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->version, version);
  EXPECT_GT(name, FormatManifestName(1, ManifestNaming::kV2));
}

TEST(ManifestNames, Strangers_AreNoManifests) {
  for (const char* name :
       {"", ".manifest", "x.manifest", "1.manifest.tmp", "-1.manifest", "d5.manifest",
        "latest_version_hint.json", "1", "99999999999999999999999.manifest", "1 .manifest",
        "00000000000000000001.manifest"}) {
    EXPECT_FALSE(ParseManifestName(name)) << name;
  }
}

TEST(DataFileNames, AreBinaryThenHex) {
  OG_ASSERT_OK_AND_ASSIGN(const Uuid uuid, Uuid::Parse("0180ff00-0102-0304-0506-0708090a0b0c"));
  EXPECT_EQ(FormatDataFileName(uuid),
            "00000001100000001111111100010203040506"
            "0708090a0b0c.lance");
  EXPECT_EQ(FormatTransactionFileName(3, "abc"), "3-abc.txn");
}

TEST(TableLocation, Child_JoinsBelowThePath) {
  EXPECT_EQ((TableLocation{nullptr, "a/b.lance"}.Child("data/x")), "a/b.lance/data/x");
  EXPECT_EQ((TableLocation{nullptr, ""}.Child("data/x")), "data/x");
}

}  // namespace
}  // namespace omnigraph::lance
