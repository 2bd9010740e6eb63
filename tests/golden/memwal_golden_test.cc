// Logs that official writers of Lance 8 to 14 made, read to their expected rows at the level of the
// log: the base, and above it every entry behind the published position, the last row per key
// winning. All entries still stand in these archives, so the SSTables are not needed. Rows as a
// reader sees them who skips the log (`no_replay`) need SSTables: not yet.
#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <fstream>
#include <map>
#include <sstream>

#include "golden_archive.h"
#include "omnigraph/lance/memwal/log_reader.h"
#include "omnigraph/lance/memwal/mem_wal_index.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using omnigraph::testing::OpenGoldenArchive;
using ::testing::ElementsAre;

using KeyedRows = std::map<std::string, std::string>;

std::string ReadFile(const std::string& name) {
  std::ifstream file(std::string(OMNIGRAPH_SOURCE_DIR) + "/tests/golden/data/memwal/" + name,
                     std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

KeyedRows Expected(const std::string& archive, const char* view) {
  const std::string text = ReadFile("expected.json");
  simdjson::dom::parser parser;
  KeyedRows rows;
  for (const simdjson::dom::element pair : parser.parse(text)[archive][view].get_array()) {
    char key[32];
    std::snprintf(key, sizeof(key), "key-%08d", static_cast<int>(int64_t(pair.at(0))));
    rows[key] = std::string(std::string_view(pair.at(1)));
  }
  return rows;
}

void Apply(const arrow::RecordBatch& batch, KeyedRows* rows) {
  const auto& ids = static_cast<const arrow::StringArray&>(*batch.GetColumnByName("id"));
  const auto& values = static_cast<const arrow::StringArray&>(*batch.GetColumnByName("c"));
  const auto column = batch.GetColumnByName("_tombstone");
  for (int64_t i = 0; i < batch.num_rows(); ++i) {
    if (column != nullptr && static_cast<const arrow::BooleanArray&>(*column).Value(i)) {
      rows->erase(ids.GetString(i));
    } else {
      (*rows)[ids.GetString(i)] = values.GetString(i);
    }
  }
}

Result<KeyedRows> BaseRows(const Table& table) {
  KeyedRows rows;
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan());
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return rows;
    }
    Apply(*batch, &rows);
  }
}

std::vector<int> FieldIds(const Table& table) {
  std::vector<int> ids;
  for (int i = 0; i < table.schema()->num_fields(); ++i) {
    ids.push_back(i);  // the bases of these archives have no gaps
  }
  return ids;
}

struct GoldenLog {
  const char* archive;
  std::vector<Uuid> shards;
  uint64_t published = 0;  // what the base holds already, where an official fold has been there
};

std::ostream& operator<<(std::ostream& out, const GoldenLog& log) {
  return out << log.archive;
}

std::vector<Uuid> Buckets() {
  return {BucketShardId(0), BucketShardId(1), BucketShardId(2), BucketShardId(3)};
}

class GoldenLogTest : public ::testing::TestWithParam<GoldenLog> {
 protected:
  void SetUp() override {
    OG_ASSERT_OK_AND_ASSIGN(store_, OpenGoldenArchive(std::string("memwal/") + GetParam().archive));
    OG_ASSERT_OK_AND_ASSIGN(table_, Table::Open({store_, "t.lance"}));
  }
  ShardLocation Shard(const Uuid& id) const {
    return ShardLocation::In(store_, "t.lance/_mem_wal", id);
  }

  std::shared_ptr<store::ObjectStore> store_;
  std::shared_ptr<const Table> table_;
};

// J-13, J-22, J-71, J-85: no generation, cursor or label is needed to get every row once.
TEST_P(GoldenLogTest, BaseAndLog_GiveTheExpectedRows) {
  OG_ASSERT_OK_AND_ASSIGN(KeyedRows rows, BaseRows(*table_));
  EXPECT_EQ(rows, Expected(GetParam().archive, "base"));
  for (const Uuid& shard : GetParam().shards) {
    const LogReader reader(Shard(shard));
    OG_ASSERT_OK_AND_ASSIGN(
        const LogTail tail,
        reader.ReadAfter(GetParam().published, [&](const LogEntry& entry) -> Status {
          EXPECT_FALSE(entry.ours);
          for (const auto& batch : entry.batches) {
            OG_ASSIGN_OR_RETURN(const auto aligned,
                                AlignToBase(*batch, table_->schema(), FieldIds(*table_)));
            Apply(*aligned, &rows);
          }
          return Status::OK();
        }));
    EXPECT_FALSE(tail.torn);
  }
  EXPECT_EQ(rows, Expected(GetParam().archive, "replay"));
}

// We claim what they left, replay the same rows, and keep what we do not know of their manifests.
TEST_P(GoldenLogTest, Claim_ReplaysTheSameRows) {
  OG_ASSERT_OK_AND_ASSIGN(KeyedRows rows, BaseRows(*table_));
  for (const Uuid& shard : GetParam().shards) {
    OG_ASSERT_OK_AND_ASSIGN(const auto before,
                            ShardManifestChain(Shard(shard)).ReadNewestByListing());
    ClaimOptions options;
    options.published = GetParam().published;
    options.spec_id = before->manifest.spec_id;
    OG_ASSERT_OK_AND_ASSIGN(
        const auto writer,
        ShardWriter::Claim(Shard(shard), options, [&](const LogEntry& entry) -> Status {
          for (const auto& batch : entry.batches) {
            Apply(*batch, &rows);
          }
          return Status::OK();
        }));
    OG_ASSERT_OK_AND_ASSIGN(const auto after, ShardManifestChain(Shard(shard)).ReadNewest());
    EXPECT_EQ(after->manifest.writer_epoch, before->manifest.writer_epoch + 1);
    EXPECT_EQ(after->manifest.sstables, before->manifest.sstables);
  }
  EXPECT_EQ(rows, Expected(GetParam().archive, "replay"));
}

TEST_P(GoldenLogTest, ManifestsAndDetails_AreWrittenBackByteForByte) {
  OG_ASSERT_OK_AND_ASSIGN(const auto objects, store::ListAll(*store_, "t.lance/_mem_wal/"));
  int manifests = 0;
  for (const store::ObjectInfo& object : objects) {
    const size_t slash = object.path.rfind('/');
    const std::optional<uint64_t> version = ParseShardManifestName(object.path.substr(slash + 1));
    if (!version.has_value()) {
      continue;
    }
    OG_ASSERT_OK_AND_ASSIGN(const Uuid shard, Uuid::Parse(object.path.substr(
                                                  std::string("t.lance/_mem_wal/").size(), 36)));
    OG_ASSERT_OK_AND_ASSIGN(const auto bytes, store_->Get(object.path));
    OG_ASSERT_OK_AND_ASSIGN(const ShardManifest manifest,
                            DecodeShardManifest(bytes->ToString(), shard, *version, object.path));
    EXPECT_EQ(EncodeShardManifest(manifest), bytes->ToString());
    ++manifests;
  }
  EXPECT_GT(manifests, 0);
  const IndexMetadata* index = FindMemWalIndex(table_->manifest().indices);
  ASSERT_NE(index, nullptr);
  OG_ASSERT_OK_AND_ASSIGN(const MemWalIndexDetails details,
                          ParseMemWalDetails(index->details_value, "details"));
  if (details.writer_defaults.size() < 2) {  // theirs are in random order
    EXPECT_EQ(EncodeMemWalDetails(details), index->details_value);
  }
  EXPECT_EQ(index->details_type_url, kMemWalDetailsTypeUrl);
}

INSTANTIATE_TEST_SUITE_P(
    Official, GoldenLogTest,
    ::testing::Values(GoldenLog{"01-unflushed-wal", {UnshardedShardId()}},
                      GoldenLog{"02-flushed-generations", {UnshardedShardId()}},
                      GoldenLog{"03-bucket4", Buckets()},
                      GoldenLog{"04-deletes-flushed", {UnshardedShardId()}},
                      GoldenLog{"04b-deletes-in-wal", {UnshardedShardId()}},
                      GoldenLog{"06-base-and-watermark", {UnshardedShardId()}, 4},
                      GoldenLog{"07-fencing", {UnshardedShardId()}},
                      GoldenLog{"08-written-by-lance9", {UnshardedShardId()}},
                      GoldenLog{"09-written-by-lance11", {UnshardedShardId()}},
                      GoldenLog{"10-written-by-lance8", {UnshardedShardId()}},
                      GoldenLog{"11-lance14-unflushed-wal", {UnshardedShardId()}},
                      GoldenLog{"12-lance14-flushed-tombstones", {UnshardedShardId()}},
                      GoldenLog{"13-lance14-bucket4", Buckets()},
                      GoldenLog{"14-lance14-folded", {UnshardedShardId()}, 2},
                      GoldenLog{"15-lance14-takeover", {UnshardedShardId()}},
                      GoldenLog{"16-lance12-then-14", {UnshardedShardId()}}));

std::vector<uint64_t> SentinelPositions(const ShardLocation& location) {
  std::vector<uint64_t> positions;
  OG_CHECK_OK(LogReader(location).ReadAfter(0, [&](const LogEntry& entry) {
    if (entry.is_sentinel) {
      positions.push_back(entry.position);
    }
    return Status::OK();
  }));
  return positions;
}

TEST(GoldenEntries, SentinelsEpochsAndLabels_AreSeen) {
  OG_ASSERT_OK_AND_ASSIGN(auto store, OpenGoldenArchive("memwal/07-fencing"));
  EXPECT_THAT(SentinelPositions(ShardLocation::In(store, "t.lance/_mem_wal", UnshardedShardId())),
              ElementsAre(11, 12, 14));
  OG_ASSERT_OK_AND_ASSIGN(store, OpenGoldenArchive("memwal/15-lance14-takeover"));
  EXPECT_THAT(SentinelPositions(ShardLocation::In(store, "t.lance/_mem_wal", UnshardedShardId())),
              ElementsAre(5, 8, 11));
  OG_ASSERT_OK_AND_ASSIGN(store, OpenGoldenArchive("memwal/16-lance12-then-14"));
  const LogReader reader(ShardLocation::In(store, "t.lance/_mem_wal", UnshardedShardId()));
  EXPECT_EQ(reader.Read(6)->generation, std::nullopt);
  EXPECT_EQ(reader.Read(8)->generation, 2);
  EXPECT_EQ(reader.Read(9)->generation, 3);
  EXPECT_EQ(reader.Read(15)->epoch, 4);
}

std::shared_ptr<arrow::RecordBatch> GoldenBatch() {
  arrow::StringBuilder ids;
  arrow::Int64Builder numbers;
  arrow::BooleanBuilder tombstones;
  for (int i = 0; i < 5; ++i) {
    OG_CHECK_OK(ids.Append("key-" + std::to_string(i)));
    OG_CHECK_OK(i == 3 ? numbers.AppendNull() : numbers.Append(i * 1000));
    OG_CHECK_OK(tombstones.Append(i == 3));
  }
  const auto base = arrow::schema(
      {arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int64(), true)});
  return arrow::RecordBatch::Make(
      EntrySchema(*base), 5,
      {ids.Finish().ValueOrDie(), numbers.Finish().ValueOrDie(), tombstones.Finish().ValueOrDie()});
}

std::string TextOf(const EncodedEntry& entry) {
  std::string text;
  for (const auto& part : entry.parts) {
    text += part->ToString();
  }
  return text;
}

// Our own bytes: unchanged unless this file changes with them.
TEST(GoldenEntries, OurBytes_AreUnchanged) {
  EntryEncoder encoder(7);
  EntryMark mark;
  mark.schema = "0011223344556677";
  mark.at_ms = 1'790'000'000'000;
  mark.runs = {{.rows = 3, .actor = "ann", .minted = true, .producer = {}, .ranges = {}},
               {.rows = 2, .actor = "bob", .minted = false, .producer = "p", .ranges = {{4, 5}}}};
  OG_ASSERT_OK_AND_ASSIGN(const EncodedEntry entry, encoder.Encode(*GoldenBatch(), mark));
  OG_ASSERT_OK_AND_ASSIGN(const EncodedEntry sentinel,
                          EncodeSentinel(7, "01KCA5V3M6Q7T0E0J4N8R2X9WZ", "127.0.0.1:8080"));
  EXPECT_EQ(TextOf(entry), ReadFile("ours-entry.arrow"));
  EXPECT_EQ(TextOf(sentinel), ReadFile("ours-sentinel.arrow"));
  if (::testing::Test::HasFailure()) {
    // Meant to change? Copy these over the golden files.
    std::ofstream(std::string(OMNIGRAPH_BINARY_DIR) + "/ours-entry.arrow", std::ios::binary)
        << TextOf(entry);
    std::ofstream(std::string(OMNIGRAPH_BINARY_DIR) + "/ours-sentinel.arrow", std::ios::binary)
        << TextOf(sentinel);
  }
  OG_ASSERT_OK_AND_ASSIGN(
      const LogEntry again,
      ParseEntry(arrow::Buffer::FromString(ReadFile("ours-entry.arrow")), 1, "ours"));
  EXPECT_EQ(again.mark, mark);
  EXPECT_TRUE(again.batches[0]->Equals(*GoldenBatch()));
}

}  // namespace
}  // namespace omnigraph::lance
