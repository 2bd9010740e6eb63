// Owning a shard: claim, fence, append, settle, replay, advance, collect (S1 to S9, P3, P4).
#include "omnigraph/lance/memwal/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "hook_store.h"
#include "memwal_builders.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using ::testing::ElementsAre;
using testing::IdsInLog;
using ::testing::IsEmpty;
using testing::MakeRows;
using testing::QuickClaim;
using testing::ReadLog;
using testing::Request;
using testing::RowsOf;
using testing::TestRow;
using testing::TestShard;

std::unique_ptr<ShardWriter> MustClaim(const ShardLocation& location,
                                       ClaimOptions options = QuickClaim()) {
  Result<std::unique_ptr<ShardWriter>> writer =
      ShardWriter::Claim(location, std::move(options), nullptr);
  OG_CHECK_OK(writer);
  return *std::move(writer);
}

Receipt MustAppend(ShardWriter* writer, const std::string& id) {
  Result<Receipt> receipt = writer->AppendAndWait(Request(id));
  OG_CHECK_OK(receipt);
  return *receipt;
}

ShardManifest NewestManifest(const ShardLocation& location) {
  return (*ShardManifestChain(location).ReadNewestByListing())->manifest;
}

// Puts what an official writer would: a sentinel or rows without our mark.
void PutForeign(const ShardLocation& location, uint64_t position, const EncodedEntry& entry) {
  OG_CHECK_OK(location.store->PutIfAbsent(location.EntryPath(position), entry.parts,
                                          store::PutStrength::kOrdered));
}

class ShardTest : public ::testing::Test {
 protected:
  std::shared_ptr<store::MemoryStore> memory_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<store::FaultyStore> faulty_ =
      std::make_shared<store::FaultyStore>(memory_, store::FaultPlan{});
  ShardLocation location_ = TestShard(memory_);
  ShardLocation shaky_ = TestShard(faulty_);

  void ArmEntryPut(store::StoreFault fault, uint32_t skip = 0) {
    faulty_->Arm({.op = store::StoreOp::kPutIfAbsent,
                  .fault = fault,
                  .path_contains = "/wal/",
                  .skip = skip});
  }
  void ArmManifestPut(store::StoreFault fault) {
    faulty_->Arm({.op = store::StoreOp::kPutIfAbsent,
                  .fault = fault,
                  .path_contains = "/manifest/",
                  .skip = 0});
  }
};

// S3: the first claim too puts a sentinel of ours; S2: the claim id is in field 1001.
TEST_F(ShardTest, FirstClaim_WritesManifestSentinelAndHint) {
  const auto writer = MustClaim(location_);
  EXPECT_EQ(writer->epoch(), 1);
  EXPECT_EQ(writer->last_position(), 1);
  const ShardManifest manifest = NewestManifest(location_);
  EXPECT_EQ(manifest.version, 1);
  EXPECT_EQ(manifest.current_generation, 1);
  EXPECT_FALSE(manifest.owner->claim_id.empty());
  const auto log = ReadLog(location_);
  ASSERT_EQ(log.size(), 1);
  EXPECT_TRUE(log[0].is_sentinel && log[0].ours);
  EXPECT_EQ((*memory_->Get(location_.HintPath()))->ToString(), R"({"version":1})");
}

TEST_F(ShardTest, Append_ReturnsDenseReceipts) {
  const auto writer = MustClaim(location_);
  const Receipt first = MustAppend(writer.get(), "a");
  EXPECT_EQ(first.shard, location_.id);
  EXPECT_EQ(first.epoch, 1);
  EXPECT_EQ(first.position, 2);
  EXPECT_EQ(MustAppend(writer.get(), "b").position, 3);
  EXPECT_THAT(IdsInLog(location_), ElementsAre("a", "b"));
  EXPECT_EQ(ReadLog(location_)[1].mark->runs[0].actor, "tester");
}

// The cost of a steady-state ack: one put, no list, no read.
TEST_F(ShardTest, Append_CostsOnePutAndNothingElse) {
  auto counting = std::make_shared<store::CountingStore>(memory_);
  const auto writer = MustClaim(TestShard(counting));
  MustAppend(writer.get(), "warm");
  counting->Reset();
  for (int i = 0; i < 10; ++i) {
    MustAppend(writer.get(), "k" + std::to_string(i));
  }
  EXPECT_EQ(counting->counts().put_if_absent.calls, 10);
  EXPECT_EQ(counting->counts().calls(), 10) << counting->counts().ToString();
}

TEST_F(ShardTest, Append_RefusesWrongBatches) {
  const auto writer = MustClaim(location_);
  OG_EXPECT_ERROR(writer->AppendAndWait(Request(MakeRows("k", 0))), ErrorKind::kInvalid,
                  "memwal.batch");
  OG_EXPECT_ERROR(writer->Append(Request(MakeRows("k", kEntryRowsMax + 1))), ErrorKind::kInvalid,
                  "memwal.batch");
  AppendRequest wrong_count = Request("a");
  wrong_count.runs[0].rows = 2;
  OG_EXPECT_ERROR(writer->Append(std::move(wrong_count)), ErrorKind::kInvalid, "memwal.batch");
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 2);
}

// G9: nothing grows without end.
TEST_F(ShardTest, Append_AboveTheQueueCap_IsRefused) {
  ClaimOptions options = QuickClaim();
  options.queue_bytes_max = 1;
  runtime::Mutex gate;
  const auto writer = MustClaim(location_, options);
  AppendRequest slow = Request("a");
  slow.on_settled = [&](const Result<Receipt>&) { runtime::MutexLock lock(gate); };
  {
    runtime::MutexLock lock(gate);
    OG_ASSERT_OK(writer->Append(std::move(slow)));
    OG_EXPECT_ERROR(writer->Append(Request("b")), ErrorKind::kExhausted, "memwal.queue_full");
  }
  OG_ASSERT_OK(writer->WaitSettled());
  EXPECT_EQ(writer->queued_bytes(), 0);
  EXPECT_THAT(IdsInLog(location_), ElementsAre("a"));
}

// Group commit: many producers, every row once, receipts that name the row.
TEST_F(ShardTest, ManyProducers_ShareEntriesAndKeepOrder) {
  std::vector<LogEntry> entries;
  ClaimOptions options = QuickClaim();
  options.on_entry = [&](const LogEntry& entry) { entries.push_back(entry); };
  const auto writer = MustClaim(location_, options);
  constexpr int kProducers = 8;
  constexpr int kRows = 200;
  std::atomic<int> wrong = 0;
  {
    std::vector<runtime::Thread> producers;
    for (int p = 0; p < kProducers; ++p) {
      producers.push_back(runtime::Thread::Start("producer", [&, p] {
        uint64_t last_position = 0;
        int64_t last_row = -1;
        for (int i = 0; i < kRows; ++i) {
          const Result<Receipt> receipt =
              writer->AppendAndWait(Request(std::to_string(p) + "/" + std::to_string(i)));
          const bool later =
              receipt.ok() &&
              (receipt->position > last_position ||
               (receipt->position == last_position && receipt->first_row > last_row));
          wrong += later ? 0 : 1;
          last_position = receipt.ok() ? receipt->position : last_position;
          last_row = receipt.ok() ? receipt->first_row : last_row;
        }
      }));
    }
  }
  OG_ASSERT_OK(writer->WaitSettled());
  EXPECT_EQ(wrong, 0);
  std::vector<int> next(kProducers, 0);
  int64_t rows = 0;
  for (const std::string& id : IdsInLog(location_)) {
    const size_t p = static_cast<size_t>(id[0] - '0');
    EXPECT_EQ(id, std::to_string(p) + "/" + std::to_string(next[p]++));  // G4
    ++rows;
  }
  EXPECT_EQ(rows, kProducers * kRows);
  uint64_t position = 1;
  for (const LogEntry& entry : entries) {
    EXPECT_EQ(entry.position, ++position);  // on_entry: in log order, every entry once
  }
}

TEST_F(ShardTest, Callbacks_ComeInLogOrder) {
  const auto writer = MustClaim(location_);
  std::vector<std::pair<uint64_t, int64_t>> seen;
  for (int i = 0; i < 100; ++i) {
    AppendRequest request = Request("k" + std::to_string(i));
    request.on_settled = [&](const Result<Receipt>& receipt) {
      seen.emplace_back(receipt->position, receipt->first_row);
    };
    OG_ASSERT_OK(writer->Append(std::move(request)));
  }
  OG_ASSERT_OK(writer->WaitSettled());
  ASSERT_EQ(seen.size(), 100);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

// Rows admitted under different schemas never share an entry (F6).
TEST_F(ShardTest, AnotherSchemaHash_StartsAnotherEntry) {
  const auto writer = MustClaim(location_);
  for (int i = 0; i < 6; ++i) {
    AppendRequest request = Request("k" + std::to_string(i));
    request.schema_hash = i % 2 == 0 ? "even" : "odd";
    OG_ASSERT_OK(writer->Append(std::move(request)));
  }
  OG_ASSERT_OK(writer->WaitSettled());
  for (const LogEntry& entry : ReadLog(location_, 1)) {
    for (const TestRow& row : RowsOf(entry)) {
      EXPECT_EQ(entry.mark->schema, (row.id[1] - '0') % 2 == 0 ? "even" : "odd");
    }
  }
}

// J-1, G7: after a claim the old owner cannot ack, though nothing was put in between.
TEST_F(ShardTest, WhenFenced_RejectsAppend) {
  const auto old_owner = MustClaim(location_);
  MustAppend(old_owner.get(), "a");
  const auto new_owner = MustClaim(location_);
  EXPECT_EQ(new_owner->epoch(), 2);
  const Result<Receipt> late = old_owner->AppendAndWait(Request("late"));
  OG_EXPECT_ERROR(late, ErrorKind::kFenced, "memwal.fenced");
  EXPECT_FALSE(GetErrorDetail(late.status())->effect_unknown());
  OG_EXPECT_ERROR(old_owner->Append(Request("later")), ErrorKind::kFenced,
                  "memwal.fenced");  // retired for good
  MustAppend(new_owner.get(), "b");
  EXPECT_THAT(IdsInLog(location_), ElementsAre("a", "b"));
}

// J-3: everybody who waits gets the typed error.
TEST_F(ShardTest, WhenFenced_EveryWaiterLearnsIt) {
  const auto old_owner = MustClaim(location_);
  const auto new_owner = MustClaim(location_);
  int fenced = 0;
  for (int i = 0; i < 20; ++i) {
    AppendRequest request = Request("k");
    request.on_settled = [&](const Result<Receipt>& receipt) {
      fenced += IsFenced(receipt.status()) ? 1 : 0;
    };
    if (!old_owner->Append(std::move(request)).ok()) {
      ++fenced;
    }
  }
  OG_EXPECT_ERROR(old_owner->WaitSettled(), ErrorKind::kFenced, "memwal.fenced");
  EXPECT_EQ(fenced, 20);
  OG_EXPECT_ERROR(old_owner->Stop(), ErrorKind::kFenced, "memwal.fenced");  // J-9: not success
}

// J-25, S3: the sentinel stands at the tip, so even an owner that slept through a whole claim
// collides.
TEST_F(ShardTest, Claim_ReplaysWhatTheOldOwnerSlippedIn) {
  const auto old_owner = MustClaim(location_);
  MustAppend(old_owner.get(), "a");
  MustAppend(old_owner.get(), "b");
  std::vector<std::string> replayed;
  std::vector<uint64_t> positions;
  OG_ASSERT_OK_AND_ASSIGN(const auto new_owner,
                          ShardWriter::Claim(location_, QuickClaim(), [&](const LogEntry& entry) {
                            positions.push_back(entry.position);
                            for (const TestRow& row : RowsOf(entry)) {
                              replayed.push_back(row.id);
                            }
                            return Status::OK();
                          }));
  EXPECT_THAT(replayed, ElementsAre("a", "b"));
  EXPECT_THAT(positions, ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(new_owner->last_position(), 4);
}

// J-6: replayed rows are not written again.
TEST_F(ShardTest, Claim_AddsNothingButASentinel) {
  MustAppend(MustClaim(location_).get(), "a");
  const auto writer = MustClaim(location_);
  OG_ASSERT_OK(writer->Stop());
  EXPECT_EQ(ReadLog(location_).size(), 3);
}

TEST_F(ShardTest, Claim_ReplaysOnlyAboveThePublishedPosition) {
  const auto first = MustClaim(location_);
  MustAppend(first.get(), "a");
  MustAppend(first.get(), "b");
  ClaimOptions options = QuickClaim();
  options.published = 2;
  std::vector<std::string> replayed;
  OG_ASSERT_OK(ShardWriter::Claim(location_, options, [&](const LogEntry& entry) {
    for (const TestRow& row : RowsOf(entry)) {
      replayed.push_back(row.id);
    }
    return Status::OK();
  }));
  EXPECT_THAT(replayed, ElementsAre("b"));
}

// S6: a power cut took entries that a fold had read: the tip is pushed above the published
// position.
TEST_F(ShardTest, Claim_PutsSentinelsUntilTheTipIsAboveThePublishedPosition) {
  {
    const auto writer = MustClaim(location_);
  }
  ClaimOptions options = QuickClaim();
  options.published = 5;
  const auto writer = MustClaim(location_, options);
  EXPECT_EQ(writer->last_position(), 5);
  for (const LogEntry& entry : ReadLog(location_)) {
    EXPECT_TRUE(entry.is_sentinel);
  }
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 6);
}

// J-24, S6: a hole below what was seen refuses the claim before it writes anything.
TEST_F(ShardTest, Claim_WithAHole_IsCorruption) {
  {
    const auto writer = MustClaim(location_);
    for (const char* id : {"a", "b", "c"}) {
      MustAppend(writer.get(), id);
    }
  }
  OG_ASSERT_OK(memory_->Delete(location_.EntryPath(3)));
  OG_EXPECT_ERROR(ShardWriter::Claim(location_, QuickClaim(), nullptr), ErrorKind::kCorruption,
                  "memwal.log_hole");
  EXPECT_EQ(NewestManifest(location_).version, 1);
}

TEST_F(ShardTest, Claim_WithAHoleBelowLastSeen_IsCorruption) {
  const auto writer = MustClaim(location_);
  MustAppend(writer.get(), "a");
  MustAppend(writer.get(), "b");
  OG_ASSERT_OK(writer->AdvanceReplayAfter(2));  // records 3 as seen
  OG_ASSERT_OK(memory_->Delete(location_.EntryPath(3)));
  OG_EXPECT_ERROR(ShardWriter::Claim(location_, QuickClaim(), nullptr), ErrorKind::kCorruption,
                  "memwal.log_hole");
}

// J-21, S7: a last entry of ours that is not whole stops the shard, at every truncation length;
// reads stay.
TEST_F(ShardTest, Claim_WithATornLastEntryOfOurs_IsCorruption) {
  {
    const auto writer = MustClaim(location_);
    MustAppend(writer.get(), "a");
    MustAppend(writer.get(), "b");
  }
  const std::string whole = (*memory_->Get(location_.EntryPath(3)))->ToString();
  for (size_t size = 0; size < whole.size(); size += 7) {
    OG_ASSERT_OK(memory_->Put(location_.EntryPath(3), store::BytesOf(whole.substr(0, size))));
    OG_EXPECT_ERROR(ShardWriter::Claim(location_, QuickClaim(), nullptr), ErrorKind::kCorruption,
                    "memwal.entry_torn");
    EXPECT_THAT(IdsInLog(location_), ElementsAre("a"));
    OG_EXPECT_ERROR(ReplaceTornTail(location_), ErrorKind::kCorruption, "memwal.entry_torn");
  }
  EXPECT_EQ(NewestManifest(location_).version, 1);
}

TEST_F(ShardTest, TornEntryBelowAnother_IsCorruptionForReadersToo) {
  {
    const auto writer = MustClaim(location_);
    MustAppend(writer.get(), "a");
    MustAppend(writer.get(), "b");
  }
  OG_ASSERT_OK(memory_->Put(location_.EntryPath(2), store::BytesOf("")));
  const LogReader reader(location_);
  OG_EXPECT_ERROR(reader.ReadAfter(0, [](const LogEntry&) { return Status::OK(); }),
                  ErrorKind::kCorruption, "memwal.entry_torn");
}

// S7: one of ours is replaced only by an operator who says that its rows may be lost. That it is
// ours is seen though collection and an official tailer took every other sign of it.
TEST_F(ShardTest, TornTailOfOurs_IsReplacedOnlyWithConsent) {
  {
    const auto writer = MustClaim(location_);
    MustAppend(writer.get(), "a");
    const uint64_t last = MustAppend(writer.get(), "b").position;
    OG_ASSERT_OK(writer->AdvanceReplayAfter(last));
    OG_ASSERT_OK(writer->Collect(last));
    MustAppend(writer.get(), "c");
    const auto newest = *ShardManifestChain(location_).ReadNewestByListing();
    ShardManifest bump = newest->manifest;  // as an official tailer leaves it: without our field
    ++bump.version;
    bump.owner.reset();
    OG_ASSERT_OK(ShardManifestChain(location_).PutNext(newest, bump));
  }
  OG_ASSERT_OK(memory_->Put(location_.EntryPath(4), store::BytesOf("half")));
  OG_EXPECT_ERROR(ReplaceTornTail(location_), ErrorKind::kCorruption, "memwal.entry_torn");
  OG_ASSERT_OK_AND_ASSIGN(const uint64_t replaced, ReplaceTornTail(location_, true));
  EXPECT_EQ(replaced, 4);
  EXPECT_EQ((*memory_->Get(location_.folder + "/torn/" + FormatBits(4)))->ToString(), "half");
  EXPECT_EQ(MustClaim(location_)->last_position(), 5);
}

// S7: under a foreign epoch an operator replaces it and a copy is kept.
TEST_F(ShardTest, TornForeignTail_IsReplacedOnCommand) {
  ShardManifest official;
  official.version = 1;
  official.writer_epoch = 1;
  official.current_generation = 1;
  official.spec_id = 1;
  official.shard_id = location_.id;
  OG_ASSERT_OK(ShardManifestChain(location_).PutNext(std::nullopt, official));
  EntryEncoder encoder(1);
  EntryMark mark;
  mark.runs = {{.rows = 1, .actor = "", .minted = false, .producer = {}, .ranges = {}}};
  PutForeign(location_, 1, *encoder.Encode(*MakeRows({{"a", "v"}}), mark));
  OG_EXPECT_ERROR(ReplaceTornTail(location_), ErrorKind::kInvalid, "memwal.not_torn");
  OG_ASSERT_OK(memory_->Put(location_.EntryPath(2), store::BytesOf("half")));
  OG_EXPECT_ERROR(ShardWriter::Claim(location_, QuickClaim(), nullptr), ErrorKind::kCorruption,
                  "memwal.entry_torn");
  OG_ASSERT_OK_AND_ASSIGN(const uint64_t replaced, ReplaceTornTail(location_));
  EXPECT_EQ(replaced, 2);
  EXPECT_EQ((*memory_->Get(location_.folder + "/torn/" + FormatBits(2)))->ToString(), "half");
  const auto writer = MustClaim(location_);
  EXPECT_EQ(writer->last_position(), 3);
}

// J-4, P4, S4: the put landed and its answer was lost: our own bytes stand, the row is acked once.
TEST_F(ShardTest, LostAnswer_IsSettledByReading) {
  const auto writer = MustClaim(shaky_);
  for (const store::StoreFault fault :
       {store::StoreFault::kFailAfter, store::StoreFault::kFailBefore,
        store::StoreFault::kThrottled}) {
    ArmEntryPut(fault);
    MustAppend(writer.get(), "a");
  }
  EXPECT_THAT(IdsInLog(location_), ElementsAre("a", "a", "a"));
  EXPECT_EQ(ReadLog(location_).size(), 4);
}

// S4: a put that lands after it was put again finds its own bytes there.
TEST_F(ShardTest, LatePut_DoesNotDouble) {
  const auto writer = MustClaim(shaky_);
  ArmEntryPut(store::StoreFault::kLateEffect);
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 2);
  faulty_->ReleaseLate();
  MustAppend(writer.get(), "b");
  EXPECT_THAT(IdsInLog(location_), ElementsAre("a", "b"));
}

// G3: when nobody can tell, the answer is unknown, nothing after it is acked, and the writer
// retires.
TEST_F(ShardTest, UnsettledPut_IsUnknownAndRetires) {
  const auto writer = MustClaim(shaky_);
  MustAppend(writer.get(), "a");
  faulty_->SetPlan({.fail_before_ppm = 1'000'000, .path_contains = "/wal/"});
  const Result<Receipt> receipt = writer->AppendAndWait(Request("b"));
  ASSERT_FALSE(receipt.ok());
  EXPECT_TRUE(GetErrorDetail(receipt.status())->effect_unknown());
  faulty_->SetPlan({});
  const Status later = writer->Append(Request("c"));
  ASSERT_FALSE(later.ok());
  EXPECT_FALSE(GetErrorDetail(later)->effect_unknown()) << "nobody tried to put it";
  EXPECT_FALSE(writer->status().ok());
}

// A store that surely wrote nothing fails the rows, not the writer.
TEST_F(ShardTest, PutThatSurelyHadNoEffect_KeepsTheWriter) {
  const auto writer = MustClaim(shaky_);
  faulty_->SetPlan({.throttled_ppm = 1'000'000, .path_contains = "/wal/"});
  const Result<Receipt> receipt = writer->AppendAndWait(Request("b"));
  faulty_->SetPlan({});
  ASSERT_FALSE(receipt.ok());
  EXPECT_FALSE(GetErrorDetail(receipt.status())->effect_unknown());
  MustAppend(writer.get(), "c");
  EXPECT_THAT(IdsInLog(location_), ElementsAre("c"));
}

// P4: the store repeats a put of ours that landed, answers "exists", and then nothing can be read.
// The rows may be in the log, so the writer retires and says so.
TEST_F(ShardTest, ExistsThatCannotBeRead_IsUnknown) {
  const auto writer = MustClaim(shaky_);
  const auto bytes = EncodeSentinel(1, "somebody", "");
  PutForeign(location_, writer->last_position() + 1, *bytes);
  for (uint32_t skip = 0; skip < 8; ++skip) {
    faulty_->Arm({.op = store::StoreOp::kGet,
                  .fault = store::StoreFault::kFailBefore,
                  .path_contains = "/wal/",
                  .skip = 0});
  }
  const Result<Receipt> receipt = writer->AppendAndWait(Request("b"));
  ASSERT_FALSE(receipt.ok());
  EXPECT_TRUE(GetErrorDetail(receipt.status())->effect_unknown());
  EXPECT_FALSE(writer->status().ok());
}

// A mark that could not be read back is refused before it is written.
TEST_F(ShardTest, ActorThatIsNotUtf8_IsRefused) {
  const auto writer = MustClaim(location_);
  OG_EXPECT_ERROR(writer->AppendAndWait(Request(MakeRows("a", 1), "\xff")), ErrorKind::kInvalid,
                  "memwal.batch");
  AppendRequest producer = Request("a");
  producer.runs[0].producer = "\xc3";
  OG_EXPECT_ERROR(writer->Append(std::move(producer)), ErrorKind::kInvalid, "memwal.batch");
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 2);
}

// Found by the model (LogModel, s4_doubt): an unanswered put landed, was folded and collected, and
// a late sentinel of the successor landed in its place. The rows must not be called "surely not
// written".
TEST_F(ShardTest, UnansweredPutThatWasCollected_IsUnknownToAFencedOwner) {
  auto hooked = std::make_shared<testing::HookStore>(memory_);
  const auto old_owner = MustClaim(TestShard(hooked));
  hooked->OnNextPut(location_.EntryPath(2), [&] {
    const auto successor = MustClaim(location_);
    const uint64_t last = MustAppend(successor.get(), "b").position;
    OG_ASSERT_OK(successor->AdvanceReplayAfter(last));
    OG_ASSERT_OK(successor->Collect(last));
    PutForeign(location_, 2, *EncodeSentinel(2, "late", ""));
  });
  const Result<Receipt> receipt = old_owner->AppendAndWait(Request("a"));
  OG_EXPECT_ERROR(receipt, ErrorKind::kFenced, "memwal.fenced");
  EXPECT_TRUE(GetErrorDetail(receipt.status())->effect_unknown());
}

// The same without collection: what stands there has always stood there.
TEST_F(ShardTest, UnansweredPutThatDidNotLand_IsSurelyNotWritten) {
  auto hooked = std::make_shared<testing::HookStore>(memory_);
  const auto old_owner = MustClaim(TestShard(hooked));
  hooked->OnNextPut(location_.EntryPath(2), [&] { MustClaim(location_); }, /*before=*/true);
  const Result<Receipt> receipt = old_owner->AppendAndWait(Request("a"));
  OG_EXPECT_ERROR(receipt, ErrorKind::kFenced, "memwal.fenced");
  EXPECT_FALSE(GetErrorDetail(receipt.status())->effect_unknown());
}

// S4: a lower epoch's sentinel at our position is stepped over.
TEST_F(ShardTest, LowerSentinelAtOurPosition_IsSteppedOver) {
  MustClaim(location_);
  const auto writer = MustClaim(location_);
  EXPECT_EQ(writer->epoch(), 2);
  PutForeign(location_, 3, *EncodeSentinel(1, "late", ""));
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 4);
}

// S4: rows of a lower or our own epoch there mean two owners.
TEST_F(ShardTest, OtherRowsAtOurPosition_RetireTheWriter) {
  MustClaim(location_);
  const auto writer = MustClaim(location_);
  EntryEncoder encoder(1);
  EntryMark mark;
  mark.runs = {{.rows = 1, .actor = "", .minted = false, .producer = {}, .ranges = {}}};
  PutForeign(location_, 3, *encoder.Encode(*MakeRows({{"x", "v"}}), mark));
  OG_EXPECT_ERROR(writer->AppendAndWait(Request("a")), ErrorKind::kFenced, "memwal.two_owners");
  OG_EXPECT_ERROR(writer->Append(Request("b")), ErrorKind::kFenced, "memwal.two_owners");
}

// S2, P4: a claim whose answer was lost is settled by its claim id.
TEST_F(ShardTest, LostAnswerOfAClaim_IsSettledByReading) {
  for (const store::StoreFault fault :
       {store::StoreFault::kFailAfter, store::StoreFault::kFailBefore,
        store::StoreFault::kLateEffect}) {
    const uint64_t before = (*ShardManifestChain(location_).ReadNewestByListing()).has_value()
                                ? NewestManifest(location_).version
                                : 0;
    ArmManifestPut(fault);
    const auto writer = MustClaim(shaky_);
    faulty_->ReleaseLate();
    EXPECT_EQ(NewestManifest(location_).version, before + 1);
    EXPECT_EQ(NewestManifest(location_).writer_epoch, writer->epoch());
  }
}

// J-20: an official tailer's bump between our look and our put does not defeat a claim.
TEST_F(ShardTest, Claim_SurvivesABenignBump) {
  MustClaim(location_);
  const ShardManifestChain chain(location_);
  const auto base = *chain.ReadNewestByListing();
  ShardManifest bump = base->manifest;
  ++bump.version;
  bump.owner.reset();
  bump.last_seen = 1;
  OG_ASSERT_OK(chain.PutNext(base, bump));
  const auto writer = MustClaim(location_);
  EXPECT_EQ(writer->epoch(), 2);
  EXPECT_EQ(NewestManifest(location_).version, 3);
}

// J-88, J-17, A.4.
TEST_F(ShardTest, Claim_ChecksSpecSealAndReservations) {
  const auto writer = MustClaim(location_);
  ClaimOptions other_spec = QuickClaim();
  other_spec.spec_id = 0;
  OG_EXPECT_ERROR(ShardWriter::Claim(location_, other_spec, nullptr), ErrorKind::kInvalid,
                  "memwal.spec");
  EXPECT_EQ(NewestManifest(location_).version, 1);  // J-7: nothing was claimed
  OG_ASSERT_OK(writer->Seal());
  OG_EXPECT_ERROR(writer->Append(Request("a")), ErrorKind::kUnsupported, "memwal.sealed");
  OG_EXPECT_ERROR(ShardWriter::Claim(location_, QuickClaim(), nullptr), ErrorKind::kUnsupported,
                  "memwal.sealed");
  ClaimOptions reopen = QuickClaim();
  reopen.reopen_sealed = true;
  const auto again = MustClaim(location_, reopen);
  EXPECT_FALSE(NewestManifest(location_).sealed());
  EXPECT_EQ(again->epoch(), 2);  // S3: epochs go on
  EXPECT_GT(MustAppend(again.get(), "a").position, 2);
}

// B3: claim and seal in one manifest put; such a shard only replays.
TEST_F(ShardTest, SealingClaim_ReplaysAndRefusesRows) {
  MustAppend(MustClaim(location_).get(), "a");
  ClaimOptions options = QuickClaim();
  options.seal = true;
  int rows = 0;
  OG_ASSERT_OK_AND_ASSIGN(const auto writer,
                          ShardWriter::Claim(location_, options, [&](const LogEntry& entry) {
                            rows += static_cast<int>(entry.rows());
                            return Status::OK();
                          }));
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(NewestManifest(location_).version, 2);
  EXPECT_TRUE(NewestManifest(location_).sealed());
  OG_EXPECT_ERROR(writer->Append(Request("b")), ErrorKind::kUnsupported, "memwal.sealed");
}

// S8: forward only, under our own epoch, not above the log.
TEST_F(ShardTest, AdvanceReplayAfter_OnlyForwardAndOnlyByTheOwner) {
  const auto writer = MustClaim(location_);
  MustAppend(writer.get(), "a");
  OG_EXPECT_ERROR(writer->AdvanceReplayAfter(3), ErrorKind::kInvalid, "memwal.replay_after");
  OG_ASSERT_OK(writer->AdvanceReplayAfter(2));
  EXPECT_EQ(NewestManifest(location_).replay_after, 2);
  EXPECT_EQ(NewestManifest(location_).last_seen, 2);
  const uint64_t version = NewestManifest(location_).version;
  OG_ASSERT_OK(writer->AdvanceReplayAfter(1));
  EXPECT_EQ(NewestManifest(location_).version, version);
  EXPECT_EQ(writer->replay_after(), 2);
  const auto next = MustClaim(location_);
  MustAppend(next.get(), "b");
  OG_EXPECT_ERROR(writer->AdvanceReplayAfter(2), ErrorKind::kFenced, "memwal.fenced");
  OG_EXPECT_ERROR(writer->Append(Request("c")), ErrorKind::kFenced, "memwal.fenced");
  EXPECT_EQ(NewestManifest(location_).owner->claim_id.empty(), false);
}

// S8, O-7: generations of others are delisted only one past their cursor; unknown fields and our
// mark stay.
TEST_F(ShardTest, AdvanceReplayAfter_DelistsGenerationsOnePastTheirCursor) {
  ShardManifest official;
  official.version = 1;
  official.writer_epoch = 1;
  official.current_generation = 2;
  official.spec_id = 1;
  official.shard_id = location_.id;
  official.replay_after = 1;
  official.sstables.push_back({.generation = 1, .path = "ab_gen_1"});
  official.unknown_fields = "\xf8\x3e\x01";  // field 1007
  OG_ASSERT_OK(ShardManifestChain(location_).PutNext(std::nullopt, official));
  EntryEncoder encoder(1);
  EntryMark mark;
  mark.runs = {{.rows = 1, .actor = "", .minted = false, .producer = {}, .ranges = {}}};
  PutForeign(location_, 1, *encoder.Encode(*MakeRows({{"a", "v"}}), mark));
  PutForeign(location_, 2, *encoder.Encode(*MakeRows({{"b", "v"}}), mark));
  const auto writer = MustClaim(location_);
  OG_ASSERT_OK(writer->AdvanceReplayAfter(1));
  EXPECT_EQ(NewestManifest(location_).sstables.size(), 1);
  OG_ASSERT_OK(writer->AdvanceReplayAfter(2));
  EXPECT_THAT(NewestManifest(location_).sstables, IsEmpty());
  EXPECT_EQ(NewestManifest(location_).unknown_fields, official.unknown_fields);
  EXPECT_TRUE(NewestManifest(location_).owner.has_value());
}

// S5: only data entries, strictly below both bounds; sentinels stay; no list and no read once it
// runs.
TEST_F(ShardTest, Collect_DeletesFoldedEntriesAndKeepsSentinels) {
  auto counting = std::make_shared<store::CountingStore>(memory_);
  const ShardLocation counted = TestShard(counting);
  {
    MustAppend(MustClaim(counted).get(), "old");
  }
  const auto writer = MustClaim(counted);
  for (const char* id : {"a", "b", "c"}) {
    MustAppend(writer.get(), id);  // 4, 5, 6
  }
  OG_ASSERT_OK(writer->AdvanceReplayAfter(5));
  OG_ASSERT_OK_AND_ASSIGN(CollectResult result, writer->Collect(6));
  EXPECT_EQ(result.deleted, 2);  // "old" and "a"; 5 is not strictly below replay_after
  EXPECT_THAT(IdsInLog(counted, 4), ElementsAre("b", "c"));
  EXPECT_TRUE(LogReader(counted).Read(1)->is_sentinel && LogReader(counted).Read(3)->is_sentinel);
  MustAppend(writer.get(), "d");
  OG_ASSERT_OK(writer->AdvanceReplayAfter(6));
  counting->Reset();
  OG_ASSERT_OK_AND_ASSIGN(result, writer->Collect(6));
  EXPECT_EQ(result.deleted, 1);
  EXPECT_EQ(counting->counts().list.calls + counting->counts().read_calls(), 0);
  EXPECT_EQ(counting->counts().erase.calls, 1);
}

// S1, J-14: after everything was collected a claim goes on above, never at a used position.
TEST_F(ShardTest, ClaimAfterCollection_NeverReusesAPosition) {
  uint64_t last = 0;
  for (int round = 0; round < 3; ++round) {
    ClaimOptions options = QuickClaim();
    options.published = last;
    const auto writer = MustClaim(location_, options);
    const uint64_t position = MustAppend(writer.get(), "k").position;
    EXPECT_GT(position, last);
    last = position;
    OG_ASSERT_OK(writer->AdvanceReplayAfter(last));
    OG_ASSERT_OK(writer->Collect(last));
  }
}

// S5: a foreign sentinel holds collection back for a day, by the store's clock.
TEST_F(ShardTest, Collect_WaitsADayAfterAForeignSentinel) {
  const auto writer = MustClaim(location_);
  MustAppend(writer.get(), "a");
  MustAppend(writer.get(), "b");
  OG_ASSERT_OK(writer->AdvanceReplayAfter(3));
  LogCollector collector(location_);
  std::string text = (*memory_->Get(location_.EntryPath(1)))->ToString();
  const size_t key = text.find("omnigraph.sentinel");
  text.replace(key, 18, "something.else.yes");  // the same entry without our mark
  OG_ASSERT_OK(memory_->PutIfAbsent(location_.EntryPath(4), store::BytesOf(text),
                                    store::PutStrength::kOrdered));
  const int64_t put_us = memory_->Head(location_.EntryPath(4))->modified_us;
  constexpr int64_t kDayUs = int64_t{24} * 3600 * 1000 * 1000;
  OG_ASSERT_OK_AND_ASSIGN(CollectResult result, collector.Collect(3, 3, put_us + kDayUs - 1));
  EXPECT_TRUE(result.held_by_foreign_sentinel);
  EXPECT_EQ(result.deleted, 0);
  OG_ASSERT_OK_AND_ASSIGN(result, collector.Collect(3, 3, put_us + kDayUs));
  EXPECT_EQ(result.deleted, 1);
}

TEST_F(ShardTest, Collect_OfAnUnreadableObject_IsCorruptionAndDeletesNothing) {
  const auto writer = MustClaim(location_);
  MustAppend(writer.get(), "a");
  MustAppend(writer.get(), "b");
  OG_ASSERT_OK(memory_->Put(location_.EntryPath(2), store::BytesOf("junk")));
  LogCollector collector(location_);
  OG_EXPECT_ERROR(collector.Collect(3, 3, 0), ErrorKind::kCorruption, "memwal.entry_torn");
  OG_EXPECT_OK(memory_->Head(location_.EntryPath(2)));
}

// J-33: junk beside entries and manifests is not seen.
TEST_F(ShardTest, StrayNames_AreIgnored) {
  OG_ASSERT_OK(memory_->Put(location_.EntryPath(4) + ".tmp.0123", store::BytesOf("x")));
  OG_ASSERT_OK(memory_->Put(location_.ManifestPath(9) + ".tmp.0123", store::BytesOf("x")));
  const auto writer = MustClaim(location_);
  EXPECT_EQ(writer->epoch(), 1);
  EXPECT_EQ(MustAppend(writer.get(), "a").position, 2);
}

TEST_F(ShardTest, Stop_SettlesWhatIsQueued) {
  const auto writer = MustClaim(location_);
  for (int i = 0; i < 50; ++i) {
    OG_ASSERT_OK(writer->Append(Request("k" + std::to_string(i))));
  }
  OG_ASSERT_OK(writer->Stop());
  EXPECT_EQ(IdsInLog(location_).size(), 50);
  OG_EXPECT_ERROR(writer->Append(Request("late")), ErrorKind::kCancelled, "memwal.stopped");
  OG_ASSERT_OK(writer->Stop());
}

TEST_F(ShardTest, OwnerInfo_IsReadByAnybody) {
  OG_ASSERT_OK_AND_ASSIGN(std::optional<ShardOwnerInfo> info, ReadOwnerInfo(location_));
  EXPECT_FALSE(info.has_value());
  const auto writer = MustClaim(location_);
  OG_ASSERT_OK_AND_ASSIGN(info, ReadOwnerInfo(location_));
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->epoch, 1);
  EXPECT_EQ(info->owner->process_id, runtime::CurrentProcess().id);
}

// J-86, C5: old manifests go, the hint is valid, readers with and without it find the newest.
TEST_F(ShardTest, OldManifests_ArePruned) {
  const auto writer = MustClaim(location_);
  uint64_t last = 0;
  for (int i = 0; i < 40; ++i) {
    last = MustAppend(writer.get(), "k").position;
    OG_ASSERT_OK(writer->AdvanceReplayAfter(last));
    OG_ASSERT_OK(writer->Collect(last));
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto objects,
                          store::ListAll(*memory_, location_.ManifestFolder() + "/"));
  EXPECT_LT(objects.size(), 20);
  const ShardManifestChain chain(location_);
  EXPECT_EQ((*chain.ReadNewest())->manifest.replay_after, last);
  for (const char* hint : {"garbage", R"({"version":1})", R"({"version":999})"}) {
    OG_ASSERT_OK(memory_->Put(location_.HintPath(), store::BytesOf(hint)));
    EXPECT_EQ((*chain.ReadNewest())->manifest.replay_after, last);
  }
}

}  // namespace
}  // namespace omnigraph::lance
