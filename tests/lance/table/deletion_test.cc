// Deletion vectors and their file forms (docs/format/lance-table.md, Deletion files).
#include "omnigraph/lance/table/deletion.h"

#include <arrow/array/builder_primitive.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <numeric>

#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using Offsets = std::vector<uint32_t>;

DeletionVector Parse(const std::string& bytes) {
  return DeletionVector::ParseRoaring(bytes, "t").ValueOr(DeletionVector());
}

std::shared_ptr<arrow::Buffer> ArrowFile(const Offsets& offsets, bool compressed) {
  arrow::UInt32Builder builder;
  OG_CHECK_OK(builder.AppendValues(offsets));
  const auto column = *builder.Finish();
  const auto schema = arrow::schema({arrow::field("row_id", arrow::uint32(), false)});
  const auto batch = arrow::RecordBatch::Make(schema, column->length(), {column});
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  if (compressed) {
    options.codec = *arrow::util::Codec::Create(arrow::Compression::ZSTD);
  }
  const auto sink = *arrow::io::BufferOutputStream::Create();
  const auto writer = *arrow::ipc::MakeFileWriter(sink, schema, options);
  OG_CHECK_OK(writer->WriteRecordBatch(*batch));
  OG_CHECK_OK(writer->Close());
  return *sink->Finish();
}

TEST(DeletionVector, Roaring_RoundTripsArraysAndBitmaps) {
  Offsets every_second;
  for (uint32_t i = 0; i < 200'000; i += 2) {
    every_second.push_back(i);
  }
  Offsets mixed = {0, 1, 65535, 65536, 1u << 31, UINT32_MAX};
  for (const Offsets& offsets : {Offsets{}, Offsets{7}, mixed, every_second}) {
    const DeletionVector deletions = DeletionVector::FromOffsets(offsets);
    const DeletionVector back = Parse(deletions.EncodeRoaring());
    EXPECT_EQ(back.ToOffsets(), offsets);
    EXPECT_EQ(back.EncodeRoaring(), deletions.EncodeRoaring());
  }
}

TEST(DeletionVector, Roaring_OfOneValue_HasTheOfficialBytes) {
  // Bytes of an official fragment bitmap {0} (golden table idx_scalar_v22).
  const std::string expected("\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\0\0", 18);
  EXPECT_EQ(DeletionVector::FromOffsets(Offsets{0}).EncodeRoaring(), expected);
}

TEST(DeletionVector, Roaring_RunContainersAreRead) {
  // Cookie 12347 with one run container: 10..14 and 20.
  const std::string bytes("\x3b\x30\0\0\1\0\0\5\0\2\0\x0a\0\4\0\x14\0\0\0", 19);
  EXPECT_EQ(Parse(bytes).ToOffsets(), (Offsets{10, 11, 12, 13, 14, 20}));
}

TEST(DeletionVector, Roaring_AnyBytesGiveASetOrCorruption) {
  Offsets offsets(5000);
  std::iota(offsets.begin(), offsets.end(), 100u);
  offsets.push_back(1u << 20);
  const std::string good = DeletionVector::FromOffsets(offsets).EncodeRoaring();
  for (size_t size = 0; size < good.size(); size += size < 64 ? 1 : 97) {
    OG_EXPECT_ERROR(DeletionVector::ParseRoaring(good.substr(0, size), "t"), ErrorKind::kCorruption,
                    "");
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    const auto parsed = DeletionVector::ParseRoaring(bad, "t");
    EXPECT_TRUE(parsed.ok() || IsCorruption(parsed.status())) << i;
  }
}

TEST(DeletionVector, Arrow_WithAndWithoutBodyCompression) {
  Offsets offsets(3000);
  std::iota(offsets.begin(), offsets.end(), 0u);
  std::reverse(offsets.begin(), offsets.end());
  for (const bool compressed : {false, true}) {
    OG_ASSERT_OK_AND_ASSIGN(const DeletionVector deletions,
                            DeletionVector::ParseArrow(ArrowFile(offsets, compressed), "t"));
    EXPECT_EQ(deletions.size(), 3000u);
    EXPECT_EQ(deletions.max(), 2999u);
  }
}

TEST(DeletionVector, Arrow_CutShortIsCorruption) {
  const auto good = ArrowFile({1, 2, 3}, true);
  for (int64_t size = 0; size < good->size(); size += 7) {
    OG_EXPECT_ERROR(DeletionVector::ParseArrow(arrow::SliceBuffer(good, 0, size), "t"),
                    ErrorKind::kCorruption, "deletion.arrow");
  }
}

TEST(DeletionVector, With_UnitesAndCounts) {
  const DeletionVector old = DeletionVector::FromOffsets(Offsets{1, 5});
  const DeletionVector both = old.With(Offsets{5, 9});
  EXPECT_EQ(both.ToOffsets(), (Offsets{1, 5, 9}));
  EXPECT_EQ(old.ToOffsets(), (Offsets{1, 5}));
  EXPECT_EQ(both.CountRange(0, 1), 0u);
  EXPECT_EQ(both.CountRange(1, 6), 2u);
  EXPECT_EQ(both.CountRange(6, uint64_t{1} << 32), 1u);
}

TEST(DeletionFiles, WriteThenRead) {
  const TableLocation location{std::make_shared<store::MemoryStore>(), "t.lance"};
  const DeletionVector deletions = DeletionVector::FromOffsets(Offsets{0, 3});
  OG_ASSERT_OK_AND_ASSIGN(const DeletionFileRef file, WriteDeletions(location, 7, 12, deletions));
  EXPECT_EQ(file.deleted_rows, 2u);
  EXPECT_EQ(DeletionFilePath(7, file), "_deletions/7-12-" + std::to_string(file.id) + ".bin");
  Fragment fragment;
  fragment.id = 7;
  fragment.physical_rows = 4;
  fragment.deletion_file = file;
  OG_ASSERT_OK_AND_ASSIGN(const DeletionVector back, ReadDeletions(location, fragment));
  EXPECT_EQ(back.ToOffsets(), (Offsets{0, 3}));

  fragment.physical_rows = 3;  // row 3 lies beyond the fragment
  OG_EXPECT_ERROR(ReadDeletions(location, fragment), ErrorKind::kCorruption, "deletion.mismatch");
  fragment.physical_rows = 4;
  fragment.deletion_file->deleted_rows = 1;
  OG_EXPECT_ERROR(ReadDeletions(location, fragment), ErrorKind::kCorruption, "deletion.mismatch");
  fragment.deletion_file->id += 1;
  OG_EXPECT_ERROR(ReadDeletions(location, fragment), ErrorKind::kCorruption, "deletion.absent");
}

}  // namespace
}  // namespace omnigraph::lance
