// The one Publisher: C1 to C5, W2, C7, and what a publish costs.
#include "omnigraph/graph/manifest/publisher.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/promoter.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/simulated_disk.h"
#include "omnigraph/testing/status_matchers.h"
#include "test_graph.h"

namespace omnigraph::graph {
namespace {

using testing::AddNodes;
using testing::kSchema;
using testing::ProposeNodes;

/// A store in memory with faults on top, and a graph in it.
class PublisherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK_AND_ASSIGN(graph_, Graph::Init(memory_, kSchema, "tester"));
  }
  std::shared_ptr<Graph> OpenOther(std::shared_ptr<store::ObjectStore> store = nullptr) {
    auto opened = Graph::Open(store == nullptr ? memory_ : store);
    OG_CHECK_OK(opened);
    return *opened;
  }
  static Result<Receipt> Add(Graph& graph, std::string_view type,
                             const std::vector<std::string>& ids) {
    OG_ASSIGN_OR_RETURN(Proposal proposal, ProposeNodes(graph, type, ids));
    return graph.publisher().Publish(std::move(proposal));
  }
  static int64_t Rows(Graph& graph, std::string_view type) {
    return graph.snapshot()->FindTable(TableKind::kNode, type)->rows;
  }

  std::shared_ptr<store::MemoryStore> memory_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<Graph> graph_;
};

TEST_F(PublisherTest, WhenPublished_IsVisibleToEveryProcess) {
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, Add(*graph_, "Person", {"ann", "bob"}));
  EXPECT_EQ(receipt.sequence, 3u);
  const auto other = OpenOther();
  EXPECT_EQ(other->snapshot()->head, receipt.commit_id);
  const TableState* state = other->snapshot()->FindTable(TableKind::kNode, "Person");
  EXPECT_EQ(state->rows, 2);
  EXPECT_EQ(state->publishes, 1u);
  OG_ASSERT_OK_AND_ASSIGN(const auto table, other->OpenTable(*state));
  EXPECT_EQ(table->CountRows(), 2u);
}

TEST_F(PublisherTest, WhenOneCommitIsPublished_OneVersionHoldsIt) {  // C3
  OG_ASSERT_OK(Add(*graph_, "Person", {"ann"}));
  OG_ASSERT_OK(Add(*graph_, "City", {"ulm"}));
  EXPECT_EQ(graph_->snapshot()->sequence, 4u);
  OG_ASSERT_OK_AND_ASSIGN(const SnapshotRef before, graph_->SnapshotAt(3));
  EXPECT_EQ(before->FindTable(TableKind::kNode, "City")->rows, 0);
  OG_EXPECT_ERROR(graph_->SnapshotAt(9), ErrorKind::kNotFound, "snapshot.not_found");
}

// C1: a table that the proposal writes moved, and nobody can check again.
TEST_F(PublisherTest, WhenAWrittenTableMoved_ConflictsWithoutRecheck) {
  OG_ASSERT_OK_AND_ASSIGN(Proposal stale, ProposeNodes(*graph_, "Person", {"ann"}));
  OG_ASSERT_OK(Add(*OpenOther(), "Person", {"ann"}));
  OG_EXPECT_ERROR(graph_->publisher().Publish(stale), ErrorKind::kConflict, "commit.conflict");
  EXPECT_EQ(graph_->snapshot()->sequence, 3u);
}

// C1, write skew: a table that its checks only read moved.
TEST_F(PublisherTest, WhenAReadTableMoved_ChecksRunAgainOnTheNewest) {
  OG_ASSERT_OK_AND_ASSIGN(Proposal proposal, ProposeNodes(*graph_, "City", {"ulm"}));
  const TableId person = graph_->snapshot()->FindTable(TableKind::kNode, "Person")->id;
  proposal.tables_read = {person};
  int checks = 0;
  proposal.recheck = [&](const SnapshotRef& newest, Proposal* mine) {
    ++checks;
    EXPECT_EQ(newest->FindTable(person)->rows, 1);
    mine->base = newest;
    return Status::OK();
  };
  OG_ASSERT_OK(Add(*OpenOther(), "Person", {"ann"}));
  OG_ASSERT_OK(graph_->publisher().Publish(proposal));
  EXPECT_EQ(checks, 1);
  EXPECT_EQ(Rows(*graph_, "City"), 1);
  EXPECT_EQ(Rows(*graph_, "Person"), 1);
}

TEST_F(PublisherTest, WhenAnUnrelatedTableMoved_IsKept) {
  OG_ASSERT_OK_AND_ASSIGN(Proposal proposal, ProposeNodes(*graph_, "City", {"ulm"}));
  OG_ASSERT_OK(Add(*OpenOther(), "Person", {"ann"}));
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, graph_->publisher().Publish(proposal));
  EXPECT_EQ(receipt.sequence, 4u);
  EXPECT_EQ(Rows(*graph_, "Person"), 1);
}

TEST_F(PublisherTest, WhenAWatermarkMoved_IsDropped) {  // W2
  const TableId person = graph_->snapshot()->FindTable(TableKind::kNode, "Person")->id;
  const Uuid shard = Uuid::FromName({}, "s");
  Proposal enrol;
  enrol.base = graph_->snapshot();
  enrol.commit.op = CommitOp::kEnrol;
  enrol.enrolments = {{person, shard}};
  OG_ASSERT_OK(graph_->publisher().Publish(enrol));
  Proposal fold;
  fold.base = graph_->snapshot();
  fold.commit.op = CommitOp::kFold;
  fold.watermarks = {{person, shard, 0, 7}};
  fold.counters = {{.table_id = person, .acked = 3, .visible = 1, .superseded = 1, .rejected = 1}};
  OG_ASSERT_OK(graph_->publisher().Publish(fold));
  EXPECT_EQ(graph_->snapshot()->FindTable(person)->shards.at(shard), 7u);
  // The same fold again: all its rows were rejected, so no table moved, yet it is dropped.
  OG_EXPECT_ERROR(graph_->publisher().Publish(fold), ErrorKind::kConflict, "fold.superseded");
  EXPECT_EQ(graph_->snapshot()->FindTable(person)->acked, 3u);  // G2
}

// P5: a version whose put failed in a sync reads back, but a power cut may take it. Who publishes
// on it makes it durable first; else the chain has a hole below what was acked, and a reader that
// comes by an old hint stops there.
TEST(PublisherPowerTest, WhenTheBaseWasNeverSynced_AckedCommitsSurvive) {
  using store::DiskModel;
  for (const DiskModel model : {DiskModel::kJournal, DiskModel::kNoJournal, DiskModel::kWeak}) {
    int built_on = 0;
    for (uint64_t nth = 1; nth <= 20; ++nth) {
      for (uint64_t cut = 0; cut < 4; ++cut) {
        auto disk =
            std::make_shared<store::SimulatedDisk>(store::SimulatedDiskOptions{.model = model});
        const auto process = [&] {
          store::LocalStoreOptions options;
          options.open_ahead = 0;
          return store::LocalStore::Make(disk, options);
        };
        const auto add = [](Graph& graph, const std::string& id) -> Result<Receipt> {
          OG_ASSIGN_OR_RETURN(Proposal proposal, ProposeNodes(graph, "Person", {id}));
          return graph.publisher().Publish(std::move(proposal));
        };
        OG_ASSERT_OK_AND_ASSIGN(const auto first, Graph::Init(process(), kSchema, "tester"));
        disk->FailSync(nth);
        const bool failed = !add(*first, "ann").ok();
        disk->FailSync(0);
        auto no_hint = std::make_shared<store::FaultyStore>(process(), store::FaultPlan{});
        no_hint->Arm({.op = store::StoreOp::kPut, .fault = store::StoreFault::kFailBefore});
        OG_ASSERT_OK_AND_ASSIGN(const auto second, Graph::Open(no_hint));
        built_on += failed && second->snapshot()->sequence == 3 ? 1 : 0;
        OG_ASSERT_OK_AND_ASSIGN(const Receipt acked, add(*second, "bob"));
        EXPECT_EQ(no_hint->records().size(), 1u);
        disk->PowerCut(cut);
        OG_ASSERT_OK_AND_ASSIGN(const auto third, Graph::Open(process()));
        EXPECT_GE(third->snapshot()->sequence, acked.sequence) << "sync " << nth << " cut " << cut;
        OG_ASSERT_OK_AND_ASSIGN(const auto commits, third->Commits(*third->snapshot(), 10));
        EXPECT_TRUE(std::any_of(commits.begin(), commits.end(), [&](const CommitRecord& one) {
          return one.id == acked.commit_id;
        }));
      }
    }
    EXPECT_GT(built_on, 0);
  }
}

// C2: the put took effect, its answer was lost; another process went on from it.
TEST_F(PublisherTest, WhenAnAnswerIsLost_FindsItsOwnCommit) {
  auto faulty = std::make_shared<store::FaultyStore>(memory_, store::FaultPlan{});
  const auto graph = OpenOther(faulty);
  faulty->Arm({.op = store::StoreOp::kPutIfAbsent,
               .fault = store::StoreFault::kFailAfter,
               .path_contains = "__manifest.lance/_versions"});
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, Add(*graph, "Person", {"ann"}));
  EXPECT_EQ(receipt.sequence, 3u);
  EXPECT_EQ(Rows(*OpenOther(), "Person"), 1);
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph->Commits(*graph->snapshot(), 10));
  EXPECT_EQ(commits.size(), 2u);
}

TEST_F(PublisherTest, WhenAPutHadNoEffect_PutsTheSameAgain) {  // C2
  auto faulty = std::make_shared<store::FaultyStore>(memory_, store::FaultPlan{});
  const auto graph = OpenOther(faulty);
  faulty->Arm({.op = store::StoreOp::kPutIfAbsent,
               .fault = store::StoreFault::kFailBefore,
               .path_contains = "__manifest.lance/_versions"});
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, Add(*graph, "Person", {"ann"}));
  EXPECT_EQ(receipt.sequence, 3u);
  EXPECT_EQ(Rows(*OpenOther(), "Person"), 1);
}

TEST_F(PublisherTest, WhenAPutTakesEffectLate_IsCountedOnce) {  // C2
  auto faulty = std::make_shared<store::FaultyStore>(memory_, store::FaultPlan{});
  const auto graph = OpenOther(faulty);
  faulty->Arm({.op = store::StoreOp::kPutIfAbsent,
               .fault = store::StoreFault::kLateEffect,
               .path_contains = "__manifest.lance/_versions"});
  OG_ASSERT_OK(Add(*graph, "Person", {"ann"}));
  faulty->ReleaseLate();
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, OpenOther()->Commits(*graph->snapshot(), 10));
  EXPECT_EQ(commits.size(), 2u);
  EXPECT_EQ(Rows(*OpenOther(), "Person"), 1);
}

// C4: a version of an outside writer is stepped over, and its ids are not used again.
TEST_F(PublisherTest, WhenAForeignVersionStands_GoesOverIt) {
  OG_ASSERT_OK(Add(*graph_, "Person", {"ann"}));
  OG_ASSERT_OK_AND_ASSIGN(const auto manifest, graph_->OpenManifest(*graph_->snapshot()));
  lance::Change foreign;
  foreign.removed_fragments = {manifest->manifest().fragments.back().id};
  OG_ASSERT_OK(lance::CommitExactly(manifest, foreign, 4));

  const auto other = OpenOther();
  EXPECT_EQ(other->snapshot()->sequence, 3u);
  EXPECT_EQ(other->snapshot()->foreign_version, 4u);
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, Add(*other, "City", {"ulm"}));
  EXPECT_EQ(receipt.sequence, 5u);
  EXPECT_EQ(Rows(*other, "Person"), 1);
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, other->Commits(*other->snapshot(), 10));
  EXPECT_EQ(commits.size(), 3u);
  // The one who does not know yet loses at 4, and goes on from 5.
  OG_ASSERT_OK_AND_ASSIGN(const Receipt late, Add(*graph_, "City", {"bonn"}).ok()
                                                  ? Result<Receipt>(Receipt{})
                                                  : Result<Receipt>(Receipt{.sequence = 1}));
  EXPECT_EQ(late.sequence, 1u);  // City moved meanwhile: a conflict, not a lost row
  OG_ASSERT_OK_AND_ASSIGN(const Receipt after, Add(*graph_, "City", {"bonn"}));
  EXPECT_EQ(after.sequence, 6u);
  EXPECT_EQ(Rows(*graph_, "City"), 2);
}

// C5: a publisher that slept while its base was pruned does not publish under a pruned number.
TEST_F(PublisherTest, WhenTheBaseWasPruned_DoesNotCountAndStartsOver) {
  const auto sleeper = OpenOther();
  OG_ASSERT_OK(Add(*graph_, "Person", {"a"}));
  OG_ASSERT_OK(Add(*graph_, "Person", {"b"}));
  OG_ASSERT_OK(lance::WriteHint({memory_, std::string(kManifestPath)}, 4));
  for (const uint64_t version : {1, 2, 3}) {
    OG_ASSERT_OK(memory_->Delete(std::string(kManifestPath) + "/" + lance::ManifestPath(version)));
  }
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, Add(*sleeper, "City", {"ulm"}));
  EXPECT_EQ(receipt.sequence, 5u);
  const auto reader = OpenOther();
  EXPECT_EQ(reader->snapshot()->sequence, 5u);
  EXPECT_EQ(Rows(*reader, "Person"), 2);
  EXPECT_EQ(Rows(*reader, "City"), 1);
}

TEST_F(PublisherTest, WhenABranchEnded_Refuses) {  // B1
  OG_ASSERT_OK_AND_ASSIGN(const auto manifest, graph_->OpenManifest(*graph_->snapshot()));
  lance::Change change;
  change.table_metadata["omnigraph.sequence"] = "3";
  change.table_metadata["omnigraph.ended"] = "deleted";
  OG_ASSERT_OK(lance::CommitExactly(manifest, change, 3));
  OG_EXPECT_ERROR(Add(*OpenOther(), "City", {"ulm"}), ErrorKind::kNotFound, "branch.deleted");
}

// C7: promotion puts the head, and does nothing when that stands already.
TEST_F(PublisherTest, WhenPromoted_TheOrdinaryChainShowsTheHead) {
  OG_ASSERT_OK_AND_ASSIGN(Proposal proposal, ProposeNodes(*graph_, "Person", {"ann"}));
  proposal.promote = true;
  OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, graph_->publisher().Publish(proposal));
  OG_ASSERT_OK(receipt.promoted);
  const TableState* state = graph_->snapshot()->FindTable(TableKind::kNode, "Person");
  OG_ASSERT_OK_AND_ASSIGN(const auto ordinary, lance::Table::Open(graph_->LocationOf(*state)));
  EXPECT_EQ(ordinary->version(), 2u);
  EXPECT_EQ(ordinary->CountRows(), 1u);
  OG_ASSERT_OK_AND_ASSIGN(const auto again, PromoteAll(*graph_));
  EXPECT_EQ(again.size(), 4u);
  EXPECT_TRUE(std::none_of(again.begin(), again.end(), [](const auto& p) { return p.moved; }));
}

TEST_F(PublisherTest, WhenAnOutsiderMovedATable_PromotionGoesOverIt) {  // C7
  OG_ASSERT_OK_AND_ASSIGN(Proposal proposal, ProposeNodes(*graph_, "Person", {"ann"}));
  proposal.promote = true;
  OG_ASSERT_OK(graph_->publisher().Publish(proposal));
  const TableState* state = graph_->snapshot()->FindTable(TableKind::kNode, "Person");
  OG_ASSERT_OK_AND_ASSIGN(const auto ordinary,
                          lance::Table::Open(graph_->LocationOf(*state), {.passes_guard = true}));
  lance::Change outside;
  outside.deleted_addresses = {lance::MakeRowAddress(ordinary->manifest().fragments[0].id, 0)};
  OG_ASSERT_OK(lance::CommitOrdinary(ordinary, outside));
  OG_ASSERT_OK_AND_ASSIGN(const auto promotions, PromoteTables(*graph_, {state->id}));
  ASSERT_EQ(promotions.size(), 1u);
  EXPECT_TRUE(promotions[0].moved);
  EXPECT_TRUE(promotions[0].foreign);
  OG_ASSERT_OK_AND_ASSIGN(const auto now, lance::Table::Open(graph_->LocationOf(*state)));
  EXPECT_EQ(now->CountRows(), 1u);
}

// Threads of one process queue and all land; so do several processes that check again.
TEST_F(PublisherTest, WhenManyPublishAtOnce_EachLandsOnce) {
  constexpr int kThreads = 4;
  constexpr int kCommits = 8;
  const auto other = OpenOther();
  std::vector<runtime::Thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    Graph* graph = t % 2 == 0 ? graph_.get() : other.get();
    threads.push_back(runtime::Thread::Start("writer", [graph, t] {
      for (int i = 0; i < kCommits; ++i) {
        const std::vector<std::string> ids = {std::to_string(t) + "-" + std::to_string(i)};
        auto proposal = ProposeNodes(*graph, "Person", ids);
        OG_CHECK_OK(proposal);
        proposal->recheck = [graph, ids](const SnapshotRef& newest, Proposal* mine) {
          mine->base = newest;
          OG_ASSIGN_OR_RETURN(mine->changes[0], AddNodes(*graph, *newest, "Person", ids));
          return Status::OK();
        };
        OG_CHECK_OK(graph->publisher().Publish(*proposal));
      }
    }));
  }
  threads.clear();
  const auto reader = OpenOther();
  EXPECT_EQ(Rows(*reader, "Person"), kThreads * kCommits);
  EXPECT_EQ(reader->snapshot()->sequence, 2u + kThreads * kCommits);
}

// Cost of a warm publish that touches one table: the detached manifest, the history file, the
// manifest; one read (its base); no list. The hint is kept beside it, best effort.
TEST_F(PublisherTest, WhenWarm_CostsAFixedNumberOfCalls) {
  auto counting = std::make_shared<store::CountingStore>(memory_);
  const auto graph = OpenOther(counting);
  std::vector<store::StoreCounts> each;
  std::vector<store::StoreCounts> opens;
  for (int i = 0; i < 1100; ++i) {
    // The table itself stays as small as it was: its growth is not what is measured.
    Proposal proposal;
    proposal.base = graph->snapshot();
    proposal.promote = false;
    OG_ASSERT_OK_AND_ASSIGN(const auto table,
                            graph->OpenTable(*proposal.base->FindTable(TableKind::kNode, "City")));
    auto change = std::make_shared<lance::Change>();
    change->config["a"] = std::to_string(i);
    proposal.changes = {{.table_id = proposal.base->FindTable(TableKind::kNode, "City")->id,
                         .base = table,
                         .change = change}};
    counting->Reset();
    OG_ASSERT_OK(graph->publisher().Publish(proposal));
    each.push_back(counting->Reset());
    OG_ASSERT_OK(Graph::Open(counting));
    opens.push_back(counting->Reset());
  }
  const auto sum_of = [](const auto& counts, size_t from, auto&& get) {
    uint64_t out = 0;
    for (size_t i = from; i < from + 64; ++i) {
      out += get(counts[i]);
    }
    return out;
  };
  const auto sum = [&](size_t from, auto&& get) { return sum_of(each, from, get); };
  const store::StoreCounts& early = each[10];
  EXPECT_EQ(early.put_if_absent.calls, 3u) << early.ToString();
  EXPECT_EQ(early.put.calls, 1u) << early.ToString();  // the hint
  EXPECT_EQ(early.read_calls() + early.head.calls, 1u) << early.ToString();
  EXPECT_EQ(early.list.calls, 0u);
  const auto calls = [](const store::StoreCounts& c) { return c.calls(); };
  const auto bytes = [](const store::StoreCounts& c) { return c.put_bytes() + c.read_bytes(); };
  EXPECT_EQ(sum(1000, calls), sum(10, calls));
  EXPECT_LE(sum(1000, bytes), sum(10, bytes) * 11 / 10)
      << each[1000].ToString() << each[10].ToString();
  EXPECT_EQ(opens[1000].calls(), opens[10].calls());
  EXPECT_EQ(opens[1000].calls(), 3u);
  EXPECT_LE(sum_of(opens, 1000, bytes), sum_of(opens, 10, bytes) * 11 / 10);
}

}  // namespace
}  // namespace omnigraph::graph
