// What a fold makes of rows: F1, F4, F5, F6, W1 to W3, G2, G4, G5, G8.
#include "fold.h"

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cut_maker.h"
#include "ingest_world.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using namespace testing;  // NOLINT: the builders of this folder

using Ids = std::set<std::string>;
using Ends = std::multiset<std::string>;

class FoldTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK(Graph::Init(store_, kSchema, "tester"));
    process_ = StartOn(store_);
  }
  /// G2 of every type, from the snapshot and the log alone.
  void ExpectBooksBalance() {
    OG_ASSERT_OK_AND_ASSIGN(const IngestStatus status, process_.ingest->Status());
    for (const ShardStatus& shard : status.shards) {
      EXPECT_EQ(shard.acked, shard.visible + shard.superseded + shard.rejected + shard.pending)
          << shard.type;
    }
  }
  Graph& graph() { return *process_.graph; }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  Process process_;
};

TEST_F(FoldTest, WhenRowsWereAcked_TheyBecomeVisibleInOneCommit) {  // G5
  const SessionSummary sent =
      process_.Send(Person("ann", R"("age":3)") + Person("bob") + City("ulm") +
                    Edge("Knows", "ann", "bob") + Edge("LivesIn", "ann", "ulm"));
  EXPECT_EQ(sent.acked, 5);
  EXPECT_EQ(sent.refused, 0);
  EXPECT_EQ(IdsOf(graph(), "Person"), Ids{});
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.rows, 5);
  EXPECT_EQ(report.visible, 5);
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "bob"}));
  EXPECT_EQ(EndsOf(graph(), "Knows"), Ends{"ann>bob"});
  EXPECT_EQ(RowsOf(graph(), "Person")["ann"],
            R"({"type":"Person","id":"ann","data":{"name":"ann","age":3}})");
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph().Commits(*graph().snapshot(), 1));
  EXPECT_EQ(commits[0].op, CommitOp::kFold);
  EXPECT_EQ(commits[0].actor, "tester");
  EXPECT_EQ(commits[0].tables.size(), 4u);
  ExpectBooksBalance();
  EXPECT_EQ(process_.Fold().commit_id, "");  // nothing is left
}

TEST_F(FoldTest, WhenAKeyComesTwice_TheLastWins) {  // G4, F4
  process_.Send(Person("ann", R"("age":1)") + Person("ann", R"("age":2)"));
  EXPECT_EQ(process_.Fold().superseded, 1);
  process_.Send(Person("ann", R"("age":3)"));
  process_.Send(Person("ann", R"("age":4)") + Person("bob"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.superseded, 1);
  EXPECT_EQ(RowsOf(graph(), "Person")["ann"],
            R"({"type":"Person","id":"ann","data":{"name":"ann","age":4}})");
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "bob"}));
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph().Commits(*graph().snapshot(), 1));
  EXPECT_EQ(commits[0].tables[0].updated, 1);
  EXPECT_EQ(commits[0].tables[0].inserted, 1);
  ExpectBooksBalance();
}

TEST_F(FoldTest, WhenAnEndpointIsMissing_TheEdgeIsRejectedAndNothingElse) {  // G8, grace 0
  process_.Send(Person("ann") + Edge("Knows", "ann", "bob", "e1") +
                Edge("Knows", "zoe", "ann", "e2") + Edge("Knows", "ann", "ann", "e3"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.rejected, 2);
  EXPECT_EQ(report.rejected_by_code.at("edge.endpoint_missing"), 2);
  EXPECT_EQ(EndsOf(graph(), "Knows"), Ends{"ann>ann"});
  const std::vector<Reject> rejects = RejectsOf(graph());
  ASSERT_EQ(rejects.size(), 2u);
  EXPECT_EQ(rejects[0].entity_id, "e2");
  EXPECT_EQ(rejects[0].row, R"({"edge":"Knows","id":"e2","from":"zoe","to":"ann","data":{}})");
  EXPECT_EQ(rejects[0].commit_id, report.commit_id);
  EXPECT_EQ(rejects[0].actor, "tester");
  EXPECT_NE(rejects[0].message.find("zoe"), std::string::npos);
  ExpectBooksBalance();
}

// F4: a later row that is rejected does not take the valid earlier one of its key with it.
TEST_F(FoldTest, WhenALaterRowOfAKeyIsRejected_TheEarlierOneStands) {
  process_.Send(Person("ann") + Person("bob") + Edge("Knows", "ann", "bob", "e1") +
                Edge("Knows", "ann", "nobody", "e1"));
  process_.Fold();
  EXPECT_EQ(EndsOf(graph(), "Knows"), Ends{"ann>bob"});
  EXPECT_EQ(RejectsOf(graph()).size(), 1u);
  ExpectBooksBalance();
}

TEST_F(FoldTest, WhenANodeIsDeleted_ItsCommittedEdgesGo) {  // F4, cascade
  process_.Send(Person("ann") + Person("bob") + Person("cid") + Edge("Knows", "ann", "bob") +
                Edge("Knows", "bob", "cid") + Edge("Knows", "cid", "ann"));
  process_.Fold();
  process_.Send(Delete("type", "Person", "bob"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.cascaded_edges, 2);
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "cid"}));
  EXPECT_EQ(EndsOf(graph(), "Knows"), Ends{"cid>ann"});
  ExpectBooksBalance();
}

// F4: the cascade also comes where the cut restores the node; an edge of the cut to a restored node
// stands.
TEST_F(FoldTest, WhenANodeIsDeletedAndRestored_OldEdgesGoAndNewOnesStand) {
  process_.Send(Person("ann") + Person("bob") + Edge("Knows", "ann", "bob", "old"));
  process_.Fold();
  process_.Send(Delete("type", "Person", "bob") + Person("bob", R"("age":9)") +
                Edge("Knows", "bob", "ann", "new"));
  process_.Fold();
  EXPECT_EQ(IdsOf(graph(), "Knows"), Ids{"new"});
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "bob"}));
  ExpectBooksBalance();
}

// F4: an edge of the cut whose endpoint has a tombstone in the cut and is absent after it ends as
// superseded.
TEST_F(FoldTest, WhenAnEdgesEndpointIsDeletedInTheSameCut_TheEdgeIsSuperseded) {
  process_.Send(Person("ann") + Person("bob") + Edge("Knows", "ann", "bob") +
                Delete("type", "Person", "bob"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.rejected, 0);
  EXPECT_EQ(report.superseded, 2);
  EXPECT_EQ(EndsOf(graph(), "Knows"), Ends{});
  ExpectBooksBalance();
}

TEST_F(FoldTest, WhenSomethingAbsentIsDeleted_NothingHappens) {
  process_.Send(Person("ann"));
  process_.Fold();
  process_.Send(Delete("type", "Person", "nobody") + Delete("edge", "Knows", "none"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.visible, 2);
  EXPECT_EQ(IdsOf(graph(), "Person"), Ids{"ann"});
  ExpectBooksBalance();
}

TEST_F(FoldTest, WhenAnEdgeIsDeletedById_ItGoes) {
  process_.Send(Person("ann") + Edge("Knows", "ann", "ann", "e1") +
                Edge("Knows", "ann", "ann", "e2"));
  process_.Fold();
  process_.Send(Delete("edge", "Knows", "e1"));
  process_.Fold();
  EXPECT_EQ(IdsOf(graph(), "Knows"), Ids{"e2"});
}

TEST_F(FoldTest, WhenAUniqueValueIsHeld_TheRowIsRejected) {  // B113: it does not hold others back
  process_.Send(Person("ann", R"("email":"a@x")") + Person("bob", R"("email":"a@x")") +
                Person("cid", R"("email":"c@x")"));
  EXPECT_EQ(process_.Fold().rejected_by_code.at("constraint.unique"), 1);
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "cid"}));
  // Against committed rows; the row of the same id does not count; a released value is free again.
  process_.Send(Person("dan", R"("email":"c@x")") + Person("cid", R"("email":"c@x")") +
                Person("ann", R"("email":"b@x")") + Person("eva", R"("email":"a@x")"));
  EXPECT_EQ(process_.Fold().rejected, 1);
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "cid", "eva"}));
  // A delete releases too, and so a process that starts anew sees it.
  process_.Send(Delete("type", "Person", "eva") + Person("fay", R"("email":"a@x")"));
  EXPECT_EQ(process_.Fold().rejected, 0);
  ExpectBooksBalance();
}

TEST_F(FoldTest, WhenACardinalityIsFull_TheRowIsRejected) {
  process_.Send(Person("ann") + City("ulm") + City("bonn") + Edge("LivesIn", "ann", "ulm", "e1") +
                Edge("LivesIn", "ann", "bonn", "e2"));
  EXPECT_EQ(process_.Fold().rejected_by_code.at("constraint.card"), 1);
  EXPECT_EQ(EndsOf(graph(), "LivesIn"), Ends{"ann>ulm"});
  process_.Send(Edge("LivesIn", "ann", "bonn", "e1"));  // the same edge moves
  process_.Fold();
  EXPECT_EQ(EndsOf(graph(), "LivesIn"), Ends{"ann>bonn"});
  process_.Send(Delete("edge", "LivesIn", "e1") + Edge("LivesIn", "ann", "ulm", "e3"));
  EXPECT_EQ(process_.Fold().rejected, 0);
  // A cascade frees the place.
  process_.Send(Delete("type", "City", "ulm") + City("ulm") + Edge("LivesIn", "ann", "ulm", "e4"));
  EXPECT_EQ(process_.Fold().rejected, 0);
  EXPECT_EQ(IdsOf(graph(), "LivesIn"), Ids{"e4"});
  ExpectBooksBalance();
}

// A row that names the minted id of an earlier row of the same cut comes after it.
TEST_F(FoldTest, WhenAMintedIdIsNamedLater_TheLaterRowWins) {
  process_.Send(Person("ann") + Edge("Knows", "ann", "ann"));
  process_.Fold();
  const std::string id = *IdsOf(graph(), "Knows").begin();
  process_.Send(Edge("Knows", "ann", "ann", id, R"({"since":7})") + Edge("Knows", "ann", "ann"));
  process_.Fold();
  EXPECT_EQ(IdsOf(graph(), "Knows").size(), 2u);
  process_.Send(Delete("edge", "Knows", id));
  process_.Fold();
  EXPECT_EQ(IdsOf(graph(), "Knows").size(), 1u);
}

TEST_F(FoldTest, WhenATypeHasNoStream_ItsLinesAreRefusedWithTheRemedy) {
  std::vector<Refusal> refused;
  OG_ASSERT_OK_AND_ASSIGN(const auto session,
                          process_.ingest->OpenSession({.on_refused = [&](const Refusal& refusal) {
                            refused.push_back(refusal);
                          }}));
  OG_ASSERT_OK(session->Push(City("ulm") + "\n" + R"({"type":"Note","data":{"text":"x"}})" + "\n" +
                             "{not json\n" + City("bonn")));
  OG_ASSERT_OK(session->Finish());
  EXPECT_EQ(session->Summary().acked, 2);
  EXPECT_EQ(session->Summary().lines, 5);
  EXPECT_EQ(session->Summary().blank, 1);
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].code, "ingest.not_enrolled");
  EXPECT_EQ(refused[0].line, 3);
  EXPECT_NE(refused[0].message.find("@stream"), std::string::npos);
  EXPECT_EQ(refused[1].line, 4);
}

TEST_F(FoldTest, WhenAStreamStopsOnError_NothingAfterTheLineIsTaken) {
  OG_ASSERT_OK_AND_ASSIGN(const auto session,
                          process_.ingest->OpenSession({.stop_on_error = true}));
  OG_ASSERT_OK(session->Push(City("a") + "{\n" + City("b")));
  OG_EXPECT_ERROR(session->Push(City("c")), ErrorKind::kInvalid, "ingest.stopped");
  OG_ASSERT_OK(session->Finish());
  EXPECT_EQ(session->Summary().acked, 1);
  EXPECT_EQ(session->Summary().refused, 1);
}

// An end that fails is told once, and only after what was taken before it is settled.
TEST_F(FoldTest, WhenTheLastLineCannotBeTaken_TheEndIsToldOnce) {
  process_.Send(City("a"));
  StartOn(store_).Send(City("a"));  // takes the shard
  process_.Send(City("a"));         // and so deposes us
  OG_ASSERT_OK_AND_ASSIGN(const auto session, process_.ingest->OpenSession({}));
  std::string line = City("b");
  line.pop_back();  // a last line without its LF waits for the end
  OG_ASSERT_OK(session->Push(line));
  int told = 0;
  OG_EXPECT_ERROR(session->FinishAsync([&told] { ++told; }), ErrorKind::kFenced, "memwal.fenced");
  EXPECT_EQ(told, 1);
  EXPECT_EQ(session->Summary().failed, 1);
}

// F1: cuts that are shortened by the byte budget give the same state, nodes first.
TEST_F(FoldTest, WhenACutExceedsTheBudget_SeveralCommitsFoldIt) {
  IngestOptions options = ByHand();
  options.fold_cut_bytes_max = 4096;
  OG_ASSERT_OK(process_.ingest->Stop());
  process_ = StartOn(store_, options);
  for (int i = 0; i < 30; ++i) {
    const std::string n = std::to_string(i);
    process_.Send(City(n) + Person(n) + Edge("Knows", n, n) + Edge("LivesIn", n, n));
  }
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.rows, 120);
  EXPECT_EQ(report.rejected, 0);
  EXPECT_GT(graph().snapshot()->sequence, 2u + 4u + 3u);  // creation, enrolments, several folds
  EXPECT_EQ(EndsOf(graph(), "LivesIn").size(), 30u);
  ExpectBooksBalance();
}

// Ctrl-C while a program waits for its rows to be folded.
TEST_F(FoldTest, WhenAFoldIsInterrupted_ItEndsBetweenCommits) {
  IngestOptions options = ByHand();
  options.fold_cut_bytes_max = 1;
  options.stop_folding = [] { return true; };
  OG_ASSERT_OK(process_.ingest->Stop());
  process_ = StartOn(store_, options);
  for (int i = 0; i < 3; ++i) {
    process_.Send(City(std::to_string(i)));
  }
  OG_EXPECT_ERROR(process_.ingest->Fold(), ErrorKind::kCancelled, "ingest.interrupted");
  EXPECT_EQ(IdsOf(graph(), "City").size(), 1u);
  ExpectBooksBalance();
}

// W3: rows above the memory cap are dropped and read back from the log.
TEST_F(FoldTest, WhenMemoryIsShort_RowsAreReadBackFromTheLog) {
  IngestOptions options = ByHand();
  options.pending_bytes_max = 1;
  options.in_flight_bytes_max = 3000;
  OG_ASSERT_OK(process_.ingest->Stop());
  process_ = StartOn(store_, options);
  for (int i = 0; i < 20; ++i) {
    process_.Send(City(std::to_string(i)));
  }
  EXPECT_EQ(process_.Fold().rows, 20);
  EXPECT_EQ(IdsOf(graph(), "City").size(), 20u);
  ExpectBooksBalance();
}

// G1, W3: another process folds from the entries, without a claim; the owner goes on.
TEST_F(FoldTest, WhenAnotherProcessFolds_TheOwnerFollows) {
  process_.Send(Person("ann") + City("ulm") + Edge("LivesIn", "ann", "ulm"));
  OG_ASSERT_OK_AND_ASSIGN(const auto other, Graph::Open(store_));
  OG_ASSERT_OK_AND_ASSIGN(const FoldReport report, FoldFromLog(*other, ByHand()));
  EXPECT_EQ(report.rows, 3);
  EXPECT_EQ(process_.Fold().rows, 0);  // W2: nothing twice
  process_.Send(Person("bob"));
  EXPECT_EQ(process_.Fold().rows, 1);
  EXPECT_EQ(IdsOf(graph(), "Person"), (Ids{"ann", "bob"}));
  ExpectBooksBalance();
}

// F1: an owner that was deposed and does not know it folds the nodes that its successor acked.
TEST_F(FoldTest, WhenAnotherProcessTookANodeShard_EdgesToItsRowsStand) {
  process_.Send(Person("ann") + Edge("Knows", "ann", "ann"));
  Process successor = StartOn(store_);
  EXPECT_EQ(successor.Send(Person("bob")).acked, 1);
  EXPECT_EQ(process_.Send(Edge("Knows", "ann", "bob")).acked, 1);
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.rejected, 0);
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(EndsOf(graph(), "Knows"), (Ends{"ann>ann", "ann>bob"}));
  ExpectBooksBalance();
}

// A cut that the budget shortens keeps an entry with rows: a claim's sentinel alone would look like
// the end of the log (found by the soak, seed 281 without journal).
TEST_F(FoldTest, WhenTheBudgetIsSmallerThanTheFirstEntry_OthersStillFoldIt) {
  process_.Send(Person("ann") + City("ulm"));
  process_.Send(Person("bob") + Edge("LivesIn", "ann", "ulm"));
  OG_ASSERT_OK_AND_ASSIGN(const auto other, Graph::Open(store_));
  IngestOptions options = ByHand();
  options.fold_cut_bytes_max = 1;
  OG_ASSERT_OK_AND_ASSIGN(const FoldReport report, FoldFromLog(*other, options));
  EXPECT_EQ(report.rows, 4);
  EXPECT_EQ(IdsOf(*other, "Person"), (Ids{"ann", "bob"}));
}

// B4, G2: rows that were folded and collected since this process last looked are counted.
TEST_F(FoldTest, WhenOthersFoldedAndCollected_StatusKnowsTheirRows) {
  const Process reader = StartOn(store_);
  for (int i = 0; i < 3; ++i) {
    process_.Send(City(std::to_string(i)));
    process_.Fold();
  }
  process_.Send(City("3"));
  OG_ASSERT_OK_AND_ASSIGN(const IngestStatus status, reader.ingest->Status());
  uint64_t acked = 0;
  for (const ShardStatus& shard : status.shards) {
    acked += shard.acked;
  }
  EXPECT_EQ(acked, 4u);
}

// W2: the owner folds a cut that another process has folded meanwhile, and knows only at the
// publish.
TEST_F(FoldTest, WhenTwoFoldTheSameRows_OneWinsAndRejectsStandOnce) {
  process_.Send(Person("ann") + Edge("Knows", "ann", "nobody"));
  OG_ASSERT_OK_AND_ASSIGN(const auto other, Graph::Open(store_));
  OG_ASSERT_OK(FoldFromLog(*other, ByHand()));
  process_.Send(Edge("Knows", "ann", "nobody"));
  EXPECT_EQ(process_.Fold().rejected, 1);
  EXPECT_EQ(RejectsOf(graph()).size(), 2u);
  ExpectBooksBalance();
}

// G13: what is folded is collected; the log keeps the sentinel.
TEST_F(FoldTest, WhenFolded_TheLogIsCollected) {
  for (int i = 0; i < 10; ++i) {
    process_.Send(City(std::to_string(i)));
    process_.Fold();
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto objects, store::ListAll(*store_, "nodes/"));
  size_t entries = 0;
  for (const store::ObjectInfo& object : objects) {
    entries += object.path.find("/wal/") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(entries, 3u);  // the sentinel, and at most what the last fold covers
}

// After a kill a process that starts again folds what stands in the logs, without a row or a
// command.
TEST_F(FoldTest, WhenAProcessStartsAgain_ItFoldsWhatIsPending) {
  process_.Send(Person("ann") + City("ulm") + Edge("LivesIn", "ann", "ulm"));
  OG_ASSERT_OK(process_.ingest->Stop());
  IngestOptions options;
  options.fold_age = std::chrono::milliseconds(1);
  Process again = StartOn(store_, options);
  while (again.graph->snapshot()->FindTable(TableKind::kEdge, "LivesIn")->rows == 0) {
    runtime::SleepFor(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(IdsOf(*again.graph, "Person"), Ids{"ann"});
}

// C1, write skew: the endpoint's row goes between the fold's snapshot and its publish.
TEST_F(FoldTest, WhenATableMovesUnderAFold_ItChecksAgain) {
  process_.Send(Person("ann"));
  process_.Fold();
  process_.Send(Edge("Knows", "ann", "ann"));
  OG_ASSERT_OK_AND_ASSIGN(const auto slow, Graph::Open(store_));
  OG_ASSERT_OK_AND_ASSIGN(const Cut cut, MakeCut(*slow, *slow->snapshot(), {}, 1 << 20));
  ASSERT_EQ(cut.rows(), 1);

  OG_ASSERT_OK_AND_ASSIGN(const auto other, Graph::Open(store_));
  const TableState* person = other->snapshot()->FindTable(TableKind::kNode, "Person");
  OG_ASSERT_OK_AND_ASSIGN(const auto table, other->OpenTable(*person));
  auto change = std::make_shared<lance::Change>();
  change->deleted_addresses = {lance::MakeRowAddress(table->manifest().fragments.front().id, 0)};
  Proposal proposal;
  proposal.base = other->snapshot();
  proposal.commit.op = CommitOp::kMutate;
  proposal.changes = {{.table_id = person->id, .base = table, .change = change, .deleted = 1}};
  OG_ASSERT_OK(other->publisher().Publish(proposal));

  Folder folder(slow.get(), 1 << 20);
  OG_ASSERT_OK_AND_ASSIGN(const FoldOutcome outcome, folder.Fold(cut));
  EXPECT_EQ(outcome.report.rejected, 1);
  EXPECT_EQ(EndsOf(*slow, "Knows"), Ends{});
  // W2: the same cut once more, by somebody who does not know.
  OG_EXPECT_ERROR(folder.Fold(cut), ErrorKind::kConflict, "fold.superseded");
  OG_ASSERT_OK(process_.graph->Refresh());
  ExpectBooksBalance();
}

/// A batch of columns that no `City` has: `name` is a number.
std::shared_ptr<arrow::RecordBatch> StrangeRows() {
  const auto column = [](const std::shared_ptr<arrow::DataType>& type, std::string_view json) {
    const auto array = arrow::json::ArrayFromJSONString(type, json);
    OG_CHECK_OK(array);
    return *array;
  };
  const auto tags = arrow::list(arrow::utf8());
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::utf8()), arrow::field("name", arrow::int64()),
                     arrow::field("tags", tags), arrow::field("when", arrow::date32()),
                     arrow::field("_tombstone", arrow::boolean())}),
      2,
      {column(arrow::utf8(), R"(["ulm", null])"), column(arrow::int64(), "[7, null]"),
       column(tags, R"([["a\"b", null], []])"), column(arrow::date32(), "[0, null]"),
       column(arrow::boolean(), "[false, false]")});
}

// F6, G2: the reject is all that stays of a row, so it holds the whole of it.
TEST_F(FoldTest, WhenAnEntryCannotBeBroughtUnderTheType_TheRejectsHoldItsRows) {
  process_.Send(City("bonn"));
  process_.Fold();
  const SnapshotRef snapshot = graph().snapshot();
  lance::LogEntry entry{.position = 9, .epoch = 1, .batches = {StrangeRows()}};
  entry.ours = true;  // of an older program that did not name its schema
  entry.mark = lance::EntryMark{
      .at_ms = 77,
      .runs = {{.rows = 1, .actor = "ann"}, {.rows = 1, .actor = "bob", .producer = "p"}}};
  const TableState* city = snapshot->FindTable(TableKind::kNode, "City");
  const Cut cut{.shards = {{.table_id = city->id, .from = 8, .to = 9, .entries = {entry}}}};
  OG_ASSERT_OK_AND_ASSIGN(const std::vector<TypeCut> types, OpenCut(graph(), *snapshot, cut));
  const auto type = std::find_if(types.begin(), types.end(),
                                 [](const TypeCut& one) { return one.type->name == "City"; });
  ASSERT_EQ(type->early.size(), 2u);
  EXPECT_EQ(type->early[0].code, "memwal.column_type");
  EXPECT_EQ(type->early[0].entity_id, "ulm");
  EXPECT_EQ(type->early[0].row,
            R"({"id":"ulm","name":7,"tags":["a\"b",null],"when":"1970-01-01","_tombstone":false})");
  EXPECT_EQ(type->early[0].actor, "ann");
  EXPECT_EQ(type->early[0].acked_at, std::chrono::milliseconds(77));
  EXPECT_EQ(type->early[1].row,
            R"({"id":null,"name":null,"tags":[],"when":null,"_tombstone":false})");
  EXPECT_EQ(type->early[1].actor, "bob");
  EXPECT_EQ(type->early[1].producer, "p");
}

// F6: who sent a row stays known where it had to be validated again.
TEST_F(FoldTest, WhenRowsAreValidatedAgain_TheirActorsStay) {
  process_.Send(City("bonn"));
  OG_ASSERT_OK_AND_ASSIGN(Cut cut, MakeCut(graph(), *graph().snapshot(), {}, 1 << 20));
  lance::LogEntry& entry = cut.shards.front().entries.back();
  entry.mark->schema.clear();
  entry.mark->runs.front().actor = "ann";
  Folder folder(&graph(), 1 << 20);
  OG_ASSERT_OK(folder.Fold(cut));
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph().Commits(*graph().snapshot(), 1));
  EXPECT_EQ(commits[0].actor, "ann");
  EXPECT_EQ(IdsOf(graph(), "City"), Ids{"bonn"});
}

TEST(OnReject, WhenHalt_TheTypeIsPausedByTheFold) {  // F5
  auto store = std::make_shared<store::MemoryStore>();
  OG_ASSERT_OK(Graph::Init(store,
                           "node N @stream { k: String @key }\n"
                           "edge E: N -> N @stream(on_reject=\"halt\")\n",
                           "tester"));
  Process process = StartOn(store);
  process.Send(R"({"type":"N","data":{"k":"a"}})"
               "\n" +
               Edge("E", "a", "b"));
  EXPECT_EQ(process.Fold().rejected, 1);
  const SessionSummary sent = process.Send(Edge("E", "a", "a"));
  EXPECT_EQ(sent.refused_by_code.at("ingest.paused"), 1);
}

}  // namespace
}  // namespace omnigraph::graph
