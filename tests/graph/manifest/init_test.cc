// Creation and opening of a graph (docs/format/manifest-table.md, Write rule; docs/errors.md).
#include <gtest/gtest.h>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/testing/status_matchers.h"
#include "test_graph.h"

namespace omnigraph::graph {
namespace {

using testing::kSchema;

TEST(Init, WhenFolderIsEmpty_CreatesGuardedTablesAndVersionTwo) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Init(store, kSchema, "tester"));
  const SnapshotRef snapshot = graph->snapshot();
  EXPECT_EQ(snapshot->sequence, 2u);
  EXPECT_EQ(snapshot->tables.size(), 4u);  // three types and the rejects
  for (const auto& [id, state] : snapshot->tables) {
    OG_ASSERT_OK_AND_ASSIGN(const auto table, graph->OpenTable(state));
    EXPECT_EQ(table->version(), 1u);
    EXPECT_EQ(table->CountRows(), 0u);
    EXPECT_TRUE(table->stable_row_ids());
    EXPECT_NE(table->manifest().writer_flags & lance::kFlagGraphGuard, 0u);
    EXPECT_EQ(table->manifest().timestamp_us, 1'000'000);
    OG_EXPECT_OK(store->Head(state.path() + "/_refs/tags/omnigraph-guard.json"));
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph->Commits(*snapshot, 10));
  ASSERT_EQ(commits.size(), 1u);
  EXPECT_EQ(commits[0].op, CommitOp::kInit);
  EXPECT_EQ(commits[0].actor, "tester");
}

TEST(Open, WhenGraphExists_SeesTheSameSnapshotAndSchema) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK_AND_ASSIGN(const auto made, Graph::Init(store, kSchema, "tester"));
  auto counting = std::make_shared<store::CountingStore>(store);
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(counting));
  // Cost: hint, newest, one miss; no list, no put.
  const store::StoreCounts counts = counting->counts();
  EXPECT_EQ(counts.calls(), 3u) << counts.ToString();
  EXPECT_EQ(counts.list.calls + counts.put_calls(), 0u);
  EXPECT_EQ(graph->snapshot()->ToMetadata(), made->snapshot()->ToMetadata());
  OG_ASSERT_OK_AND_ASSIGN(const auto catalog, graph->CatalogOf(*graph->snapshot()));
  EXPECT_EQ(catalog->text(), kSchema);
}

TEST(Init, WhenGraphExists_IsRefused) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK(Graph::Init(store, kSchema, "tester"));
  OG_EXPECT_ERROR(Graph::Init(store, kSchema, "tester"), ErrorKind::kAlreadyExists, "graph.exists");
}

TEST(Init, WhenFolderHoldsOtherThings_IsRefusedAndTouchesNothing) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK(store->Put("notes/a.txt", store::BytesOf("a")));
  OG_EXPECT_ERROR(Graph::Init(store, kSchema, "tester"), ErrorKind::kAlreadyExists,
                  "graph.not_empty");
  OG_ASSERT_OK_AND_ASSIGN(const auto left, store::ListAll(*store, ""));
  EXPECT_EQ(left.size(), 1u);
}

TEST(Init, WhenSchemaIsWrong_WritesNothing) {
  auto store = std::make_shared<store::MemoryStore>();
  EXPECT_TRUE(IsInvalid(Graph::Init(store, "node {", "tester").status()));
  OG_ASSERT_OK_AND_ASSIGN(const auto left, store::ListAll(*store, ""));
  EXPECT_TRUE(left.empty());
}

TEST(Open, WhenThereIsNoGraph_SaysSo) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_EXPECT_ERROR(Graph::Open(store), ErrorKind::kNotFound, "graph.not_found");
  // An init that did not come to its creation is no graph either.
  OG_ASSERT_OK(lance::CreateTable({store, std::string(kManifestPath)}, HistorySchema(),
                                  {.primary_key = {"id"}, .guarded = true}));
  OG_EXPECT_ERROR(Graph::Open(store), ErrorKind::kNotFound, "graph.not_found");
}

// Whatever put of an init fails, before or after its effect: no graph, and the next init makes one.
TEST(Init, WhenAnyPutFails_LeavesNoGraphAndCanBeRepeated) {
  for (const store::StoreFault fault :
       {store::StoreFault::kThrottled, store::StoreFault::kFailAfter}) {
    for (uint32_t skip = 0; skip < 60; ++skip) {
      auto memory = std::make_shared<store::MemoryStore>();
      auto store = std::make_shared<store::FaultyStore>(memory, store::FaultPlan{});
      store->Arm({.op = store::StoreOp::kPutIfAbsent, .fault = fault, .skip = skip});
      const Status made = Graph::Init(store, kSchema, "tester").status();
      if (store->records().empty()) {
        OG_ASSERT_OK(made);
        break;
      }
      if (!made.ok()) {
        OG_EXPECT_ERROR(Graph::Open(memory), ErrorKind::kNotFound, "graph.not_found");
        OG_ASSERT_OK(Graph::Init(memory, kSchema, "tester"));
      }
      OG_ASSERT_OK(Graph::Open(memory));
    }
  }
}

TEST(Open, WhenFormatIsNewer_IsRefused) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Init(store, kSchema, "tester"));
  OG_ASSERT_OK_AND_ASSIGN(const auto manifest, graph->OpenManifest(*graph->snapshot()));
  lance::Change change;
  change.table_metadata["omnigraph.format"] = "2";
  change.table_metadata["omnigraph.sequence"] = "3";
  OG_ASSERT_OK(lance::CommitExactly(manifest, change, 3));
  OG_EXPECT_ERROR(Graph::Open(store), ErrorKind::kUnsupported, "graph.newer_format");
}

}  // namespace
}  // namespace omnigraph::graph
