// Feature flags: what is refused and how (bit by bit, as official releases do).
#include "omnigraph/lance/table/feature_flags.h"

#include <gtest/gtest.h>

#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

TEST(FeatureFlags, Reader_KnowsEightBitsAndRefusesAllOthers) {
  const uint64_t known = 1 | 2 | 4 | 8 | 16 | 32 | 128 | 256;
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t flag = uint64_t{1} << bit;
    if ((known & flag) != 0) {
      OG_EXPECT_OK(CheckReaderFlags(flag, "t"));
    } else {
      OG_EXPECT_ERROR(CheckReaderFlags(flag, "t"), ErrorKind::kUnsupported,
                      "table.unknown_reader_flags");
    }
  }
}

TEST(FeatureFlags, Messages_NameTheBitsTheObjectAndTheRemedy) {
  const Status status = CheckReaderFlags(uint64_t{1} << 14 | 1, "x.manifest");
  EXPECT_NE(status.message().find("14"), std::string::npos);
  EXPECT_NE(status.message().find("x.manifest"), std::string::npos);
  EXPECT_NE(status.message().find("newer release"), std::string::npos);
}

TEST(FeatureFlags, Writer_OpensTheGuardOnlyForTheOwner) {
  OG_EXPECT_ERROR(CheckWriterFlags(kFlagGraphGuard | 2, false, "t"), ErrorKind::kUnsupported,
                  "table.guarded");
  OG_EXPECT_OK(CheckWriterFlags(kFlagGraphGuard | 2, true, "t"));
  OG_EXPECT_ERROR(CheckWriterFlags(kFlagGraphGuard | 64, true, "t"), ErrorKind::kUnsupported,
                  "table.unknown_writer_flags");
  OG_EXPECT_ERROR(CheckWriterFlags(kFlagNonReusableFieldIds, true, "t"), ErrorKind::kUnsupported,
                  "table.unknown_writer_flags");
}

}  // namespace
}  // namespace omnigraph::lance
