#include "omnigraph/base/ids.h"

#include <gtest/gtest.h>

namespace omnigraph {
namespace {

TEST(Uuid, WhenNamed_MatchesTheOfficialShardIds) {
  // Source: docs/format/memwal.md, shard ids (namespace "LSMWRITE_SHARD01").
  const Uuid space = Uuid::Parse("4c534d57-5249-5445-5f53-484152443031").ValueOrDie();
  EXPECT_EQ(Uuid::FromName(space, "unsharded").ToString(), "aa48498d-ac91-59e2-8452-69f46010ace2");
  EXPECT_EQ(Uuid::FromName(space, "bucket-0").ToString(), "4a388480-a25b-59a8-b058-24217f980256");
}

TEST(Uuid, WhenTextIsMalformed_IsRefused) {
  for (const char* text :
       {"", "aa48498d", "aa48498d-ac91-59e2-8452-69f46010ace",
        "aa48498d_ac91-59e2-8452-69f46010ace2", "ga48498d-ac91-59e2-8452-69f46010ace2"}) {
    EXPECT_TRUE(IsInvalid(Uuid::Parse(text).status())) << text;
  }
}

TEST(Uuid, WhenRandom_CarriesVersionAndVariant) {
  std::array<uint8_t, 16> ones;
  ones.fill(0xff);
  EXPECT_EQ(Uuid::FromRandom(ones).ToString(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
}

TEST(Ulid, OrdersByTimeThenRandom) {
  EXPECT_EQ(FormatUlid(0, {}), "00000000000000000000000000");
  EXPECT_EQ(FormatUlid(1469918176385, {}), "01ARYZ6S410000000000000000");
  EXPECT_LT(FormatUlid(1, {255}), FormatUlid(2, {}));
  EXPECT_TRUE(IsUlid(FormatUlid(1469918176385, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})));
  EXPECT_FALSE(IsUlid("01ARYZ6S41000000000000000I"));
  EXPECT_FALSE(IsUlid("81ARYZ6S410000000000000000"));
}

TEST(Hex64, RoundTripsAndRefusesOtherSpellings) {
  EXPECT_EQ(FormatHex64(0x0123456789abcdefULL), "0123456789abcdef");
  EXPECT_EQ(ParseHex64("0123456789abcdef").ValueOrDie(), 0x0123456789abcdefULL);
  EXPECT_FALSE(ParseHex64("0123456789ABCDEF").ok());
  EXPECT_FALSE(ParseHex64("123").ok());
}

}  // namespace
}  // namespace omnigraph
