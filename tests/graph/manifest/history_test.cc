// The history rows, and how their fragments grow (docs/format/manifest-table.md).
#include "omnigraph/graph/manifest/history.h"

#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <numeric>

#include "omnigraph/graph/manifest/tiers.h"
#include "omnigraph/testing/status_matchers.h"
#include "test_graph.h"

namespace omnigraph::graph {
namespace {

TEST(History, WhenRowsAreReadBack_GiveTheCommit) {
  CommitRecord commit;
  commit.id = "01C";
  commit.parents = {"01A", "01B"};
  commit.actor = "ann";
  commit.time = std::chrono::microseconds(77);
  commit.op = CommitOp::kFold;
  commit.message = "m";
  commit.details = "{}";
  commit.tables.push_back({.table_id = 5,
                           .type = "Person",
                           .from_version = 1,
                           .to_version = uint64_t{1} << 63,
                           .inserted = 3,
                           .updated = 2,
                           .deleted = 1});
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, HistoryRows(commit));
  EXPECT_EQ(rows->num_rows(), 2);
  OG_ASSERT_OK_AND_ASSIGN(const std::vector<CommitRecord> read, CommitsOf({rows}, "m"));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].parents, commit.parents);
  EXPECT_EQ(read[0].time, commit.time);
  EXPECT_EQ(read[0].op, commit.op);
  EXPECT_EQ(read[0].details, "{}");
  ASSERT_EQ(read[0].tables.size(), 1u);
  EXPECT_EQ(read[0].tables[0].to_version, uint64_t{1} << 63);
  EXPECT_EQ(read[0].tables[0].updated, 2);
}

TEST(History, WhenATablesRowStandsAlone_IsCorruption) {
  CommitRecord commit;
  commit.id = "01C";
  commit.tables.push_back({});
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, HistoryRows(commit));
  OG_EXPECT_ERROR(CommitsOf({rows->Slice(1)}, "m"), ErrorKind::kCorruption, "manifest.history");
}

TEST(HistoryTiers, WhenSixteenOfATierStand_MergeThem) {
  EXPECT_EQ(TierMergeCount({}), 0u);
  EXPECT_EQ(TierMergeCount(std::vector<uint64_t>(15, 257)), 0u);
  EXPECT_EQ(TierMergeCount(std::vector<uint64_t>(16, 257)), 16u);
  std::vector<uint64_t> two(15, 5000);
  two.insert(two.end(), 16, 257);
  EXPECT_EQ(TierMergeCount(two), 31u);  // the merged one makes sixteen of the next tier
  two.erase(two.begin());
  EXPECT_EQ(TierMergeCount(two), 16u);
}

// Fragments grow with the logarithm of commits.
TEST(HistoryTiers, WhenManyFragmentsCome_StayFew) {
  std::vector<uint64_t> fragments;
  for (int i = 0; i < 10'000; ++i) {
    const size_t merged = TierMergeCount(fragments);
    const uint64_t rows =
        std::accumulate(fragments.end() - static_cast<long>(merged), fragments.end(), uint64_t{0});
    fragments.resize(fragments.size() - merged);
    if (merged > 0) {
      fragments.push_back(rows);
    }
    fragments.push_back(258);
    ASSERT_LE(fragments.size(), 15u * 4u + 2u);
  }
}

// A commit is found in the history whatever fragment it went into; nothing past the given commit is
// read (C2).
TEST(History, WhenManyCommitsStand_FindsEachAndListsNewestFirst) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Init(store, testing::kSchema, "tester"));
  std::vector<std::string> ids;
  const std::string first = graph->snapshot()->head;
  for (int i = 0; i < 300; ++i) {
    Proposal proposal;
    proposal.base = graph->snapshot();
    proposal.commit.op = CommitOp::kOptimize;
    proposal.commit.message = std::to_string(i);
    OG_ASSERT_OK_AND_ASSIGN(const Receipt receipt, graph->publisher().Publish(proposal));
    ids.push_back(receipt.commit_id);
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto manifest, graph->OpenManifest(*graph->snapshot()));
  for (const size_t at : {0u, 100u, 299u}) {
    OG_ASSERT_OK_AND_ASSIGN(const bool holds, HistoryHolds(*manifest, ids[at], first));
    EXPECT_TRUE(holds) << at;
  }
  OG_ASSERT_OK_AND_ASSIGN(const bool strange, HistoryHolds(*manifest, "no", first));
  EXPECT_FALSE(strange);
  OG_ASSERT_OK_AND_ASSIGN(const bool below, HistoryHolds(*manifest, first, ids[299]));
  EXPECT_FALSE(below);
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph->Commits(*graph->snapshot(), 1000));
  ASSERT_EQ(commits.size(), 301u);
  EXPECT_EQ(commits.front().message, "299");
  EXPECT_EQ(commits.front().parents, std::vector<std::string>{ids[298]});
  EXPECT_EQ(commits.back().op, CommitOp::kInit);
}

}  // namespace
}  // namespace omnigraph::graph
