// Creating, opening, scanning and taking.
#include "omnigraph/lance/table/table.h"

#include <arrow/util/key_value_metadata.h>

#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/transaction.h"
#include "table_testing.h"

namespace omnigraph::lance {
namespace {

using namespace testing;

TEST(CreateTable, MakesAnEmptyVersionOneWithKeyAndHint) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK(CreateTable(location, SmallSchema(), {.primary_key = {"id"}}));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(location));
  EXPECT_EQ(table->version(), 1u);
  EXPECT_EQ(table->CountRows(), 0u);
  EXPECT_TRUE(table->stable_row_ids());
  EXPECT_EQ(table->lance_schema()->FindField("id")->primary_key_position, 1u);
  EXPECT_FALSE(table->manifest().max_fragment_id);
  OG_ASSERT_OK_AND_ASSIGN(const auto hint, location.store->Get(location.Child(kHintPath)));
  EXPECT_EQ(std::string_view(*hint), "{\"version\":1}");
  OG_ASSERT_OK_AND_ASSIGN(const auto transaction, ReadTransaction(location, table->manifest()));
  ASSERT_TRUE(transaction);
  EXPECT_EQ(transaction->operation, Operation::kOverwrite);
  // The transaction stands in its file as well, byte for byte.
  OG_ASSERT_OK_AND_ASSIGN(
      const auto file,
      location.store->Get(location.Child("_transactions/" + table->manifest().transaction_file)));
  EXPECT_EQ(std::string_view(*file), table->manifest().transaction);
}

TEST(CreateTable, WhereOneIs_Refuses) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK(CreateTable(location, SmallSchema()));
  OG_EXPECT_ERROR(CreateTable(location, SmallSchema()), ErrorKind::kAlreadyExists, "table.exists");
  const TableLocation other{location.store, "u.lance"};
  OG_EXPECT_ERROR(CreateTable(other, SmallSchema(), {.primary_key = {"n"}}), ErrorKind::kInvalid,
                  "table.primary_key");
  OG_EXPECT_ERROR(CreateTable(other, SmallSchema(), {.primary_key = {"x"}}), ErrorKind::kInvalid,
                  "table.primary_key");
}

TEST(CreateTable, Guarded_IsAncientTaggedAndFlagged) {
  // Decision: two guards against outsiders (docs/format/lance-table.md, Versioning).
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table,
                          CreateTable(location, SmallSchema(), {.guarded = true}));
  EXPECT_EQ(table->manifest().timestamp_us, 1'000'000);
  EXPECT_NE(table->manifest().writer_flags & kFlagGraphGuard, 0u);
  EXPECT_EQ(table->manifest().reader_flags & kFlagGraphGuard, 0u);
  OG_ASSERT_OK_AND_ASSIGN(const auto tag,
                          location.store->Get("t.lance/_refs/tags/omnigraph-guard.json"));
  EXPECT_NE(std::string_view(*tag).find("\"branch\":null,\"version\":1,"), std::string_view::npos);
}

TEST(Table, Guarded_StrangersReadButDoNotWrite) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr own,
                          CreateTable(location, SmallSchema(), {.guarded = true}));
  OG_ASSERT_OK_AND_ASSIGN(const Change change, AppendChange(*own, 0, 3));
  OG_ASSERT_OK(CommitOrdinary(own, change));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr stranger, Table::Open(location));
  EXPECT_EQ(Numbers(*stranger), Range(0, 3));
  OG_EXPECT_ERROR(CommitOrdinary(stranger, DeleteChange({0})), ErrorKind::kUnsupported,
                  "table.guarded");
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr owner, Table::Open(location, {.passes_guard = true}));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitOrdinary(owner, DeleteChange({0})));
  EXPECT_NE(after->manifest().writer_flags & kFlagGraphGuard, 0u);
}

TEST(Table, Open_NothingThere_IsNotFound) {
  OG_EXPECT_ERROR(Table::Open(InMemory()), ErrorKind::kNotFound, "table.absent");
  const TableLocation location = InMemory();
  OG_ASSERT_OK(CreateTable(location, SmallSchema()));
  OG_EXPECT_ERROR(Table::Open(location, {.version = 9}), ErrorKind::kNotFound, "table.no_version");
  OG_EXPECT_ERROR(Table::Open(location, {.version = uint64_t{1} << 63 | 4}), ErrorKind::kNotFound,
                  "table.no_version");
}

TEST(Table, Open_AHintThatLies_IsNotBelieved) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK(TableWithRows(location, 4));
  for (const char* hint : {"{\"version\":1}", "{\"version\":77}", "garbage", "{\"version\":}", "",
                           "{\"version\":99999999999999999999999}"}) {
    OG_ASSERT_OK(location.store->Put(location.Child(kHintPath), store::BytesOf(hint)));
    OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(location));
    EXPECT_EQ(table->version(), 2u) << hint;
  }
  OG_ASSERT_OK(location.store->Delete(location.Child(kHintPath)));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, Table::Open(location));
  EXPECT_EQ(table->version(), 2u);
}

TEST(Table, Open_UnknownReaderFlag_IsRefused) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CreateTable(location, SmallSchema()));
  Manifest manifest = table->manifest();
  manifest.version = 2;
  manifest.reader_flags |= 64;
  OG_ASSERT_OK(location.store->Put(location.Child(ManifestPath(2)),
                                   store::BytesOf(EncodeManifest(manifest))));
  OG_EXPECT_ERROR(Table::Open(location), ErrorKind::kUnsupported, "table.unknown_reader_flags");
}

TEST(Table, Open_ManifestUnderAWrongNumber_IsCorruption) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CreateTable(location, SmallSchema()));
  OG_ASSERT_OK(location.store->Put(location.Child(ManifestPath(2)),
                                   store::BytesOf(EncodeManifest(table->manifest()))));
  OG_EXPECT_ERROR(Table::Open(location), ErrorKind::kCorruption, "manifest.wrong_version");
}

TEST(Scan, ProjectsBatchesAndAddsSystemColumns) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 5));
  OG_ASSERT_OK_AND_ASSIGN(const Change more, AppendChange(*table, 5, 2));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, more));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, DeleteChange({1, MakeRowAddress(1, 0)})));
  EXPECT_EQ(table->CountRows(), 5u);
  ScanOptions options;
  options.columns = {"n"};
  options.batch_rows = 2;
  options.with_row_id = options.with_row_address = true;
  options.with_created_version = options.with_updated_version = true;
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, Rows(*table, options));
  EXPECT_EQ(rows, (std::vector<std::string>{"0 0 0 2 2", "2 2 2 2 2", "3 3 3 2 2", "4 4 4 2 2",
                                            "6 6 4294967297 3 3"}));
  options.fragments = {1};
  options.columns = std::vector<std::string>{};
  OG_ASSERT_OK_AND_ASSIGN(const auto bare, Rows(*table, options));
  EXPECT_EQ(bare, (std::vector<std::string>{"6 4294967297 3 3"}));
}

TEST(Scan, WrongOptions_AreRefused) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table,
                          CreateTable(location, SmallSchema(), {.stable_row_ids = false}));
  OG_EXPECT_ERROR(table->Scan({.columns = {{"x"}}}), ErrorKind::kInvalid, "scan.unknown_column");
  OG_EXPECT_ERROR(table->Scan({.batch_rows = 0}), ErrorKind::kInvalid, "scan.batch_rows");
  OG_EXPECT_ERROR(table->Scan({.with_created_version = true}), ErrorKind::kInvalid,
                  "scan.no_lineage");
  OG_EXPECT_ERROR(table->Scan({.fragments = {{3}}}), ErrorKind::kInvalid, "scan.unknown_fragment");
}

TEST(Scan, ColumnsThatNoFileHolds_ReadAsNull) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, TableWithRows(location, 2));
  auto wider = std::make_shared<Schema>(*table->lance_schema());
  wider->mutable_fields().push_back(
      Field{.id = 2, .parent_id = -1, .name = "extra", .logical_type = "string", .nullable = true});
  Change change;
  change.schema = wider;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr widened, CommitDetached(table, change));
  OG_ASSERT_OK_AND_ASSIGN(const auto rows, Rows(*widened));
  EXPECT_EQ(rows, (std::vector<std::string>{"k0 0 null", "k1 1 null"}));
  OG_ASSERT_OK_AND_ASSIGN(const auto batch,
                          widened->Take(std::vector<uint64_t>{1}, {"extra", "n"}));
  EXPECT_EQ(batch->column(0)->null_count(), 1);
  // A rename keeps the id, so that old files serve the new name.
  wider->mutable_fields()[1].name = "number";
  change.schema = wider;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr renamed, CommitDetached(table, change));
  OG_ASSERT_OK_AND_ASSIGN(const auto renamed_rows, Rows(*renamed, {.columns = {{"number"}}}));
  EXPECT_EQ(renamed_rows, (std::vector<std::string>{"0", "1"}));
}

TEST(Take, KeepsTheOrderAskedAndRefusesDeadRows) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 100));
  OG_ASSERT_OK_AND_ASSIGN(const Change more, AppendChange(*table, 100, 10));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, more));
  const std::vector<uint64_t> addresses = {MakeRowAddress(1, 3), 7, 99, 7, MakeRowAddress(1, 0)};
  OG_ASSERT_OK_AND_ASSIGN(const auto batch, table->Take(addresses, {"n"}));
  EXPECT_EQ(batch->column(0)->ToString(), "[\n  103,\n  7,\n  99,\n  7,\n  100\n]");
  OG_ASSERT_OK_AND_ASSIGN(const auto nothing, table->Take({}, {}));
  EXPECT_EQ(nothing->num_rows(), 0);
  EXPECT_EQ(nothing->num_columns(), 2);
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, DeleteChange({7})));
  OG_EXPECT_ERROR(table->Take(addresses, {"n"}), ErrorKind::kNotFound, "take.no_row");
  OG_EXPECT_ERROR(table->Take(std::vector<uint64_t>{MakeRowAddress(9, 0)}, {}),
                  ErrorKind::kNotFound, "take.no_row");
}

TEST(RowIds, FindTheirLiveRows) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 5));
  OG_ASSERT_OK_AND_ASSIGN(Change upsert, AppendChange(*table, 50, 2));
  upsert.deleted_addresses = {1, 3};
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, upsert));
  // An upserted row takes a fresh id: 5 and 6, behind the first five.
  OG_ASSERT_OK_AND_ASSIGN(const auto found,
                          table->AddressesOfRowIds(std::vector<uint64_t>{0, 1, 4, 5, 6, 7}));
  EXPECT_EQ(found, (std::vector<std::optional<uint64_t>>{0, std::nullopt, 4, MakeRowAddress(1, 0),
                                                         MakeRowAddress(1, 1), std::nullopt}));
  OG_ASSERT_OK_AND_ASSIGN(const auto live,
                          table->AreLive(std::vector<uint64_t>{0, 1, 5, MakeRowAddress(1, 1)}));
  EXPECT_EQ(live, (std::vector<bool>{true, false, false, true}));
}

TEST(RowIds, KeptIdsThatStandTwice_FindTheLiveOne) {
  // Official updates keep the ids of moved rows: the id then stands in two fragments.
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 5));
  OG_ASSERT_OK_AND_ASSIGN(Change update, AppendChange(*table, 50, 2));
  update.deleted_addresses = {1, 3};
  RowLineage lineage;
  lineage.row_ids.Append(3, 1);
  lineage.row_ids.Append(1, 1);
  lineage.created = RowVersionSequence::Constant(2, 2);
  lineage.updated = RowVersionSequence::Constant(3, 2);
  update.added[0].kept = lineage;
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, update));
  OG_ASSERT_OK_AND_ASSIGN(const auto found,
                          table->AddressesOfRowIds(std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(found,
            (std::vector<std::optional<uint64_t>>{MakeRowAddress(1, 1), 2, MakeRowAddress(1, 0)}));
}

TEST(DataWriter, CutsFilesByRowsAndBytes) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CreateTable(location, SmallSchema()));
  OG_ASSERT_OK_AND_ASSIGN(const auto by_rows,
                          DataWriter::Make(location, table->lance_schema(), {.file_rows_max = 30}));
  OG_ASSERT_OK(by_rows->Write(*SmallBatch(0, 25)));
  OG_ASSERT_OK(by_rows->Write(*SmallBatch(25, 50)));
  OG_ASSERT_OK_AND_ASSIGN(const auto fragments, by_rows->Finish());
  ASSERT_EQ(fragments.size(), 3u);
  EXPECT_EQ(fragments[0].rows, 30u);
  EXPECT_EQ(fragments[2].rows, 15u);
  Change change;
  change.added = fragments;
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr after, CommitOrdinary(table, change));
  EXPECT_EQ(Numbers(*after), Range(0, 75));

  OG_ASSERT_OK_AND_ASSIGN(const auto by_bytes, DataWriter::Make(location, table->lance_schema(),
                                                                {.file_bytes_max = 200'000}));
  OG_ASSERT_OK(by_bytes->Write(*SmallBatch(0, 100'000)));
  OG_ASSERT_OK_AND_ASSIGN(const auto pieces, by_bytes->Finish());
  EXPECT_GT(pieces.size(), 2u);
  for (const NewFragment& piece : pieces) {
    EXPECT_LT(piece.files[0].size_bytes, 800'000u);
  }
}

TEST(DataWriter, RowsThatDoNotFitTheSchema_AreRefused) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, CreateTable(location, SmallSchema()));
  OG_ASSERT_OK_AND_ASSIGN(const auto writer, DataWriter::Make(location, table->lance_schema()));
  const auto batch = SmallBatch(0, 2);
  const auto swapped = arrow::RecordBatch::Make(
      arrow::schema({batch->schema()->field(1), batch->schema()->field(0)}), 2,
      {batch->column(1), batch->column(0)});
  OG_EXPECT_ERROR(writer->Write(*swapped), ErrorKind::kInvalid, "");
}

TEST(RewriteFragments, MovesLiveRowsWithTheirIdsAndVersions) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 4));
  for (int64_t first : {4, 8}) {
    OG_ASSERT_OK_AND_ASSIGN(const Change more, AppendChange(*table, first, 4));
    OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, more));
  }
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, DeleteChange({1, MakeRowAddress(1, 3)})));
  Change rewrite;
  rewrite.kind = ChangeKind::kRewrite;
  rewrite.removed_fragments = {0, 1};
  OG_ASSERT_OK_AND_ASSIGN(rewrite.added, RewriteFragments(*table, {0, 1}));
  ASSERT_EQ(rewrite.added.size(), 1u);
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, rewrite));
  // In place of the first fragment; ids and versions as they were.
  OG_ASSERT_OK_AND_ASSIGN(
      const auto rows,
      Rows(*table, {.columns = {{"n"}}, .with_row_id = true, .with_created_version = true}));
  EXPECT_EQ(rows, (std::vector<std::string>{"0 0 2", "2 2 2", "3 3 2", "4 4 3", "5 5 3", "6 6 3",
                                            "8 8 4", "9 9 4", "10 10 4", "11 11 4"}));
  EXPECT_EQ(table->manifest().fragments[0].id, 3u);
  EXPECT_EQ(table->manifest().reader_flags & kFlagDeletionFiles, 0u);
}

TEST(RewriteFragments, WithFreshRowsBehind_NumbersOnlyThose) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(TablePtr table, TableWithRows(location, 2));
  Change merge;
  merge.removed_fragments = {0};
  OG_ASSERT_OK_AND_ASSIGN(merge.added, RewriteFragments(*table, {0}, {SmallBatch(2, 2)}));
  OG_ASSERT_OK_AND_ASSIGN(table, CommitOrdinary(table, merge));
  OG_ASSERT_OK_AND_ASSIGN(const auto rows,
                          Rows(*table, {.with_row_id = true, .with_created_version = true}));
  EXPECT_EQ(rows, (std::vector<std::string>{"k0 0 0 2", "k1 1 1 2", "k2 2 2 3", "k3 3 3 3"}));
  EXPECT_EQ(table->manifest().fragments.size(), 1u);
}

TEST(Table, DamagedOrAbsentDataFile_IsCorruptionThatNamesIt) {
  const TableLocation location = InMemory();
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr table, TableWithRows(location, 3));
  const std::string object = location.Child("data/" + table->manifest().fragments[0].files[0].path);
  OG_ASSERT_OK_AND_ASSIGN(const auto bytes, location.store->Get(object));
  OG_ASSERT_OK(location.store->Delete(object));
  OG_ASSERT_OK_AND_ASSIGN(const TablePtr cold, Table::Open(location));
  const auto absent = Rows(*cold);
  OG_EXPECT_ERROR(absent, ErrorKind::kCorruption, "fragment.file_absent");
  OG_ASSERT_OK(location.store->Put(object, store::BytesOf(bytes->ToString().substr(1))));
  const auto torn = Rows(*cold);
  EXPECT_TRUE(IsCorruption(torn.status())) << torn.status().ToString();
  EXPECT_EQ(GetErrorDetail(torn.status())->place().object, object);
}

}  // namespace
}  // namespace omnigraph::lance
