// Commits: detached, exact, ordinary, races, lost answers, rebase.
#include "omnigraph/lance/table/commit.h"

#include <deque>
#include <functional>

#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/store/counting_store.h"
#include "omnigraph/store/faulty_store.h"
#include "table_testing.h"

namespace omnigraph::lance {
namespace {

using namespace testing;
using store::StoreFault;
using store::StoreOp;

Transaction TransactionOfTable(const Table& table) {
  const auto transaction = ReadTransaction(table.location(), table.manifest());
  EXPECT_TRUE(transaction.ok() && *transaction);
  return transaction.ok() && *transaction ? **transaction : Transaction{};
}

TEST(CommitDetached, IsNoPartOfTheHistory) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*base, 3, 2));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr detached, CommitDetached(base, change));
  EXPECT_TRUE(IsDetachedVersion(detached->version()));
  EXPECT_EQ(Numbers(*detached), Range(0, 5));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location));
  EXPECT_EQ(latest->version(), 2u);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr listed, Table::Open(location, {.look = Look::kWriter}));
  EXPECT_EQ(listed->version(), 2u);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr by_number,
                          Table::Open(location, {.version = detached->version()}));
  EXPECT_EQ(Numbers(*by_number), Range(0, 5));
  // No transaction file; the transaction names what it read.
  EXPECT_EQ(by_number->manifest().transaction_file, "");
  EXPECT_EQ(TransactionOfTable(*by_number).read_version, 2u);
  EXPECT_EQ(TransactionOfTable(*by_number).operation, Operation::kAppend);
}

TEST(CommitDetached, ChainsOfThem_DeleteAppendAndUpsert) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, CreateTable(location, SmallSchema()));
  OG_ASSERT_OK_AND_ASSIGN(Change first, AppendChange(*table, 0, 6));
  first.row_version = 41;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, first));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, DeleteChange({2, 4})));
  OG_ASSERT_OK_AND_ASSIGN(Change upsert, AppendChange(*table, 10, 1));
  upsert.deleted_addresses = {0};
  upsert.row_version = 43;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, upsert));
  EXPECT_EQ(Numbers(*table), (std::vector<int64_t>{1, 3, 5, 10}));
  OG_ASSERT_OK_AND_ASSIGN(
      const auto rows,
      Rows(*table, {.columns = {{"n"}}, .with_row_id = true, .with_updated_version = true}));
  EXPECT_EQ(rows.back(), "10 6 43");  // a fresh id, the publish counter as its version
  EXPECT_EQ(rows.front(), "1 1 41");
  EXPECT_EQ(TransactionOfTable(*table).operation, Operation::kUpdate);
  EXPECT_EQ(table->manifest().reader_flags, kFlagDeletionFiles | kFlagStableRowIds);
}

TEST(CommitDetached, EmptiedFragment_IsDropped) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 2));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CommitDetached(base, DeleteChange({0, 1})));
  EXPECT_TRUE(table->manifest().fragments.empty());
  EXPECT_EQ(TransactionOfTable(*table).removed_fragment_ids, (std::vector<uint64_t>{0}));
  EXPECT_EQ(table->manifest().max_fragment_id, 0u);  // ids do not come back
}

TEST(BuildVersion, MalformedChanges_AreRefused) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  Change unsorted;
  unsorted.deleted_addresses = {2, 1};
  OG_EXPECT_ERROR(CommitDetached(base, unsorted), ErrorKind::kInvalid, "change.order");
  OG_EXPECT_ERROR(CommitDetached(base, DeleteChange({3})), ErrorKind::kNotFound, "change.no_row");
  OG_EXPECT_ERROR(CommitDetached(base, DeleteChange({MakeRowAddress(8, 0)})), ErrorKind::kNotFound,
                  "change.no_row");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr once, CommitDetached(base, DeleteChange({1})));
  OG_EXPECT_ERROR(CommitDetached(once, DeleteChange({1})), ErrorKind::kNotFound, "change.no_row");
  Change absent;
  absent.removed_fragments = {7};
  OG_EXPECT_ERROR(CommitDetached(base, absent), ErrorKind::kNotFound, "change.no_fragment");
  Change hollow;
  hollow.added.emplace_back();
  OG_EXPECT_ERROR(CommitDetached(base, hollow), ErrorKind::kInvalid, "change.fragment");
  OG_ASSERT_OK_AND_ASSIGN(Change older, AppendChange(*base, 0, 1));
  older.added[0].files[0].minor_version = 1;
  OG_EXPECT_ERROR(CommitDetached(base, older), ErrorKind::kUnsupported, "change.file_version");
}

TEST(BuildVersion, TableMetadata_IsSetRemovedAndReplaced) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(
      TablePtr table,
      CreateTable(location, SmallSchema(), {.table_metadata = {{"a", "1"}, {"b", "2"}}}));
  Change change;
  change.table_metadata = {{"a", std::nullopt}, {"c", "3"}};
  OG_ASSERT_OK_AND_ASSIGN(table, CommitExactly(table, change, 2));
  EXPECT_EQ(table->manifest().table_metadata,
            (std::map<std::string, std::string>{{"b", "2"}, {"c", "3"}}));
  EXPECT_EQ(TransactionOfTable(*table).operation, Operation::kUpdateConfig);
  change.table_metadata = {{"d", "4"}};
  change.replace_table_metadata = true;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitExactly(table, change, 3));
  EXPECT_EQ(table->manifest().table_metadata, (std::map<std::string, std::string>{{"d", "4"}}));
}

TEST(BuildVersion, Floors_KeepCountersAboveAForeignVersion) {
  // C4: the next own version keeps its counters at least at the foreign one's.
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, TableWithRows(location, 2));
  OG_ASSERT_OK_AND_ASSIGN(Change change, AppendChange(*table, 2, 1));
  change.kind = ChangeKind::kRestore;
  change.restored_version = 2;
  change.max_fragment_id_floor = 8;
  change.next_row_id_floor = 100;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitExactly(table, change, 4));
  EXPECT_EQ(after->version(), 4u);
  EXPECT_GE(*after->manifest().max_fragment_id, 8u);
  EXPECT_EQ(after->manifest().next_row_id, 101u);
  EXPECT_EQ(TransactionOfTable(*after).operation, Operation::kRestore);
}

TEST(BuildVersion, RowIds_DoNotBeginAgainBehindTheLast) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, TableWithRows(location, 2));
  OG_ASSERT_OK_AND_ASSIGN(Change change, AppendChange(*table, 2, 2));
  change.next_row_id_floor = UINT64_MAX - 1;
  OG_EXPECT_ERROR(CommitDetached(table, change), ErrorKind::kExhausted, "table.row_ids");
}

TEST(BuildVersion, Indexes_FollowTheirFragments) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 4));
  OG_ASSERT_OK_AND_ASSIGN(const Change more, AppendChange(*table, 4, 4));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, more));
  Change index;
  for (const uint8_t i : {uint8_t{1}, uint8_t{2}}) {
    IndexMetadata segment;
    segment.uuid.bytes[0] = i;
    segment.field_ids = {0};
    segment.name = "id_idx";
    segment.fragment_ids = i == 1 ? std::vector<uint32_t>{0, 1} : std::vector<uint32_t>{1};
    index.new_indices.push_back(segment);
  }
  IndexMetadata log;
  log.uuid.bytes[0] = 3;
  log.name = "__lance_mem_wal";
  log.has_fragment_bitmap = false;
  log.details_value = "opaque";
  index.new_indices.push_back(log);
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, index));
  EXPECT_EQ(TransactionOfTable(*table).operation, Operation::kCreateIndex);
  EXPECT_EQ(table->IndexSegments("id_idx").size(), 2u);

  // Moved rows keep their ids: a segment over all of them covers the new fragment, one over a part
  // goes; the entry of the log stays.
  Change rewrite;
  rewrite.kind = ChangeKind::kRewrite;
  rewrite.removed_fragments = {0, 1};
  OG_ASSERT_OK_AND_ASSIGN(rewrite.added, RewriteFragments(*table, {0, 1}));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, rewrite));
  ASSERT_EQ(table->IndexSegments("id_idx").size(), 1u);
  EXPECT_EQ(table->IndexSegments("id_idx")[0]->fragment_ids, (std::vector<uint32_t>{2}));
  ASSERT_EQ(table->IndexSegments("__lance_mem_wal").size(), 1u);
  EXPECT_EQ(table->IndexSegments("__lance_mem_wal")[0]->details_value, "opaque");

  Change removal;
  removal.removed_indices = {table->IndexSegments("id_idx")[0]->uuid};
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, removal));
  EXPECT_TRUE(table->IndexSegments("id_idx").empty());
}

TEST(CommitExactly, TakenNumber_IsAConflict) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  OG_ASSERT_OK_AND_ASSIGN(const Change mine, AppendChange(*base, 3, 1));
  OG_ASSERT_OK_AND_ASSIGN(const Change theirs, AppendChange(*base, 4, 1));
  OG_ASSERT_OK(CommitExactly(base, theirs, 3));
  OG_EXPECT_ERROR(CommitExactly(base, mine, 3), ErrorKind::kConflict, "commit.lost");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location, {.look = Look::kWriter}));
  EXPECT_EQ(Numbers(*latest), (std::vector<int64_t>{0, 1, 2, 4}));
}

TEST(PutVersion, SameBytesAgain_AreOurs) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*base, 3, 1));
  OG_ASSERT_OK_AND_ASSIGN(const BuiltVersion built, BuildVersion(base, change, 3));
  OG_ASSERT_OK_AND_ASSIGN(Settled settled, SettleVersion(built));
  EXPECT_EQ(settled, Settled::kAbsent);
  OG_ASSERT_OK(PutVersion(built));
  OG_EXPECT_ERROR(PutVersion(built), ErrorKind::kAlreadyExists, "table.version_exists");
  OG_ASSERT_OK_AND_ASSIGN(settled, SettleVersion(built));
  EXPECT_EQ(settled, Settled::kOurs);
  OG_ASSERT_OK_AND_ASSIGN(const BuiltVersion other, BuildVersion(base, change, 3));
  OG_ASSERT_OK_AND_ASSIGN(settled, SettleVersion(other));
  EXPECT_EQ(settled, Settled::kOther);
}

// ---- lost answers (P4) -----------------------------------------------------------------------

class LostAnswers : public ::testing::TestWithParam<StoreFault> {};

TEST_P(LostAnswers, OfTheManifestPut_EndInExactlyOneVersion) {
  const auto memory = std::make_shared<store::MemoryStore>();
  const auto faulty = std::make_shared<store::FaultyStore>(memory, store::FaultPlan{});
  const TableLocation location{faulty, "t.lance"};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*base, 3, 2));
  faulty->Arm({.op = StoreOp::kPutIfAbsent, .fault = GetParam(), .path_contains = "_versions/"});
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitOrdinary(base, change));
  faulty->ReleaseLate();
  EXPECT_EQ(after->version(), 3u);
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location, {.look = Look::kWriter}));
  EXPECT_EQ(latest->version(), 3u);
  EXPECT_EQ(Numbers(*latest), Range(0, 5));
}

TEST_P(LostAnswers, OfAnotherPut_DoNotFailTheCommit) {
  for (const char* path : {"data/", "_deletions/", "_transactions/"}) {
    const auto memory = std::make_shared<store::MemoryStore>();
    const auto faulty = std::make_shared<store::FaultyStore>(memory, store::FaultPlan{});
    const TableLocation location{faulty, "t.lance"};
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
    faulty->Arm({.op = StoreOp::kPutIfAbsent, .fault = GetParam(), .path_contains = path});
    const auto upsert = [&]() -> Status {
      OG_ASSIGN_OR_RETURN(Change change, AppendChange(*base, 3, 2));
      change.deleted_addresses = {0};
      return CommitOrdinary(base, change).status();
    };
    OG_EXPECT_OK(upsert()) << path;
    faulty->ReleaseLate();
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location, {.look = Look::kWriter}));
    EXPECT_EQ(Numbers(*latest), Range(1, 5)) << path;
  }
}

TEST_P(LostAnswers, OfTheGuard_DoNotFailTheCreation) {
  const auto memory = std::make_shared<store::MemoryStore>();
  const auto faulty = std::make_shared<store::FaultyStore>(memory, store::FaultPlan{});
  faulty->Arm({.op = StoreOp::kPutIfAbsent, .fault = GetParam(), .path_contains = "_refs/tags/"});
  OG_EXPECT_OK(CreateTable({faulty, "t.lance"}, SmallSchema(), {.guarded = true}));
}

TEST_P(LostAnswers, OfTheHint_DoNotFailTheCommit) {
  const auto memory = std::make_shared<store::MemoryStore>();
  const auto faulty = std::make_shared<store::FaultyStore>(memory, store::FaultPlan{});
  const TableLocation location{faulty, "t.lance"};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 3));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*base, 3, 2));
  faulty->Arm({.op = StoreOp::kPut, .fault = GetParam(), .path_contains = "hint"});
  OG_ASSERT_OK(CommitOrdinary(base, change));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location));
  EXPECT_EQ(latest->version(), 3u);
}

/// Answers puts of data files as it was told, one answer after the other.
class AnsweringStore : public store::CountingStore {
 public:
  using CountingStore::CountingStore;
  struct Answer {
    Status status;
    bool lands = false;
  };
  std::deque<Answer> answers;
  Status PutIfAbsent(std::string_view path, const store::Bytes& bytes,
                     store::PutStrength strength) override {
    if (answers.empty() || path.find("/data/") == std::string_view::npos) {
      return CountingStore::PutIfAbsent(path, bytes, strength);
    }
    const Answer answer = answers.front();
    answers.pop_front();
    if (answer.lands) {
      OG_RETURN_NOT_OK(CountingStore::PutIfAbsent(path, bytes, strength));
    }
    return answer.status;
  }
};

/// Nothing names a data file before a version does: its put ends well, or surely without effect.
class DataFilePut : public ::testing::Test {
 protected:
  void SetUp() override { OG_ASSERT_OK_AND_ASSIGN(table_, CreateTable(location_, SmallSchema())); }

  const std::shared_ptr<AnsweringStore> store_ =
      std::make_shared<AnsweringStore>(std::make_shared<store::MemoryStore>());
  const TableLocation location_{store_, "t.lance"};
  TablePtr table_;
};

TEST_F(DataFilePut, AnsweredExistsThoughItIsItsOwn_Succeeds) {
  store_->answers = {{AlreadyExists("store.already_exists", "there"), /*lands=*/true}};
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*table_, 0, 3));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitOrdinary(table_, change));
  EXPECT_EQ(Numbers(*after), Range(0, 3));
}

TEST_F(DataFilePut, NeverAnswered_SurelyHasNoEffect) {
  const Status silence = WithUnknownEffect(Unavailable("store.unavailable", "no answer"));
  store_->answers.assign(20, {silence});
  const Status status = AppendChange(*table_, 0, 3).status();
  OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "store.unavailable");
  EXPECT_FALSE(GetErrorDetail(status)->effect_unknown());
}

TEST_F(DataFilePut, RefusedForGood_IsNotTriedAgain) {
  store_->answers.assign(2, {Exhausted("store.full", "no space left")});
  OG_EXPECT_ERROR(AppendChange(*table_, 0, 3), ErrorKind::kExhausted, "store.full");
  EXPECT_EQ(store_->answers.size(), 1u);
}

TEST_F(DataFilePut, AfterAFailedSync_IsNotSettledByReading) {
  store_->answers = {{WithUnknownEffect(Unavailable("store.sync_failed", "sync")), true}};
  store_->Reset();
  const Status status = AppendChange(*table_, 0, 3).status();
  OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "store.sync_failed");
  EXPECT_FALSE(GetErrorDetail(status)->effect_unknown());
  EXPECT_EQ(store_->Reset().get.calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(Faults, LostAnswers,
                         ::testing::Values(StoreFault::kFailBefore, StoreFault::kFailAfter,
                                           StoreFault::kLateEffect));

// ---- races on the ordinary chain -------------------------------------------------------------

/// Two handles on one table of four rows.
class Race : public ::testing::Test {
 protected:
  void SetUp() override { OG_ASSERT_OK_AND_ASSIGN(base_, TableWithRows(location_, 4, options_)); }

  /// `theirs` commits first, then `mine` from the same base.
  Result<TablePtr> Run(const Change& theirs, const Change& mine) {
    OG_RETURN_NOT_OK(CommitOrdinary(base_, theirs).status());
    return CommitOrdinary(base_, mine);
  }

  Change Append(int64_t first, int64_t count) { return *AppendChange(*base_, first, count); }

  CreateOptions options_;
  TableLocation location_ = InMemory();
  TablePtr base_;
};

TEST_F(Race, TwoAppends_BothStand) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Run(Append(10, 2), Append(20, 2)));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{0, 1, 2, 3, 10, 11, 20, 21}));
  EXPECT_EQ(after->version(), 4u);
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, Rows(*after, {.columns = {{"n"}}, .with_row_id = true}));
  EXPECT_EQ(rows.back(), "21 7");  // numbered on the newest version
}

TEST_F(Race, DeletesOfDifferentRows_AreUnited) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Run(DeleteChange({1}), DeleteChange({2})));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(after->manifest().fragments[0].deleted_rows(), 2u);
}

TEST_F(Race, DeletesOfOneRow_Conflict) {
  OG_EXPECT_ERROR(Run(DeleteChange({1}), DeleteChange({1, 2})), ErrorKind::kConflict,
                  "commit.conflict");
}

TEST_F(Race, DeleteOfAWholeFragment_ConflictsWithADeleteInIt) {
  OG_EXPECT_ERROR(Run(DeleteChange({0, 1, 2, 3}), DeleteChange({2})), ErrorKind::kConflict,
                  "commit.conflict");
}

TEST_F(Race, AppendAndDelete_BothStand) {
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Run(DeleteChange({1}), Append(10, 1)));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{0, 2, 3, 10}));
}

TEST_F(Race, DeleteAgainstARewriteOfItsFragment_Conflicts) {
  Change rewrite;
  rewrite.kind = ChangeKind::kRewrite;
  rewrite.removed_fragments = {0};
  OG_ASSERT_OK_AND_ASSIGN(rewrite.added, RewriteFragments(*base_, {0}));
  OG_EXPECT_ERROR(Run(rewrite, DeleteChange({1})), ErrorKind::kConflict, "commit.conflict");
}

TEST_F(Race, RewriteAgainstADeleteInItsFragment_Conflicts) {
  Change rewrite;
  rewrite.kind = ChangeKind::kRewrite;
  rewrite.removed_fragments = {0};
  OG_ASSERT_OK_AND_ASSIGN(rewrite.added, RewriteFragments(*base_, {0}));
  OG_EXPECT_ERROR(Run(DeleteChange({1}), rewrite), ErrorKind::kConflict, "commit.conflict");
}

TEST_F(Race, OverwriteOrRestoreOfOthers_Conflicts) {
  Change overwrite = Append(50, 1);
  overwrite.kind = ChangeKind::kOverwrite;
  OG_EXPECT_ERROR(Run(overwrite, Append(10, 1)), ErrorKind::kConflict, "commit.conflict");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location_));
  EXPECT_EQ(Numbers(*latest), (std::vector<int64_t>{50}));
}

TEST_F(Race, ConfigUpdates_ConflictOnlyOnACommonKey) {
  Change mine;
  mine.table_metadata = {{"a", "1"}};
  Change other;
  other.table_metadata = {{"b", "2"}};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Run(other, mine));
  EXPECT_EQ(after->manifest().table_metadata,
            (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
  Change same;
  same.table_metadata = {{"a", "9"}};
  OG_EXPECT_ERROR(CommitOrdinary(base_, same), ErrorKind::kConflict, "commit.conflict");
}

TEST_F(Race, IndexesOfOneName_Conflict) {
  Change mine;
  mine.new_indices.emplace_back();
  mine.new_indices[0].name = "id_idx";
  mine.new_indices[0].field_ids = {0};
  Change theirs = mine;
  theirs.new_indices[0].uuid.bytes[0] = 1;
  OG_EXPECT_ERROR(Run(theirs, mine), ErrorKind::kConflict, "commit.conflict");
}

TEST_F(Race, AVersionThatDoesNotSayWhatItDid_Conflicts) {
  Manifest silent = base_->manifest();
  silent.version = 3;
  silent.transaction.clear();
  silent.transaction_file.clear();
  OG_ASSERT_OK(location_.store->Put(location_.Child(ManifestPath(3)),
                                    store::BytesOf(EncodeManifest(silent))));
  OG_EXPECT_ERROR(CommitOrdinary(base_, Append(10, 1)), ErrorKind::kConflict, "commit.conflict");
}

class KeyedRace : public Race {
 protected:
  KeyedRace() { options_.primary_key = {"id"}; }
};

TEST_F(KeyedRace, UpsertAgainstNewRowsOfOthers_Conflicts) {
  Change upsert = Append(10, 1);
  upsert.deleted_addresses = {0};
  OG_EXPECT_ERROR(Run(Append(10, 1), upsert), ErrorKind::kConflict, "commit.conflict");
}

TEST_F(KeyedRace, UpsertAgainstADelete_IsRebased) {
  Change upsert = Append(10, 1);
  upsert.deleted_addresses = {0};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, Run(DeleteChange({3}), upsert));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{1, 2, 10}));
}

TEST(CommitOrdinary, DetachedBase_IsRefused) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 4));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr detached, CommitDetached(base, DeleteChange({1})));
  OG_EXPECT_ERROR(CommitOrdinary(detached, DeleteChange({2})), ErrorKind::kInvalid,
                  "commit.detached_base");
}

/// Prunes versions below a number right after the next manifest is put: what C5 guards against.
class PruningStore : public store::CountingStore {
 public:
  using CountingStore::CountingStore;
  std::function<void()> after_put;
  Status PutIfAbsent(std::string_view path, const store::Bytes& bytes,
                     store::PutStrength strength) override {
    const Status put = CountingStore::PutIfAbsent(path, bytes, strength);
    if (put.ok() && after_put && path.find("_versions/") != std::string_view::npos) {
      std::exchange(after_put, nullptr)();
    }
    return put;
  }
};

TEST(CommitOrdinary, PutAtAPrunedNumber_DoesNotCount) {
  // C5: a writer sleeps after its look; others go on and prune; its put at n + 1 succeeds.
  const auto pruning = std::make_shared<PruningStore>(std::make_shared<store::MemoryStore>());
  const TableLocation location{pruning, "t.lance"};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 4));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*base, 4, 1));
  Manifest later = base->manifest();
  later.version = 9;
  pruning->after_put = [&] {
    OG_CHECK_OK(location.store->Put(location.Child(ManifestPath(9)),
                                    store::BytesOf(EncodeManifest(later))));
    OG_CHECK_OK(location.store->Delete(base->stored().object));
  };
  OG_EXPECT_ERROR(CommitOrdinary(base, change), ErrorKind::kConflict, "commit.conflict");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location, {.look = Look::kWriter}));
  EXPECT_EQ(latest->version(), 9u);
  OG_EXPECT_ERROR(Table::Open(location, {.version = 3}), ErrorKind::kNotFound, "");
}

/// C5: others build upon our version and prune its base before our look at it.
class PrunedBase : public ::testing::Test {
 protected:
  void SetUp() override { OG_ASSERT_OK_AND_ASSIGN(base_, TableWithRows(location_, 4)); }

  /// Commit `ours`; once it stands, commit `next(ours)` upon it and prune the base.
  Result<TablePtr> Commit(const Change& ours,
                          const std::function<Result<Change>(const Table&)>& next) {
    store_->after_put = [&] {
      const auto mine = Table::Open(location_, {.look = Look::kWriter});
      OG_CHECK_OK(mine);
      const auto change = next(**mine);
      OG_CHECK_OK(change);
      OG_CHECK_OK(CommitOrdinary(*mine, *change));
      OG_CHECK_OK(store_->Delete(base_->stored().object));
    };
    return CommitOrdinary(base_, ours);
  }

  /// The answer leaves it open, and our version was left alone.
  void ExpectUnsettled(const Status& status) {
    OG_EXPECT_ERROR(status, ErrorKind::kUnavailable, "commit.unsettled");
    EXPECT_TRUE(GetErrorDetail(status)->effect_unknown());
    OG_EXPECT_OK(Table::Open(location_, {.version = 3}));
  }

  static Result<Change> SetMore(const Table&) { return Change{.table_metadata = {{"b", "2"}}}; }

  const std::shared_ptr<PruningStore> store_ =
      std::make_shared<PruningStore>(std::make_shared<store::MemoryStore>());
  const TableLocation location_{store_, "t.lance"};
  TablePtr base_;
};

TEST_F(PrunedBase, ANewFileThatTheNewestNames_Counts) {
  OG_ASSERT_OK_AND_ASSIGN(const Change append, AppendChange(*base_, 4, 1));
  OG_EXPECT_OK(Commit(append, SetMore));
}

TEST_F(PrunedBase, AnIndexThatTheNewestNames_Counts) {
  Change index;
  index.new_indices.emplace_back();
  index.new_indices[0].uuid.bytes[0] = 1;
  index.new_indices[0].name = "id_idx";
  index.new_indices[0].field_ids = {0};
  OG_EXPECT_OK(Commit(index, SetMore));
}

TEST_F(PrunedBase, MetadataAlone_IsLeftOpenAndStands) {
  ExpectUnsettled(Commit({.table_metadata = {{"a", "1"}}}, SetMore).status());
}

TEST_F(PrunedBase, ADroppedFragment_IsLeftOpenAndStands) {
  ExpectUnsettled(Commit(DeleteChange({0, 1, 2, 3}), SetMore).status());
}

TEST_F(PrunedBase, ANewFileThatWasCompactedMeanwhile_IsLeftOpenAndStands) {
  OG_ASSERT_OK_AND_ASSIGN(const Change append, AppendChange(*base_, 4, 1));
  const auto compact = [](const Table& table) -> Result<Change> {
    Change rewrite;
    rewrite.kind = ChangeKind::kRewrite;
    rewrite.removed_fragments = {0, 1};
    OG_ASSIGN_OR_RETURN(rewrite.added, RewriteFragments(table, {0, 1}));
    return rewrite;
  };
  ExpectUnsettled(Commit(append, compact).status());
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr latest, Table::Open(location_, {.look = Look::kWriter}));
  EXPECT_EQ(Numbers(*latest), Range(0, 5));
}

// ---- rebase of detached changes (C1) ---------------------------------------------------------

TEST(Rebase, ReportsWhatStandsInTheWay) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr base, TableWithRows(location, 4));
  OG_ASSERT_OK_AND_ASSIGN(const Change more, AppendChange(*base, 4, 4));
  OG_ASSERT_OK_AND_ASSIGN(base, CommitDetached(base, more));
  OG_ASSERT_OK_AND_ASSIGN(TablePtr newer, CommitDetached(base, DeleteChange({1})));
  Change compaction;
  compaction.kind = ChangeKind::kRewrite;
  compaction.removed_fragments = {1};
  OG_ASSERT_OK_AND_ASSIGN(compaction.added, RewriteFragments(*newer, {1}));
  OG_ASSERT_OK_AND_ASSIGN(newer, CommitDetached(newer, compaction));

  Change change = DeleteChange({0, 1, MakeRowAddress(1, 2)});
  OG_ASSERT_OK_AND_ASSIGN(const RebaseReport report, CheckRebase(*base, *newer, change));
  EXPECT_EQ(report.already_deleted, (std::vector<uint64_t>{1}));
  EXPECT_EQ(report.moved, (std::vector<uint64_t>{MakeRowAddress(1, 2)}));
  EXPECT_FALSE(report.clean());
  OG_EXPECT_ERROR(Rebase(*base, *newer, change), ErrorKind::kConflict, "commit.conflict");
  OG_ASSERT_OK_AND_ASSIGN(const Change rebased, Rebase(*base, *newer, DeleteChange({0})));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitDetached(newer, rebased));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{2, 3, 4, 5, 6, 7}));
}

TEST(Rebase, SiblingsOfOneBase_GetFreshNumbersAndLoseTheirIndexSegments) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr base, TableWithRows(location, 4));
  OG_ASSERT_OK_AND_ASSIGN(Change mine, AppendChange(*base, 10, 2));
  mine.deleted_addresses = {0};
  mine.new_indices.emplace_back();
  mine.new_indices[0].name = "id_idx";
  mine.new_indices[0].fragment_ids = {1};  // its own fragment, as numbered on the base
  OG_ASSERT_OK_AND_ASSIGN(Change theirs, AppendChange(*base, 20, 2));
  theirs.deleted_addresses = {1};
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr newer, CommitDetached(base, theirs));
  OG_ASSERT_OK_AND_ASSIGN(const Change rebased, Rebase(*base, *newer, mine));
  EXPECT_TRUE(rebased.new_indices.empty());
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitDetached(newer, rebased));
  EXPECT_EQ(Numbers(*after), (std::vector<int64_t>{2, 3, 20, 21, 10, 11}));
  EXPECT_EQ(after->manifest().fragments.back().id, 2u);
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, Rows(*after, {.columns = {{"n"}}, .with_row_id = true}));
  EXPECT_EQ(rows.back(), "11 7");
}

// ---- cost ------------------------------------------------------------------------------------

TEST(Cost, OpenAndDetachedCommit_DoNotGrowWithHistory) {
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  const TableLocation location{counting, "t.lance"};
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, CreateTable(location, SmallSchema()));
  for (int i = 0; i < 30; ++i) {
    Change change;
    change.table_metadata = {{"n", std::to_string(i)}};
    OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, change));
  }
  counting->Reset();
  OG_ASSERT_OK_AND_ASSIGN(table, Table::Open(location));
  store::StoreCounts counts = counting->Reset();
  EXPECT_EQ(counts.get.calls, 2u) << counts.ToString();   // hint and manifest
  EXPECT_EQ(counts.head.calls, 1u) << counts.ToString();  // one miss
  EXPECT_EQ(counts.calls(), 3u) << counts.ToString();

  OG_ASSERT_OK(Table::Open(location, {.version = table->version()}));
  EXPECT_EQ(counting->Reset().calls(), 1u);

  OG_ASSERT_OK_AND_ASSIGN(const Change append, AppendChange(*table, 0, 100));
  EXPECT_EQ(counting->Reset().calls(), 1u);  // the data file
  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, append));
  counts = counting->Reset();
  EXPECT_EQ(counts.put_if_absent.calls, 1u);
  EXPECT_EQ(counts.calls(), 1u) << counts.ToString();

  OG_ASSERT_OK_AND_ASSIGN(table, CommitDetached(table, DeleteChange({5})));
  counts = counting->Reset();
  EXPECT_EQ(counts.put_if_absent.calls, 2u);  // deletion file and manifest
  EXPECT_EQ(counts.calls(), 2u) << counts.ToString();
}

TEST(Cost, BytesOfADelete_FollowTheRowsTouched) {
  const auto counting =
      std::make_shared<store::CountingStore>(std::make_shared<store::MemoryStore>());
  std::vector<uint64_t> written;
  for (const int64_t rows : {1'000, 100'000}) {
    const TableLocation location{counting, "t" + std::to_string(rows)};
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, TableWithRows(location, rows));
    counting->Reset();
    OG_ASSERT_OK(CommitDetached(table, DeleteChange({1, 10, 100})));
    written.push_back(counting->Reset().put_bytes());
  }
  EXPECT_LT(written[1], written[0] + 64);
}

}  // namespace
}  // namespace omnigraph::lance
