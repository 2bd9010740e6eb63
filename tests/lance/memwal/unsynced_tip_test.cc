// P5: an entry that reads back may be one whose owner's last sync failed. Whoever goes on above it
// makes it durable first; else a power cut takes it away from below what was acked since.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "memwal_builders.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/simulated_disk.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using testing::IdsInLog;
using testing::QuickClaim;
using testing::Request;
using testing::TestShard;

constexpr uint64_t kCuts = 24;

class UnsyncedTip : public ::testing::TestWithParam<store::DiskModel> {
 protected:
  /// Another process: a store of its own on the same disk.
  static ShardLocation Process(const std::shared_ptr<store::SimulatedDisk>& disk) {
    store::LocalStoreOptions options;
    options.open_ahead = 0;
    return TestShard(store::LocalStore::Make(disk, options));
  }

  /// Claim, append `ids`, and add those that were acked.
  static Status ClaimAndAppend(const ShardLocation& location, const std::vector<std::string>& ids,
                               std::set<std::string>* acked) {
    OG_ASSIGN_OR_RETURN(const auto writer, ShardWriter::Claim(location, QuickClaim(), nullptr));
    for (const std::string& id : ids) {
      OG_RETURN_NOT_OK(writer->AppendAndWait(Request(id)).status());
      acked->insert(id);
    }
    return Status::OK();
  }
};

INSTANTIATE_TEST_SUITE_P(Disks, UnsyncedTip,
                         ::testing::Values(store::DiskModel::kJournal, store::DiskModel::kNoJournal,
                                           store::DiskModel::kWeak));

// Two owners after each other lose any one of their syncs; a third acks; power goes; a fourth
// claims and finds every acked row.
TEST_P(UnsyncedTip, SuccessorsOfAFailedSync_LoseNoAckedRow) {
  for (uint64_t first = 1; first <= 24; ++first) {
    for (uint64_t cut = 0; cut < kCuts; ++cut) {
      auto disk =
          std::make_shared<store::SimulatedDisk>(store::SimulatedDiskOptions{.model = GetParam()});
      std::set<std::string> acked;
      disk->FailSync(first);
      static_cast<void>(ClaimAndAppend(Process(disk), {"a1", "a2"}, &acked));
      disk->FailSync(1 + (cut * 5 + first) % 17);
      static_cast<void>(ClaimAndAppend(Process(disk), {"b1"}, &acked));
      disk->FailSync(0);
      OG_ASSERT_OK(ClaimAndAppend(Process(disk), {"c1", "c2"}, &acked));
      disk->PowerCut(cut);
      OG_ASSERT_OK(ClaimAndAppend(Process(disk), {"d1"}, &acked)) << "first " << first;
      const std::vector<std::string> ids = IdsInLog(Process(disk));
      for (const std::string& id : acked) {
        EXPECT_THAT(ids, ::testing::Contains(id)) << "first " << first << " cut " << cut;
      }
    }
  }
}

// The same for an overtaken claimant's sentinel at the owner's next position (S4).
TEST_P(UnsyncedTip, OwnerAboveAnUnsyncedSentinel_LosesNoAckedRow) {
  for (uint64_t cut = 0; cut < kCuts; ++cut) {
    auto disk =
        std::make_shared<store::SimulatedDisk>(store::SimulatedDiskOptions{.model = GetParam()});
    const ShardLocation owner_location = Process(disk);
    OG_ASSERT_OK(ShardWriter::Claim(owner_location, QuickClaim(), nullptr));
    OG_ASSERT_OK_AND_ASSIGN(const auto owner,
                            ShardWriter::Claim(owner_location, QuickClaim(), nullptr));
    OG_ASSERT_OK_AND_ASSIGN(const EncodedEntry sentinel, EncodeSentinel(1, "stalled", ""));
    const ShardLocation stalled = Process(disk);
    const std::string path = stalled.EntryPath(owner->last_position() + 1);
    const std::string first = path + ".first";  // syncs the folders of this process
    OG_ASSERT_OK(
        stalled.store->PutIfAbsent(first, store::BytesOf("x"), store::PutStrength::kOrdered));
    OG_ASSERT_OK(stalled.store->Delete(first));
    disk->FailSync(2);  // the sync behind the link
    OG_EXPECT_ERROR(stalled.store->PutIfAbsent(path, sentinel.parts, store::PutStrength::kOrdered),
                    ErrorKind::kUnavailable, "store.sync_failed");
    OG_ASSERT_OK(stalled.store->Head(path));
    OG_ASSERT_OK(owner->AppendAndWait(Request("k")));
    EXPECT_EQ(owner->last_position(), 4u);
    disk->PowerCut(cut);
    const ShardLocation after = Process(disk);
    OG_ASSERT_OK(ShardWriter::Claim(after, QuickClaim(), nullptr)) << "cut " << cut;
    EXPECT_THAT(IdsInLog(after), ::testing::ElementsAre("k")) << "cut " << cut;
  }
}

// Nothing is collected under a manifest that may not be durable: the move of `replay_after` failed
// in a sync and reads back, so that the next move has nothing to do.
TEST_P(UnsyncedTip, CollectionAfterAFailedMove_LeavesNoHole) {
  int failed_and_stood = 0;
  for (uint64_t nth = 1; nth <= 8; ++nth) {
    for (uint64_t cut = 0; cut < kCuts; ++cut) {
      auto disk =
          std::make_shared<store::SimulatedDisk>(store::SimulatedDiskOptions{.model = GetParam()});
      const ShardLocation location = Process(disk);
      OG_ASSERT_OK_AND_ASSIGN(auto owner, ShardWriter::Claim(location, QuickClaim(), nullptr));
      for (const char* id : {"a", "b", "c"}) {
        OG_ASSERT_OK(owner->AppendAndWait(Request(id)));
      }
      const uint64_t published = owner->last_position();
      disk->FailSync(nth);
      const bool failed = !owner->AdvanceReplayAfter(published).ok();
      disk->FailSync(0);
      failed_and_stood += failed && location.store->Head(location.ManifestPath(2)).ok() ? 1 : 0;
      OG_ASSERT_OK(owner->AdvanceReplayAfter(published));
      OG_ASSERT_OK(owner->Collect(published));
      OG_ASSERT_OK(owner->AppendAndWait(Request("d")));
      disk->PowerCut(cut);
      owner.reset();
      ClaimOptions again = QuickClaim();
      again.published = published;
      const ShardLocation after = Process(disk);
      OG_ASSERT_OK(ShardWriter::Claim(after, again, nullptr)) << "sync " << nth << " cut " << cut;
      EXPECT_THAT(IdsInLog(after, published), ::testing::ElementsAre("d"));
    }
  }
  EXPECT_GT(failed_and_stood, 0);
}

}  // namespace
}  // namespace omnigraph::lance
