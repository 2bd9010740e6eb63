// Promotion of detached versions to the ordinary chain (C7).
#include <gtest/gtest.h>

#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/store/faulty_store.h"
#include "table_testing.h"

namespace omnigraph::lance {
namespace {

using namespace testing;

Transaction TransactionOfTable(const Table& table) {
  const auto transaction = ReadTransaction(table.location(), table.manifest());
  return transaction.ok() && *transaction ? **transaction : Transaction{};
}

/// A chain of three detached versions on an empty ordinary version 1.
class Promotion : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK_AND_ASSIGN(
        root_, CreateTable(location_, SmallSchema(), {.primary_key = {"id"}, .guarded = true}));
    OG_ASSERT_OK_AND_ASSIGN(const Change first, AppendChange(*root_, 0, 4));
    OG_ASSERT_OK_AND_ASSIGN(first_, CommitDetached(root_, first));
    OG_ASSERT_OK_AND_ASSIGN(second_, CommitDetached(first_, DeleteChange({1})));
    OG_ASSERT_OK_AND_ASSIGN(Change third, AppendChange(*second_, 10, 2));
    third.deleted_addresses = {0};
    OG_ASSERT_OK_AND_ASSIGN(third_, CommitDetached(second_, third));
  }

  Result<TablePtr> Latest() {
    return Table::Open(location_, {.look = Look::kWriter, .passes_guard = true});
  }

  TableLocation location_ = InMemory();
  TablePtr root_, first_, second_, third_;
};

TEST_F(Promotion, PutsTheHeadAtTheNextNumberWithOneTransactionForAllSince) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr promoted, Promote(root_, third_));
  EXPECT_EQ(promoted->version(), 2u);
  EXPECT_EQ(Numbers(*promoted), (std::vector<int64_t>{2, 3, 10, 11}));
  OG_ASSERT_OK_AND_ASSIGN(const auto shown, PromotedVersion(*promoted));
  EXPECT_EQ(shown, third_->version());
  OG_ASSERT_OK_AND_ASSIGN(const bool own, IsOwnVersion(*promoted));
  EXPECT_TRUE(own);
  EXPECT_GE(promoted->manifest().timestamp_us, third_->manifest().timestamp_us);
  const Transaction transaction = TransactionOfTable(*promoted);
  EXPECT_EQ(transaction.operation, Operation::kUpdate);
  EXPECT_EQ(transaction.read_version, 1u);
  EXPECT_EQ(transaction.new_fragments.size(), 2u);
  EXPECT_NE(promoted->manifest().transaction_file, "");
  OG_ASSERT_OK_AND_ASSIGN(const auto hint, ReadHint(location_));
  EXPECT_EQ(hint, 2u);
}

TEST_F(Promotion, InSteps_NamesOnlyWhatChangedBetween) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr two, Promote(root_, first_));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr three, Promote(two, third_));
  EXPECT_EQ(three->version(), 3u);
  const Transaction transaction = TransactionOfTable(*three);
  EXPECT_EQ(transaction.operation, Operation::kUpdate);
  EXPECT_EQ(transaction.new_fragments.size(), 1u);
  EXPECT_EQ(transaction.updated_fragments.size(), 1u);
}

TEST_F(Promotion, Again_DoesNothing) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr two, Promote(root_, third_));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Latest());
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr again, Promote(latest, third_));
  EXPECT_EQ(again->version(), 2u);
}

TEST_F(Promotion, Lost_AsksToStartOver) {
  OG_ASSERT_OK(Promote(root_, first_));
  OG_EXPECT_ERROR(Promote(root_, third_), ErrorKind::kConflict, "promote.lost");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Latest());
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr three, Promote(latest, third_));
  EXPECT_EQ(three->version(), 3u);
}

TEST_F(Promotion, OverAForeignVersion_IsARestoreAboveItsCounters) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr two, Promote(root_, first_));
  Manifest foreign = two->manifest();
  foreign.version = 3;
  foreign.max_fragment_id = 40;
  foreign.next_row_id = 400;
  Transaction transaction;
  transaction.operation = Operation::kDelete;
  transaction.uuid = "theirs";
  foreign.transaction = EncodeTransaction(transaction);
  OG_ASSERT_OK(location_.store->Put(location_.Child(ManifestPath(3)),
                                    store::BytesOf(EncodeManifest(foreign))));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Latest());
  OG_ASSERT_OK_AND_ASSIGN(const bool own, IsOwnVersion(*latest));
  EXPECT_FALSE(own);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr promoted, Promote(latest, third_));
  EXPECT_EQ(promoted->version(), 4u);
  EXPECT_EQ(promoted->manifest().max_fragment_id, 40u);
  EXPECT_EQ(promoted->manifest().next_row_id, 400u);
  EXPECT_EQ(TransactionOfTable(*promoted).operation, Operation::kRestore);
  EXPECT_EQ(TransactionOfTable(*promoted).restored_version, third_->version());
  EXPECT_EQ(Numbers(*promoted), (std::vector<int64_t>{2, 3, 10, 11}));
}

TEST_F(Promotion, OverAVersionWhoseTransactionCannotBeRead_Fails) {
  // Whether it is a stranger's decides about the transaction that promotion writes.
  Manifest silent = root_->manifest();
  silent.version = 2;
  silent.transaction.clear();
  silent.transaction_file = "1-theirs.txn";
  OG_ASSERT_OK(location_.store->Put(location_.Child(ManifestPath(2)),
                                    store::BytesOf(EncodeManifest(silent))));
  const auto file = location_.Child("_transactions/1-theirs.txn");
  OG_ASSERT_OK(location_.store->Put(file, store::BytesOf("no message")));
  OG_ASSERT_OK_AND_ASSIGN(TablePtr latest, Latest());
  EXPECT_TRUE(IsCorruption(IsOwnVersion(*latest).status()));
  EXPECT_TRUE(IsCorruption(PromotedVersion(*latest).status()));
  EXPECT_TRUE(IsCorruption(Promote(latest, third_).status()));

  const auto faulty = std::make_shared<store::FaultyStore>(location_.store, store::FaultPlan{});
  OG_ASSERT_OK_AND_ASSIGN(
      latest, Table::Open({faulty, location_.path}, {.look = Look::kWriter, .passes_guard = true}));
  faulty->Arm({.op = store::StoreOp::kGet,
               .fault = store::StoreFault::kFailBefore,
               .path_contains = "_transactions/"});
  EXPECT_TRUE(Is(Promote(latest, third_).status(), ErrorKind::kUnavailable));
}

TEST_F(Promotion, OfAnotherSchema_IsARestore) {
  auto wider = std::make_shared<Schema>(*third_->lance_schema());
  wider->mutable_fields().push_back(
      Field{.id = 2, .parent_id = -1, .name = "extra", .logical_type = "int32", .nullable = true});
  Change change;
  change.schema = wider;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr head, CommitDetached(third_, change));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr promoted, Promote(root_, head));
  EXPECT_EQ(TransactionOfTable(*promoted).operation, Operation::kRestore);
}

TEST_F(Promotion, LostAnswer_IsSettledByReading) {
  for (const auto fault : {store::StoreFault::kFailBefore, store::StoreFault::kFailAfter,
                           store::StoreFault::kLateEffect}) {
    const auto faulty = std::make_shared<store::FaultyStore>(location_.store, store::FaultPlan{});
    const TableLocation through{faulty, location_.path};
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest,
                            Table::Open(through, {.look = Look::kWriter, .passes_guard = true}));
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr head,
                            CommitDetached(latest, {.table_metadata = {{"f", "x"}}}));
    faulty->Arm(
        {.op = store::StoreOp::kPutIfAbsent, .fault = fault, .path_contains = "_versions/"});
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr promoted, Promote(latest, head));
    faulty->ReleaseLate();
    EXPECT_EQ(promoted->version(), latest->version() + 1);
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Latest());
    EXPECT_EQ(after->version(), promoted->version());
  }
}

}  // namespace
}  // namespace omnigraph::lance
