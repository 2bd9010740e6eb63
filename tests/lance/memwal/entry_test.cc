// Entries: what we write parses as what it was, and nothing else parses (S7).
#include "omnigraph/lance/memwal/entry.h"

#include <arrow/array/util.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/message.h>
#include <arrow/ipc/writer.h>
#include <arrow/scalar.h>
#include <arrow/util/byte_size.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memwal_builders.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using testing::BaseSchema;
using testing::MakeRows;
using testing::RowSchema;
using testing::RowsOf;
using testing::TestRow;

std::shared_ptr<arrow::Buffer> Join(const EncodedEntry& entry) {
  std::string bytes;
  for (const auto& part : entry.parts) {
    bytes += part->ToString();
  }
  return arrow::Buffer::FromString(std::move(bytes));
}

EntryMark MarkOf(int64_t rows) {
  EntryMark mark;
  mark.schema = "abc";
  mark.at_ms = 1234;
  mark.runs = {{.rows = rows,
                .actor = "ann \"q\" \\ \n",
                .minted = true,
                .producer = "p",
                .ranges = {{1, 2}, {5, UINT64_MAX}}}};
  return mark;
}

std::shared_ptr<arrow::Buffer> EncodeRows(const std::shared_ptr<arrow::RecordBatch>& batch,
                                          uint64_t epoch = 3) {
  EntryEncoder encoder(epoch);
  return Join(encoder.Encode(*batch, MarkOf(batch->num_rows())).ValueOrDie());
}

// An entry as another Arrow writer makes it.
std::shared_ptr<arrow::Buffer> ForeignEntry(
    const std::shared_ptr<arrow::Schema>& schema, const arrow::RecordBatchVector& batches,
    arrow::Compression::type codec = arrow::Compression::UNCOMPRESSED) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  arrow::ipc::IpcWriteOptions options;
  options.use_threads = false;
  if (codec != arrow::Compression::UNCOMPRESSED) {
    options.codec = arrow::util::Codec::Create(codec).ValueOrDie();
  }
  auto writer = arrow::ipc::MakeStreamWriter(sink, schema, options).ValueOrDie();
  for (const auto& batch : batches) {
    OG_CHECK_OK(writer->WriteRecordBatch(*batch->ReplaceSchema(schema).ValueOrDie()));
  }
  OG_CHECK_OK(writer->Close());
  return sink->Finish().ValueOrDie();
}

std::shared_ptr<arrow::Schema> WithKeys(const arrow::Schema& schema, std::vector<std::string> keys,
                                        std::vector<std::string> values) {
  return schema.WithMetadata(arrow::KeyValueMetadata::Make(std::move(keys), std::move(values)));
}

TEST(EntryMarkJson, RoundTrip) {
  const EntryMark mark = MarkOf(4);
  OG_ASSERT_OK_AND_ASSIGN(const EntryMark again, ParseEntryMark(EncodeEntryMark(mark), "e"));
  EXPECT_EQ(again, mark);
  for (const std::string_view bad :
       {"", "{}", "[]", R"({"v":2,"runs":[]})", R"({"v":1,"runs":[{"rows":0}]})",
        R"({"v":1,"runs":[{"rows":1,"ranges":[[2,1]]}]})"}) {
    OG_EXPECT_ERROR(ParseEntryMark(bad, "e"), ErrorKind::kCorruption, "memwal.entry_mark");
  }
}

TEST(EntryBytes, RoundTrip_KeepsRowsMarkAndMetadata) {
  const std::vector<TestRow> rows = {{"a", "1"}, {"b", "", true}, {"c", "3"}};
  const auto bytes = EncodeRows(MakeRows(rows));
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(bytes, 9, "e"));
  EXPECT_EQ(entry.position, 9);
  EXPECT_EQ(entry.epoch, 3);
  EXPECT_TRUE(entry.ours);
  EXPECT_FALSE(entry.is_sentinel);
  EXPECT_EQ(entry.mark, MarkOf(3));
  EXPECT_EQ(RowsOf(entry), rows);
  EXPECT_TRUE(entry.batches[0]->schema()->Equals(*RowSchema(), /*check_metadata=*/true))
      << entry.batches[0]->schema()->ToString(true);
}

// Sizes and alignment as official writers have them: every message and buffer on 64 bytes.
TEST(EntryBytes, Layout_IsAlignedAndEndsWithEndOfStream) {
  const auto bytes = EncodeRows(MakeRows("k", 5));
  EXPECT_EQ(bytes->size() % 64, 8);
  EXPECT_EQ(bytes->ToString().substr(static_cast<size_t>(bytes->size()) - 8),
            std::string("\xff\xff\xff\xff\0\0\0\0", 8));
}

// Where the buffers of the body stand is ours; everything else equals what Arrow writes.
TEST(EntryBytes, BuffersStandOn64Bytes) {
  const auto bytes = EncodeRows(MakeRows("key", 1000));
  arrow::io::BufferReader stream(bytes);
  OG_ASSERT_OK_AND_ASSIGN(const auto schema, arrow::ipc::ReadMessage(&stream));
  OG_ASSERT_OK_AND_ASSIGN(const auto message, arrow::ipc::ReadMessage(&stream));
  EXPECT_EQ(message->body_length() % 64, 0);
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(bytes, 1, "e"));
  for (const auto& column : entry.batches[0]->column_data()) {
    for (const auto& buffer : column->buffers) {
      if (buffer != nullptr && buffer->size() > 0) {
        EXPECT_EQ((buffer->data() - bytes->data()) % 64, 0);
      }
    }
  }
}

// The encoder fills its last message in where only numbers differ: the bytes are those of a new
// one.
TEST(EntryBytes, WhenAnEncoderIsUsedAgain_TheBytesAreThoseOfANewOne) {
  EntryEncoder encoder(3);
  const std::vector<std::shared_ptr<arrow::RecordBatch>> batches = {
      MakeRows({{"a", "1"}, {"b", "", true}, {"c", "3"}}),
      MakeRows({{"longer", "12345"}, {"", "x"}, {"keys", "and values"}}),
      MakeRows({{"a", "", true}, {"b", "", true}, {"c", "", true}}),
      MakeRows("many", 900)->Slice(100, 3),
      MakeRows("many", 900)->Slice(0, 3),
      MakeRows("many", 900),
      MakeRows("few", 4),
      MakeRows({{"a", "1"}, {"b", "", true}, {"c", "3"}})};
  for (const auto& batch : batches) {
    const auto bytes = Join(encoder.Encode(*batch, MarkOf(batch->num_rows())).ValueOrDie());
    EXPECT_TRUE(bytes->Equals(*EncodeRows(batch)));
    OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(bytes, 1, "e"));
    EXPECT_EQ(RowsOf(entry), RowsOf(*batch));
    OG_EXPECT_OK(entry.batches[0]->ValidateFull());
  }
}

TEST(EntryBytes, LargeEntry_SharesColumnBuffers) {
  const auto batch = MakeRows("some-longer-prefix-for-the-keys-", 20000);
  EntryEncoder encoder(1);
  OG_ASSERT_OK_AND_ASSIGN(const EncodedEntry entry, encoder.Encode(*batch, MarkOf(20000)));
  const uint8_t* keys = batch->column_data(0)->buffers[2]->data();
  const bool shared = std::any_of(entry.parts.begin(), entry.parts.end(),
                                  [&](const auto& part) { return part->data() == keys; });
  EXPECT_TRUE(shared);
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry parsed, ParseEntry(Join(entry), 1, "e"));
  EXPECT_EQ(RowsOf(parsed), RowsOf(*batch));
}

TEST(EntryBytes, Slice_EncodesOnlyItsRows) {
  const auto slice = MakeRows("k", 1000)->Slice(500, 3);
  const auto bytes = EncodeRows(slice);
  EXPECT_LT(bytes->size(), 4096);  // J-43
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(bytes, 1, "e"));
  EXPECT_EQ(RowsOf(entry), RowsOf(*slice));
}

// J-21, S7: no truncation of an entry is one.
TEST(EntryBytes, EveryTruncation_IsTorn) {
  for (const auto& bytes :
       {EncodeRows(MakeRows("k", 3)), Join(EncodeSentinel(2, "p", "a").ValueOrDie())}) {
    for (int64_t size = 0; size < bytes->size(); ++size) {
      OG_EXPECT_ERROR(ParseEntry(arrow::SliceBuffer(bytes, 0, size), 1, "e"),
                      ErrorKind::kCorruption, "memwal.entry_torn");
    }
    OG_EXPECT_ERROR(
        ParseEntry(arrow::Buffer::FromString(bytes->ToString() + std::string(8, '\0')), 1, "e"),
        ErrorKind::kCorruption, "memwal.entry_torn");
  }
}

// A flipped bit of the mark or the body never passes; one elsewhere gives an error or an entry,
// never a crash.
TEST(EntryBytes, EveryFlippedBodyBit_FailsTheChecksum) {
  const auto bytes = EncodeRows(MakeRows({{"a", "xyz"}, {"b", "uvw"}}));
  const std::string good = bytes->ToString();
  const size_t body =
      good.size() - 8 - 5 * 64;  // five buffers of at most 64 bytes, then the end-of-stream
  int passed = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      const Result<LogEntry> entry = ParseEntry(arrow::Buffer::FromString(std::move(bad)), 1, "e");
      if (i >= body) {
        EXPECT_FALSE(entry.ok()) << "byte " << i << " bit " << bit;
      }
      passed += entry.ok() ? 1 : 0;
    }
  }
  EXPECT_GT(passed, 0);  // flips in names and padding of the metadata are not seen; that is known
}

// A crafted mark, whose checksum is right: its counts neither add up nor wrap around.
TEST(EntryBytes, MarkThatCountsOtherRows_IsTorn) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  for (const std::vector<int64_t>& runs :
       {std::vector<int64_t>{1}, {3}, {kMost, kMost}, {kMost, kMost, 4}, {1, kMost}}) {
    EntryMark mark;
    for (const int64_t rows : runs) {
      mark.runs.push_back({.rows = rows, .actor = "a"});
    }
    EntryEncoder encoder(3);
    const auto bytes = Join(encoder.Encode(*MakeRows("k", 2), mark).ValueOrDie());
    OG_EXPECT_ERROR(ParseEntry(bytes, 9, "e"), ErrorKind::kCorruption, "memwal.entry_torn");
  }
}

TEST(EntryBytes, Sentinel_RoundTrip) {
  OG_ASSERT_OK_AND_ASSIGN(
      const LogEntry entry,
      ParseEntry(Join(EncodeSentinel(7, "proc", "host:1").ValueOrDie()), 4, "e"));
  EXPECT_TRUE(entry.is_sentinel);
  EXPECT_TRUE(entry.ours);
  EXPECT_EQ(entry.epoch, 7);
  EXPECT_EQ(entry.rows(), 0);
}

TEST(EntryBytes, ForeignSentinel_IsNotOurs) {
  const auto schema = arrow::schema(
      {}, arrow::KeyValueMetadata::Make({"writer_epoch", "fence_sentinel"}, {"2", "true"}));
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(ForeignEntry(schema, {}), 4, "e"));
  EXPECT_TRUE(entry.is_sentinel);
  EXPECT_FALSE(entry.ours);
}

TEST(EntryEncoderShape, WrongBatches_AreRefused) {
  EntryEncoder encoder(1);
  OG_EXPECT_ERROR(encoder.Encode(*MakeRows("k", 0), MarkOf(0)), ErrorKind::kInvalid,
                  "memwal.batch");
  const auto rows = MakeRows("k", 1);
  const auto without =
      arrow::RecordBatch::Make(BaseSchema(), 1, {rows->column(0), rows->column(1)});
  OG_EXPECT_ERROR(encoder.Encode(*without, MarkOf(1)), ErrorKind::kInvalid, "memwal.batch");
}

TEST(ForeignEntries, WithoutTombstones_GetFalseOnes) {  // Lance 8
  const auto rows = MakeRows("k", 2);
  const auto schema = WithKeys(*BaseSchema(), {"writer_epoch"}, {"1"});
  const auto batch = arrow::RecordBatch::Make(schema, 2, {rows->column(0), rows->column(1)});
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry,
                          ParseEntry(ForeignEntry(schema, {batch, batch}), 1, "e"));
  EXPECT_FALSE(entry.ours);
  EXPECT_EQ(entry.rows(), 4);
  EXPECT_EQ(RowsOf(entry)[3], (TestRow{"k1", "v", false}));
}

TEST(ForeignEntries, WithLabelAndFieldIds_AreReadByBoth) {  // Lance 14
  const auto id = [](int number) {
    return arrow::KeyValueMetadata::Make({"lance:field_id"}, {std::to_string(number)});
  };
  const auto schema =
      arrow::schema({arrow::field("value", arrow::utf8(), true, id(1)),
                     arrow::field("old_id", arrow::utf8(), false, id(0)),
                     arrow::field("_tombstone", arrow::boolean(), false)},
                    arrow::KeyValueMetadata::Make({"writer_epoch", "generation"}, {"4", "3"}));
  const auto rows = MakeRows({{"a", "1"}, {"b", "", true}});
  const auto batch =
      arrow::RecordBatch::Make(schema, 2, {rows->column(1), rows->column(0), rows->column(2)});
  OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry, ParseEntry(ForeignEntry(schema, {batch}), 1, "e"));
  EXPECT_EQ(entry.generation, 3);
  OG_ASSERT_OK_AND_ASSIGN(const auto aligned, AlignToBase(*entry.batches[0], BaseSchema(), {0, 1}));
  EXPECT_EQ(RowsOf(*aligned), RowsOf(*rows));
  EXPECT_TRUE(aligned->schema()->Equals(*RowSchema(), true));
  OG_ASSERT_OK_AND_ASSIGN(const auto by_name, AlignToBase(*entry.batches[0], BaseSchema(), {}));
  EXPECT_EQ(by_name->column(0)->null_count(), 2);  // no column of that name: null (J-34)
}

TEST(ForeignEntries, ColumnOfAnotherType_IsRefused) {
  const auto base = arrow::schema({arrow::field("id", arrow::int64(), false)});
  OG_EXPECT_ERROR(AlignToBase(*MakeRows("k", 1), base, {}), ErrorKind::kInvalid,
                  "memwal.column_type");
}

TEST(ForeignEntries, CompressedBodies_AreRead) {
  const auto schema = WithKeys(*RowSchema(), {"writer_epoch"}, {"1"});
  const auto rows = MakeRows("some-key-", 500);
  for (const auto codec : {arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD}) {
    OG_ASSERT_OK_AND_ASSIGN(const LogEntry entry,
                            ParseEntry(ForeignEntry(schema, {rows}, codec), 1, "e"));
    EXPECT_EQ(RowsOf(entry), RowsOf(*rows));
  }
}

TEST(ForeignEntries, BrokenMetadata_IsTorn) {
  const auto rows = MakeRows("k", 1);
  for (const auto& keys :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{}, {}},
           {{"writer_epoch"}, {"x"}},
           {{"writer_epoch"}, {"-1"}},
           {{"writer_epoch"}, {""}},
           {{"writer_epoch", "generation"}, {"1", "one"}}}) {
    OG_EXPECT_ERROR(
        ParseEntry(ForeignEntry(WithKeys(*RowSchema(), keys.first, keys.second), {rows}), 1, "e"),
        ErrorKind::kCorruption, "memwal.entry_torn");
  }
}

// Slices count as slices, in every layout that tables have: as Arrow counts them, but for the bits
// that share a byte with a neighbour.
TEST(EstimateEntryBytes, IsWhatArrowCounts) {
  const auto numbers = arrow::MakeArrayFromScalar(arrow::Int64Scalar(7), 3).ValueOrDie();
  const auto floats = arrow::MakeArrayFromScalar(arrow::FloatScalar(0.5f), 4).ValueOrDie();
  const arrow::ScalarVector values = {
      std::make_shared<arrow::BooleanScalar>(true),
      std::make_shared<arrow::Date32Scalar>(11),
      std::make_shared<arrow::StringScalar>("some text"),
      std::make_shared<arrow::LargeBinaryScalar>(std::string(100, 'b')),
      std::make_shared<arrow::ListScalar>(numbers),
      std::make_shared<arrow::FixedSizeListScalar>(floats)};
  for (const auto& value : values) {
    const auto column = arrow::MakeArrayFromScalar(*value, 1000).ValueOrDie();
    const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("x", column->type())}),
                                                1000, arrow::ArrayVector{column});
    for (const auto& part : {batch, batch->Slice(100, 50), batch->Slice(999), batch->Slice(5, 0)}) {
      EXPECT_NEAR(static_cast<double>(EstimateEntryBytes(*part)),
                  static_cast<double>(arrow::util::ReferencedBufferSize(*part).ValueOrDie()), 9)
          << column->type()->ToString() << " " << part->num_rows();
    }
  }
}

TEST(SplitForEntries, CutsByRowsAndBytes) {
  const auto many = MakeRows("k", kEntryRowsMax * 2 + 1);
  int64_t rows = 0;
  for (const auto& part : SplitForEntries(many)) {
    EXPECT_LE(part->num_rows(), kEntryRowsMax);
    rows += part->num_rows();
  }
  EXPECT_EQ(rows, many->num_rows());
  const auto wide = MakeRows({{"a", std::string(9 << 20, 'x')},
                              {"b", std::string(9 << 20, 'y')},
                              {"c", std::string(20 << 20, 'z')}});
  EXPECT_EQ(SplitForEntries(wide).size(),
            3);  // the last is one row, larger than an entry may otherwise be
}

}  // namespace
}  // namespace omnigraph::lance
