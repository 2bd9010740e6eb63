// Row id and version sequences: all five segment forms are read (docs/format/lance-table.md).
#include "omnigraph/lance/table/row_ids.h"

#include <gtest/gtest.h>

#include "lance/table.pb.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/proto/serialize.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

std::vector<uint64_t> IdsOf(const RowIdSequence& sequence) {
  std::vector<uint64_t> ids;
  sequence.AppendTo(0, sequence.rows(), &ids);
  return ids;
}

Result<std::vector<uint64_t>> ParseIds(const pb::RowIdSequence& message, uint64_t rows_max = 100) {
  OG_ASSIGN_OR_RETURN(const RowIdSequence sequence,
                      RowIdSequence::Parse(SerializeProto(message), rows_max, "test"));
  return IdsOf(sequence);
}

TEST(RowIdSequence, FreshIds_AreOneRangeOfAFewBytes) {
  const RowIdSequence sequence = RowIdSequence::Range(1'000'000, 1'000'000);
  const std::string bytes = sequence.Encode();
  EXPECT_LE(bytes.size(), 16u);
  OG_ASSERT_OK_AND_ASSIGN(const RowIdSequence back, RowIdSequence::Parse(bytes, 1'000'000, "t"));
  EXPECT_EQ(back, sequence);
  EXPECT_EQ(back.At(999'999), 1'999'999u);
}

TEST(RowIdSequence, ScatteredIds_RoundTripInOrder) {
  RowIdSequence sequence;
  for (const uint64_t id : {7, 3, 4, 5, 6, 1, 100, 101, 2}) {
    sequence.Append(id, 1);
  }
  OG_ASSERT_OK_AND_ASSIGN(const RowIdSequence back,
                          RowIdSequence::Parse(sequence.Encode(), 9, "t"));
  EXPECT_EQ(IdsOf(back), (std::vector<uint64_t>{7, 3, 4, 5, 6, 1, 100, 101, 2}));
  EXPECT_EQ(back.At(6), 100u);
  std::vector<uint64_t> part;
  back.AppendTo(2, 8, &part);
  EXPECT_EQ(part, (std::vector<uint64_t>{4, 5, 6, 1, 100, 101}));
}

TEST(RowIdSequence, RangeWithHoles_LeavesThemOut) {
  pb::RowIdSequence message;
  auto* segment = message.add_segments()->mutable_holes();
  segment->set_begin(10);
  segment->set_end(16);
  auto* holes = segment->mutable_holes()->mutable_u16();
  holes->set_base(10);
  std::string offsets;
  AppendLittle(&offsets, uint16_t{0});
  AppendLittle(&offsets, uint16_t{3});
  holes->set_offsets(offsets);
  OG_ASSERT_OK_AND_ASSIGN(const auto ids, ParseIds(message));
  EXPECT_EQ(ids, (std::vector<uint64_t>{11, 12, 14, 15}));
}

TEST(RowIdSequence, RangeWithBitmap_IsLeastSignificantBitFirst) {
  pb::RowIdSequence message;
  auto* segment = message.add_segments()->mutable_bitmap();
  segment->set_begin(1);
  segment->set_end(5);
  segment->set_bitmap("\x0d");
  OG_ASSERT_OK_AND_ASSIGN(const auto ids, ParseIds(message));
  EXPECT_EQ(ids, (std::vector<uint64_t>{1, 3, 4}));
}

TEST(RowIdSequence, Arrays_OfAllWidths) {
  pb::RowIdSequence message;
  std::string narrow;
  AppendLittle(&narrow, uint32_t{70000});
  AppendLittle(&narrow, uint32_t{1});
  auto* sorted = message.add_segments()->mutable_sorted()->mutable_u32();
  sorted->set_base(5);
  sorted->set_offsets(narrow);
  std::string wide;
  AppendLittle(&wide, uint64_t{1} << 40);
  message.add_segments()->mutable_array()->mutable_u64()->set_values(wide);
  OG_ASSERT_OK_AND_ASSIGN(const auto ids, ParseIds(message));
  EXPECT_EQ(ids, (std::vector<uint64_t>{70005, 6, uint64_t{1} << 40}));
}

TEST(RowIdSequence, MoreIdsThanRows_IsCorruption) {
  OG_EXPECT_ERROR(RowIdSequence::Parse(RowIdSequence::Range(0, 11).Encode(), 10, "t"),
                  ErrorKind::kCorruption, "row_ids.malformed");
  pb::RowIdSequence message;
  message.add_segments()->mutable_range()->set_begin(5);  // end 0
  OG_EXPECT_ERROR(ParseIds(message), ErrorKind::kCorruption, "row_ids.malformed");
  pb::RowIdSequence empty;
  empty.add_segments();
  OG_EXPECT_ERROR(ParseIds(empty), ErrorKind::kCorruption, "row_ids.malformed");
  pb::RowIdSequence torn;
  torn.add_segments()->mutable_array()->mutable_u64()->set_values("1234567");
  OG_EXPECT_ERROR(ParseIds(torn), ErrorKind::kCorruption, "row_ids.malformed");
  pb::RowIdSequence bare;  // a bitmap of no bytes for all ids that there are
  bare.add_segments()->mutable_bitmap()->set_end(UINT64_MAX);
  OG_EXPECT_ERROR(ParseIds(bare), ErrorKind::kCorruption, "row_ids.malformed");
  pb::RowIdSequence beyond;
  auto* array = beyond.add_segments()->mutable_array()->mutable_u16();
  array->set_base(UINT64_MAX);
  array->set_offsets(std::string("\x01\x00", 2));
  OG_EXPECT_ERROR(ParseIds(beyond), ErrorKind::kCorruption, "row_ids.malformed");
}

TEST(RowVersionSequence, OnlyTheCountOfASpanCounts) {
  // Official compaction leaves spans over old places (docs/format/lance-table.md).
  pb::RowVersionSequence message;
  auto* run = message.add_runs();
  run->mutable_span()->mutable_bitmap()->set_begin(1);
  run->mutable_span()->mutable_bitmap()->set_end(5);
  run->mutable_span()->mutable_bitmap()->set_bitmap("\x0d");
  run->set_version(1);
  run = message.add_runs();
  run->mutable_span()->mutable_range()->set_end(2);
  run->set_version(3);
  OG_ASSERT_OK_AND_ASSIGN(const auto sequence,
                          RowVersionSequence::Parse(SerializeProto(message), 5, "t"));
  std::vector<uint64_t> versions;
  sequence.AppendTo(1, 5, &versions);
  EXPECT_EQ(versions, (std::vector<uint64_t>{1, 1, 3, 3}));
  OG_EXPECT_ERROR(RowVersionSequence::Parse(SerializeProto(message), 4, "t"),
                  ErrorKind::kCorruption, "");
}

TEST(RowVersionSequence, Runs_RoundTrip) {
  RowVersionSequence sequence = RowVersionSequence::Constant(4, 10);
  sequence.Append(9, 3);
  sequence.Append(9, 2);
  OG_ASSERT_OK_AND_ASSIGN(const auto back, RowVersionSequence::Parse(sequence.Encode(), 15, "t"));
  EXPECT_EQ(back, sequence);
  EXPECT_EQ(back.runs().size(), 2u);
}

}  // namespace
}  // namespace omnigraph::lance
