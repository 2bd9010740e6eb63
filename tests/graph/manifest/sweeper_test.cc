// The sweeper (C6): orphans go by age, everything that a standing version names stays.
#include "omnigraph/graph/manifest/sweeper.h"

#include <arrow/table.h>
#include <gtest/gtest.h>

#include "omnigraph/graph/manifest/promoter.h"
#include "omnigraph/testing/status_matchers.h"
#include "test_graph.h"

namespace omnigraph::graph {
namespace {

using testing::ProposeNodes;

class SweeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK_AND_ASSIGN(graph_, Graph::Init(store_, testing::kSchema, "tester"));
    for (const char* name : {"ann", "bob"}) {
      OG_ASSERT_OK_AND_ASSIGN(Proposal proposal, ProposeNodes(*graph_, "Person", {name}));
      OG_ASSERT_OK(graph_->publisher().Publish(std::move(proposal)));
    }
  }
  size_t Objects() {
    const auto all = store::ListAll(*store_, "");
    OG_CHECK_OK(all);
    return all->size();
  }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::shared_ptr<Graph> graph_;
};

/// A grace that has passed for everything: what is put later than the pass's clock is out of the
/// test.
const SweepOptions kNoGrace{.grace = std::chrono::seconds(-3600)};

TEST_F(SweeperTest, WhenAProposalWasNotPublished_ItsFilesGo) {
  const size_t before = Objects();
  OG_ASSERT_OK(ProposeNodes(*graph_, "Person", {"cid"}));  // data files, never named
  OG_ASSERT_OK(store_->Put("nodes/00-00.lance/_versions/x", store::BytesOf("left by an init")));
  OG_ASSERT_OK(
      store_->Put("_spill/01ARZ3NDEKTSV4RRFFQ69G5FAV/0-0", store::BytesOf("a killed load's")));
  EXPECT_EQ(Objects(), before + 3);
  OG_ASSERT_OK_AND_ASSIGN(const SweepReport kept, Sweep(*graph_, {}));
  EXPECT_EQ(kept.deleted, 0);  // too young
  OG_ASSERT_OK_AND_ASSIGN(const SweepReport report, Sweep(*graph_, kNoGrace));
  EXPECT_TRUE(report.complete);
  // All orphans, and the history fragments that each publish rewrote are still named by their
  // versions.
  EXPECT_EQ(report.deleted, 3);
  EXPECT_EQ(Objects(), before);
}

TEST_F(SweeperTest, WhenSwept_EveryVersionStillReads) {
  OG_ASSERT_OK(PromoteAll(*graph_));
  OG_ASSERT_OK(Sweep(*graph_, kNoGrace));
  OG_ASSERT_OK_AND_ASSIGN(const auto fresh, Graph::Open(store_));
  for (uint64_t sequence = 2; sequence <= fresh->snapshot()->sequence; ++sequence) {
    OG_ASSERT_OK_AND_ASSIGN(const SnapshotRef snapshot, fresh->SnapshotAt(sequence));
    OG_ASSERT_OK(fresh->Commits(*snapshot, 10));
    for (const auto& [id, state] : snapshot->tables) {
      OG_ASSERT_OK_AND_ASSIGN(const auto table, fresh->OpenTable(state));
      OG_ASSERT_OK_AND_ASSIGN(const auto reader, table->Scan());
      OG_ASSERT_OK_AND_ASSIGN(const auto rows, reader->ToTable());
      EXPECT_EQ(rows->num_rows(), state.rows);
      OG_ASSERT_OK_AND_ASSIGN(const auto ordinary, lance::Table::Open(fresh->LocationOf(state)));
      OG_ASSERT_OK(ordinary->Scan());
    }
  }
}

TEST_F(SweeperTest, WhenStopped_NothingMoreGoes) {
  OG_ASSERT_OK(ProposeNodes(*graph_, "Person", {"cid"}));
  SweepOptions options = kNoGrace;
  options.stop = [] { return true; };
  OG_ASSERT_OK_AND_ASSIGN(const SweepReport report, Sweep(*graph_, options));
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.deleted, 0);
}

TEST_F(SweeperTest, WhenTheBudgetIsSpent_ThePassSaysSo) {
  OG_ASSERT_OK(ProposeNodes(*graph_, "Person", {"cid"}));
  OG_ASSERT_OK(ProposeNodes(*graph_, "Person", {"dan"}));
  SweepOptions options = kNoGrace;
  options.deletes_max = 1;
  OG_ASSERT_OK_AND_ASSIGN(const SweepReport report, Sweep(*graph_, options));
  EXPECT_FALSE(report.complete);
  EXPECT_EQ(report.deleted, 1);
}

}  // namespace
}  // namespace omnigraph::graph
