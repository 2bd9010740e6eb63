// Names, shard ids, manifests and index details: the bytes. Reference bytes were written by
// official releases.
#include <gtest/gtest.h>

#include "memwal_builders.h"
#include "omnigraph/lance/memwal/mem_wal_index.h"
#include "omnigraph/lance/memwal/memwal_format.h"
#include "omnigraph/lance/memwal/shard_manifest.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using testing::TestShard;

std::string Bytes(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

ShardManifest FirstClaim() {
  ShardManifest manifest;
  manifest.version = 1;
  manifest.writer_epoch = 1;
  manifest.current_generation = 1;
  manifest.spec_id = 1;
  manifest.shard_id = UnshardedShardId();
  return manifest;
}

TEST(MemWalNames, FormatBits_IsLeastSignificantFirst) {
  EXPECT_EQ(FormatBits(1), "1" + std::string(63, '0'));
  EXPECT_EQ(FormatBits(2), "01" + std::string(62, '0'));
  EXPECT_EQ(FormatBits(5), "101" + std::string(61, '0'));
  for (const uint64_t number : {uint64_t{0}, uint64_t{1}, uint64_t{77}, UINT64_MAX}) {
    EXPECT_EQ(ParseBits(FormatBits(number)), number);
  }
}

// J-33, J-23: a left-over of a put is no position.
TEST(MemWalNames, ParseIsStrict) {
  const std::string bits = FormatBits(4);
  EXPECT_EQ(ParseLogEntryName(bits + ".arrow"), 4);
  for (const std::string& name :
       {bits + ".arrow.tmp.0123456789abcdef", bits + ".arrow#1", bits, bits + ".binpb",
        bits.substr(1) + ".arrow", "0" + bits + ".arrow", "2" + bits.substr(1) + ".arrow",
        std::string(".arrow"), std::string()}) {
    EXPECT_EQ(ParseLogEntryName(name), std::nullopt) << name;
  }
  EXPECT_EQ(ParseShardManifestName(bits + ".binpb"), 4);
  EXPECT_EQ(ParseShardManifestName(bits + ".arrow"), std::nullopt);
}

TEST(MemWalNames, ShardIds_AreTheOfficialOnes) {
  EXPECT_EQ(UnshardedShardId().ToString(), "aa48498d-ac91-59e2-8452-69f46010ace2");
  EXPECT_EQ(BucketShardId(0).ToString(), "4a388480-a25b-59a8-b058-24217f980256");
  EXPECT_EQ(BucketShardId(3).ToString(), "1d8d46d4-1ffd-5f6e-9aea-466d5ea76fdb");
}

TEST(ShardManifestBytes, FirstClaim_EqualsTheOfficialBytes) {
  EXPECT_EQ(EncodeShardManifest(FirstClaim()),
            Bytes("08011001300150015a120a10aa48498dac9159e2845269f46010ace2"));
}

TEST(ShardManifestBytes, WithAGeneration_EqualsTheOfficialBytes) {
  ShardManifest manifest = FirstClaim();
  manifest.version = 2;
  manifest.replay_after = 4;
  manifest.last_seen = 4;
  manifest.current_generation = 2;
  manifest.sstables.push_back({.generation = 1,
                               .path = "0b75a846_gen_1",
                               .in_memory_bytes = 1436,
                               .physical_rows = 12,
                               .primary_key_bytes = 192,
                               .unknown_fields = {}});
  EXPECT_EQ(EncodeShardManifest(manifest),
            Bytes("080210011804200430024"
                  "21a0801120e30623735613834365f67656e5f31189c0b200c28c00150015a120a10aa48498dac915"
                  "9e2845269f46010ace2"));
}

// A.4, O-7: what we do not know goes through a read and a write unchanged, also inside an SSTable's
// entry.
TEST(ShardManifestBytes, UnknownFields_Survive) {
  // An SSTable entry with a number of its own (field 100), then field 1000 of the manifest.
  const std::string nested = Bytes(
      "4209080112016"
      "1a206017a");
  const std::string bytes = EncodeShardManifest(FirstClaim()) + nested + Bytes("b83e07");
  OG_ASSERT_OK_AND_ASSIGN(const ShardManifest manifest,
                          DecodeShardManifest(bytes, UnshardedShardId(), 1, "m"));
  ASSERT_EQ(manifest.sstables.size(), 1);
  EXPECT_FALSE(manifest.sstables[0].unknown_fields.empty());
  EXPECT_FALSE(manifest.unknown_fields.empty());
  OG_ASSERT_OK_AND_ASSIGN(
      const ShardManifest again,
      DecodeShardManifest(EncodeShardManifest(manifest), UnshardedShardId(), 1, "m"));
  EXPECT_EQ(again, manifest);
}

TEST(ShardManifestBytes, OwnerMark_IsField1001) {
  ShardManifest manifest = FirstClaim();
  manifest.owner = OwnerMark{.claim_id = "c",
                             .process_id = "p",
                             .address = "a",
                             .host_boot_id = "b",
                             .pid = 7,
                             .start_time = 9};
  const std::string bytes = EncodeShardManifest(manifest);
  // Key of field 1001, length-delimited: 1001 << 3 | 2.
  EXPECT_NE(bytes.find(Bytes("ca3e")), std::string::npos);
  OG_ASSERT_OK_AND_ASSIGN(const ShardManifest again,
                          DecodeShardManifest(bytes, UnshardedShardId(), 1, "m"));
  EXPECT_EQ(again.owner, manifest.owner);
}

TEST(ShardManifestBytes, UnknownStatus_IsActiveAndKept) {
  ShardManifest manifest = FirstClaim();
  manifest.status = 2;
  OG_ASSERT_OK_AND_ASSIGN(
      const ShardManifest again,
      DecodeShardManifest(EncodeShardManifest(manifest), UnshardedShardId(), 1, "m"));
  EXPECT_FALSE(again.sealed());
  EXPECT_EQ(again.status, 2);
}

TEST(ShardManifestBytes, AnythingElse_IsCorruption) {
  const std::string good = EncodeShardManifest(FirstClaim());
  OG_EXPECT_ERROR(DecodeShardManifest(good, UnshardedShardId(), 2, "m"), ErrorKind::kCorruption,
                  "memwal.manifest");
  OG_EXPECT_ERROR(DecodeShardManifest(good, BucketShardId(0), 1, "m"), ErrorKind::kCorruption,
                  "memwal.manifest");
  for (size_t cut = 0; cut < good.size(); ++cut) {
    OG_EXPECT_ERROR(DecodeShardManifest(good.substr(0, cut), UnshardedShardId(), 1, "m"),
                    ErrorKind::kCorruption, "memwal.manifest");
  }
}

// O.2: bytes that pylance 14.0.2 writes for "unsharded, no maintained indexes".
TEST(MemWalDetails, Unsharded_EqualsTheOfficialBytes) {
  const std::string spec =
      Bytes("10013a1e0801121a0a066275636b65741a09756e736861726465642a05696e743332");
  EXPECT_EQ(EncodeMemWalDetails(UnshardedDetails({})), spec + Bytes("6000"));
  EXPECT_EQ(EncodeMemWalDetails(UnshardedDetails({"x"})), spec + Bytes("420178") + Bytes("6000"));
}

TEST(MemWalDetails, RoundTrip_KeepsUnknownFields) {
  MemWalIndexDetails details = UnshardedDetails({"id_idx"}, {{"durable_write", "true"}});
  details.compacted_generations[UnshardedShardId()] = 3;
  details.unknown_fields =
      Bytes("0807") + Bytes("b83e01");  // snapshot time, and a number that nobody knows
  OG_ASSERT_OK_AND_ASSIGN(const MemWalIndexDetails again,
                          ParseMemWalDetails(EncodeMemWalDetails(details), "d"));
  EXPECT_EQ(again, details);
  OG_EXPECT_ERROR(ParseMemWalDetails("\xff\xff", "d"), ErrorKind::kCorruption, "lance.proto");
}

TEST(MemWalDetails, IndexEntry_HasNoFilesAndNoBitmap) {
  const IndexMetadata index = MakeMemWalIndex(UnshardedDetails({}), 7);
  EXPECT_EQ(index.name, "__lance_mem_wal");
  EXPECT_FALSE(index.has_fragment_bitmap);
  EXPECT_TRUE(index.files.empty());
  EXPECT_EQ(index.dataset_version, 7);
  EXPECT_EQ(FindMemWalIndex({index})->uuid, index.uuid);
  EXPECT_EQ(FindMemWalIndex({}), nullptr);
}

}  // namespace
}  // namespace omnigraph::lance
