// What an ack and a fold cost in store calls: the work, not the history
// (docs/format/manifest-table.md, Costs).
#include <arrow/builder.h>
#include <gtest/gtest.h>

#include "ingest_world.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using namespace testing;  // NOLINT: the builders of this folder

constexpr std::string_view kPlainSchema = "node City @stream { name: String @key }\n";

/// A stream whose calls are counted.
struct Counted {
  explicit Counted(std::string_view schema) {
    OG_CHECK_OK(Graph::Init(memory, schema, "tester"));
    process = StartOn(counting);
  }
  std::shared_ptr<store::MemoryStore> memory = std::make_shared<store::MemoryStore>();
  std::shared_ptr<store::CountingStore> counting = std::make_shared<store::CountingStore>(memory);
  Process process;
};

// After 10 and after 1,000 commits: one steady-state ack is one put, no list, no read; a fold with
// its follow-up does the same number of calls, and its bytes stay flat in the mean over 64.
TEST(StreamCost, AfterTenAndAThousandCommits_IsTheSame) {
  Counted world(kPlainSchema);
  std::vector<store::StoreCounts> folds;
  for (int commit = 0; commit < 1100; ++commit) {
    world.process.Send(City("c" + std::to_string(commit)));
    world.counting->Reset();
    world.process.Send(City("d" + std::to_string(commit % 5)));
    const store::StoreCounts ack = world.counting->Reset();
    ASSERT_EQ(ack.put_if_absent.calls, 1u) << commit << " " << ack.ToString();
    // A put in the place of an object is the process's heartbeat, which moves by itself.
    ASSERT_EQ(ack.calls() - ack.put.calls, 1u) << commit << " " << ack.ToString();
    world.process.Fold();
    folds.push_back(world.counting->Reset());
  }
  const auto sum = [&folds](size_t from, auto&& get) {
    uint64_t out = 0;
    for (size_t i = from; i < from + 64; ++i) {
      out += get(folds[i]);
    }
    return out;
  };
  const auto puts = [](const store::StoreCounts& c) { return c.put_calls(); };
  const auto lists = [](const store::StoreCounts& c) { return c.list.calls; };
  const auto calls = [](const store::StoreCounts& c) { return c.calls(); };
  const auto bytes = [](const store::StoreCounts& c) { return c.put_bytes() + c.read_bytes(); };
  EXPECT_LE(sum(1000, puts), sum(10, puts) * 5 / 4);
  EXPECT_LE(sum(1000, calls), sum(10, calls) * 5 / 4) << folds[10].ToString() << "\n"
                                                      << folds[1000].ToString();
  EXPECT_LE(sum(1000, lists), sum(10, lists));
  EXPECT_LE(sum(1000, bytes), sum(10, bytes) * 2) << folds[10].ToString() << "\n"
                                                  << folds[1000].ToString();
}

/// Give a node table `rows` rows in one commit.
void Fill(Graph& graph, int rows) {
  const SnapshotRef snapshot = graph.snapshot();
  const TableState* state = snapshot->FindTable(TableKind::kNode, "City");
  auto base = graph.OpenTable(*state);
  OG_CHECK_OK(base);
  arrow::StringBuilder names;
  for (int i = 0; i < rows; ++i) {
    OG_CHECK_OK(names.Append("city-" + std::to_string(i)));
  }
  const std::shared_ptr<arrow::Array> column = *names.Finish();
  auto writer = lance::DataWriter::Make((*base)->location(), (*base)->lance_schema());
  OG_CHECK_OK(writer);
  OG_CHECK_OK(
      (*writer)->Write(*arrow::RecordBatch::Make((*base)->schema(), rows, {column, column})));
  auto change = std::make_shared<lance::Change>();
  change->added = *(*writer)->Finish();
  Proposal proposal;
  proposal.base = snapshot;
  proposal.commit.op = CommitOp::kLoad;
  proposal.changes = {{.table_id = state->id, .base = *base, .change = change, .inserted = rows}};
  OG_CHECK_OK(graph.publisher().Publish(std::move(proposal)));
}

/// The calls of a fold of 1,000 rows, half of them existing keys, into a table of `rows` rows.
store::StoreCounts FoldInto(int rows) {
  Counted world(kPlainSchema);
  Fill(*world.process.graph, rows);
  world.process.Send(City("first"));
  world.process.Fold();
  std::string lines;
  for (int i = 0; i < 500; ++i) {
    lines += City("city-" + std::to_string(int64_t{i} * 7919 % rows));
    lines += City("new-" + std::to_string(i));
  }
  OG_CHECK(world.process.Send(lines).acked == 1000);
  world.counting->Reset();
  const FoldReport report = world.process.Fold();
  OG_CHECK(report.visible == 1000);
  OG_CHECK(world.process.graph->snapshot()->FindTable(TableKind::kNode, "City")->rows ==
           rows + 501);
  return world.counting->Reset();
}

// The same number of puts and lists; reads follow the rows folded, not the table.
TEST(FoldCost, IntoASmallAndALargeTable_IsTheSame) {
  const store::StoreCounts small = FoldInto(10'000);
  const store::StoreCounts large = FoldInto(300'000);
  EXPECT_EQ(small.put_if_absent.calls, large.put_if_absent.calls) << small.ToString() << "\n"
                                                                  << large.ToString();
  EXPECT_EQ(small.list.calls, large.list.calls);
  EXPECT_LE(large.read_calls(), small.read_calls() + 1000) << large.ToString();
  EXPECT_LE(large.read_bytes(), 1000 * 256 * 48u) << large.ToString();  // a page per key
}

// What the end of every request asks for costs nothing of the store, and the rejects are counted
// again only after they have changed.
TEST(StatusCost, WithManyRejects_CountsReadNothingAndAStatusReadsThemOnce) {
  Counted world(kSchema);
  std::string lines;
  for (int i = 0; i < 1000; ++i) {
    lines += Edge("Knows", "no", "body");
  }
  world.process.Send(Person("a") + lines);
  world.process.Fold();
  world.process.Send(Person("b"));

  world.counting->Reset();
  const IngestCounts counts = world.process.ingest->Counts();
  const store::StoreCounts of_counts = world.counting->Reset();
  EXPECT_EQ(of_counts.calls() - of_counts.put.calls, 0u) << of_counts.ToString();
  EXPECT_EQ(counts.acked, 1002u);
  EXPECT_EQ(counts.visible, 1u);
  EXPECT_EQ(counts.rejected, 1000u);
  EXPECT_EQ(counts.pending, 1u);

  OG_ASSERT_OK(world.process.ingest->Status());
  const store::StoreCounts first = world.counting->Reset();
  OG_ASSERT_OK_AND_ASSIGN(const IngestStatus again, world.process.ingest->Status());
  const store::StoreCounts second = world.counting->Reset();
  EXPECT_EQ(again.open_rejects_by_code.at("edge.endpoint_missing"), 1000);
  EXPECT_LT(second.read_calls(), first.read_calls()) << second.ToString();

  world.process.Send(Edge("Knows", "no", "body"));
  world.process.Fold();
  OG_ASSERT_OK_AND_ASSIGN(const IngestStatus after, world.process.ingest->Status());
  EXPECT_EQ(after.open_rejects_by_code.at("edge.endpoint_missing"), 1001);
}

}  // namespace
}  // namespace omnigraph::graph
