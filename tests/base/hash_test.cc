#include "omnigraph/base/hash.h"

#include <gtest/gtest.h>

namespace omnigraph {
namespace {

// Expected values: the published test vectors of each algorithm.
TEST(Hash, MatchesPublishedVectors) {
  EXPECT_EQ(XxHash64(""), 0xef46db3751d8e999ULL);
  EXPECT_EQ(XxHash64("abc"), 0x44bc2cf5ad770999ULL);
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(XxHash128("a"), XxHash128("b"));
}

}  // namespace
}  // namespace omnigraph
