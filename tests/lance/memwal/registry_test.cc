// Heartbeats and takeover (S9), on the simulated clock.
#include <gtest/gtest.h>

#include "memwal_builders.h"
#include "omnigraph/lance/memwal/process_registry.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

std::shared_ptr<ProcessRegistry> MustStart(const std::shared_ptr<store::ObjectStore>& store,
                                           ProcessRegistryOptions options = {}) {
  Result<std::shared_ptr<ProcessRegistry>> registry =
      ProcessRegistry::Start(store, std::move(options));
  OG_CHECK_OK(registry);
  return *registry;
}

OwnerMark Stranger(const std::string& id) {
  return {.claim_id = "c",
          .process_id = id,
          .address = "there:1",
          .host_boot_id = "another boot",
          .pid = 1,
          .start_time = 1};
}

TEST(ProcessRegistry, StartAndStop_PutAndDeleteTheHeartbeat) {
  auto store = std::make_shared<store::MemoryStore>();
  const auto registry = MustStart(store);
  const std::string path = "__processes/" + registry->process_id();
  OG_EXPECT_OK(store->Head(path));
  EXPECT_EQ(*registry->Judge(registry->NewMark()), OwnerState::kSelf);
  OG_ASSERT_OK(registry->Stop());
  OG_ASSERT_OK(registry->Stop());
  EXPECT_TRUE(IsNotFound(store->Head(path).status()));
}

TEST(ProcessRegistry, Judge_FollowsTheHeartbeat) {
  auto store = std::make_shared<store::MemoryStore>();
  ProcessRegistryOptions options;
  options.takeover_after = std::chrono::milliseconds(1);
  const auto registry = MustStart(store, options);
  EXPECT_EQ(*registry->Judge(Stranger("nobody")), OwnerState::kGone);
  OG_ASSERT_OK(store->Put("__processes/peer", store::BytesOf("1")));
  EXPECT_EQ(*registry->Judge(Stranger("peer")),
            OwnerState::kAlive);  // first sight: its silence starts now
  EXPECT_EQ(*registry->Judge(Stranger("../peer")), OwnerState::kGone);
}

// A heartbeat may hold any bytes, none too: its silence starts at the first look like any other's.
TEST(ProcessRegistry, AnEmptyHeartbeat_IsAliveAtFirstSight) {
  auto store = std::make_shared<store::MemoryStore>();
  const auto registry = MustStart(store);
  OG_ASSERT_OK(store->Put("__processes/peer", store::BytesOf("")));
  EXPECT_EQ(*registry->Judge(Stranger("peer")), OwnerState::kAlive);
}

TEST(ProcessRegistry, DeadProcessOfThisHost_IsGoneAtOnce) {
  auto store = std::make_shared<store::MemoryStore>();
  const auto registry = MustStart(store);
  OwnerMark dead = registry->NewMark();
  dead.process_id = "dead";
  dead.pid = 4'000'000;  // above the kernel's largest
  OG_ASSERT_OK(store->Put("__processes/dead", store::BytesOf("1")));
  if (dead.host_boot_id.empty()) {
    GTEST_SKIP() << "this host has no boot id";
  }
  EXPECT_EQ(*registry->Judge(dead), OwnerState::kGone);
}

// The address of the owner is in the error, for the client to go there.
TEST(ProcessRegistry, Claim_OfALivingOwnersShard_NamesItsAddress) {
  auto store = std::make_shared<store::MemoryStore>();
  const ShardLocation location = testing::TestShard(store);
  ShardManifest manifest;
  manifest.version = 1;
  manifest.writer_epoch = 1;
  manifest.current_generation = 1;
  manifest.spec_id = 1;
  manifest.shard_id = location.id;
  manifest.owner = Stranger("peer");
  OG_ASSERT_OK(ShardManifestChain(location).PutNext(std::nullopt, manifest));
  OG_ASSERT_OK(store->Put("__processes/peer", store::BytesOf("1")));
  ClaimOptions options = testing::QuickClaim();
  options.registry = MustStart(store);
  const Result<std::unique_ptr<ShardWriter>> refused =
      ShardWriter::Claim(location, options, nullptr);
  OG_EXPECT_ERROR(refused, ErrorKind::kFenced, "ingest.not_owner");
  EXPECT_EQ(GetErrorDetail(refused.status())->place().object, "there:1");
  OG_ASSERT_OK(store->Delete("__processes/peer"));
  OG_EXPECT_OK(ShardWriter::Claim(location, options, nullptr));
}

}  // namespace
}  // namespace omnigraph::lance
