#include "omnigraph/base/status.h"

#include <gtest/gtest.h>

namespace omnigraph {
namespace {

TEST(Status, CarriesKindCodeAndPlace) {
  Place place;
  place.line = 3;
  place.column = 7;
  place.property = "age";
  const Status status = Invalid("row.out_of_range", "age 151 is above 150", place);
  ASSERT_NE(GetErrorDetail(status), nullptr);
  EXPECT_TRUE(IsInvalid(status));
  EXPECT_EQ(CodeOf(status), "row.out_of_range");
  EXPECT_EQ(GetErrorDetail(status)->place().line, 3);
  EXPECT_EQ(status.message(), "age 151 is above 150");
}

TEST(Status, ContextAndPlaceKeepTheDetail) {
  Status status = Conflict("commit.conflict", "version 7 exists");
  status = WithContext(WithPlace(status, Place{.object = "__manifest.lance"}), "publish");
  EXPECT_TRUE(IsConflict(status));
  EXPECT_EQ(CodeOf(status), "commit.conflict");
  EXPECT_EQ(GetErrorDetail(status)->place().object, "__manifest.lance");
  EXPECT_EQ(status.message(), "publish: version 7 exists");
  const Status unknown = WithUnknownEffect(status);
  EXPECT_TRUE(GetErrorDetail(unknown)->effect_unknown());
  const Status known = WithKnownEffect(unknown);
  EXPECT_FALSE(GetErrorDetail(known)->effect_unknown());
  EXPECT_EQ(known.ToString(), status.ToString());
}

TEST(Status, BareArrowStatusMapsByItsCode) {
  EXPECT_EQ(KindOf(Status::OutOfMemory("x")), ErrorKind::kExhausted);
  EXPECT_EQ(KindOf(Status::SerializationError("x")), ErrorKind::kCorruption);
  EXPECT_EQ(CodeOf(Status::Invalid("x")), "");
}

TEST(Status, EveryKindHasItsRowInTheTable) {
  EXPECT_EQ(ErrorKindInfo(ErrorKind::kInvalid).exit_code, 2);
  EXPECT_EQ(ErrorKindInfo(ErrorKind::kConflict).http_status, 409);
  EXPECT_EQ(ErrorKindInfo(ErrorKind::kExhausted).http_status, 429);
  EXPECT_EQ(ErrorKindInfo(ErrorKind::kCorruption).exit_code, 7);
  EXPECT_EQ(ErrorKindInfo(ErrorKind::kInternal).exit_code, 70);
}

}  // namespace
}  // namespace omnigraph
