// Transactions: every operation that we write reads back; the others keep their kind.
#include "omnigraph/lance/table/transaction.h"

#include <arrow/type.h>
#include <gtest/gtest.h>

#include "lance/table.pb.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

Fragment Frag(uint64_t id) {
  Fragment fragment;
  fragment.id = id;
  fragment.physical_rows = 3;
  DataFileRef file;
  file.path = "f" + std::to_string(id) + ".lance";
  file.field_ids = {0};
  file.column_indices = {0};
  fragment.files.push_back(file);
  return fragment;
}

Transaction RoundTrip(const Transaction& transaction) {
  const std::string bytes = EncodeTransaction(transaction);
  auto back = DecodeTransaction(bytes, "t");
  EXPECT_TRUE(back.ok()) << back.status().ToString();
  EXPECT_EQ(EncodeTransaction(*back), bytes);
  return *back;
}

Transaction Head(Operation operation) {
  Transaction transaction;
  transaction.read_version = 4;
  transaction.uuid = "e2ce7053-60e3-4d06-8a5c-000000000000";
  transaction.properties = {{"a", "1"}};
  transaction.operation = operation;
  return transaction;
}

TEST(Transactions, RowOperations_RoundTrip) {
  Transaction append = Head(Operation::kAppend);
  append.new_fragments = {Frag(0)};
  EXPECT_EQ(RoundTrip(append).new_fragments, append.new_fragments);
  EXPECT_EQ(RoundTrip(append).properties, append.properties);

  Transaction removal = Head(Operation::kDelete);
  removal.updated_fragments = {Frag(1)};
  removal.removed_fragment_ids = {2, 3};
  removal.predicate = "id = 1";
  EXPECT_EQ(RoundTrip(removal).removed_fragment_ids, removal.removed_fragment_ids);
  EXPECT_EQ(RoundTrip(removal).predicate, "id = 1");

  Transaction update = Head(Operation::kUpdate);
  update.new_fragments = {Frag(0)};
  update.updated_fragments = {Frag(1)};
  update.removed_fragment_ids = {2};
  update.bitmap_fields = {0, 1};
  update.inserted_rows = "filter";
  const Transaction back = RoundTrip(update);
  EXPECT_EQ(back.operation, Operation::kUpdate);
  EXPECT_EQ(back.bitmap_fields, update.bitmap_fields);
  EXPECT_EQ(back.inserted_rows, update.inserted_rows);

  Transaction rewrite = Head(Operation::kRewrite);
  rewrite.groups = {{.old_fragments = {Frag(0), Frag(1)}, .new_fragments = {Frag(5)}}};
  EXPECT_EQ(RoundTrip(rewrite).groups, rewrite.groups);
}

TEST(Transactions, OtherOperations_RoundTrip) {
  const auto schema = std::make_shared<const Schema>(
      *Schema::FromArrow(*arrow::schema({arrow::field("id", arrow::int64())})));
  for (const Operation operation : {Operation::kOverwrite, Operation::kMerge}) {
    Transaction transaction = Head(operation);
    transaction.schema = schema;
    transaction.new_fragments = {Frag(0)};
    EXPECT_EQ(*RoundTrip(transaction).schema, *schema);
  }
  Transaction restore = Head(Operation::kRestore);
  restore.restored_version = uint64_t{1} << 63 | 5;
  EXPECT_EQ(RoundTrip(restore).restored_version, restore.restored_version);
  Transaction reserve = Head(Operation::kReserveFragments);
  reserve.reserved_fragments = 4;
  EXPECT_EQ(RoundTrip(reserve).reserved_fragments, 4u);
  Transaction config = Head(Operation::kUpdateConfig);
  config.table_metadata_updates =
      MapUpdate{.entries = {{"a", "1"}, {"b", std::nullopt}}, .replace = true};
  EXPECT_EQ(RoundTrip(config).table_metadata_updates, config.table_metadata_updates);
  Transaction index = Head(Operation::kCreateIndex);
  IndexMetadata metadata;
  metadata.name = "id_idx";
  metadata.fragment_ids = {0, 1};
  index.new_indices = {metadata};
  EXPECT_EQ(RoundTrip(index).new_indices, index.new_indices);
}

TEST(Transactions, OperationsThatWeOnlyKnowByName_KeepTheirKind) {
  pb::Transaction wire;
  wire.set_clone("anything");
  OG_ASSERT_OK_AND_ASSIGN(const Transaction clone,
                          DecodeTransaction(wire.SerializeAsString(), "t"));
  EXPECT_EQ(clone.operation, Operation::kClone);
  OG_ASSERT_OK_AND_ASSIGN(const Transaction none, DecodeTransaction("", "t"));
  EXPECT_EQ(none.operation, Operation::kNone);
}

TEST(Transactions, DamagedBytes_GiveATypedError) {
  Transaction update = Head(Operation::kUpdate);
  update.new_fragments = {Frag(0)};
  const std::string good = EncodeTransaction(update);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0xff);
    const auto decoded = DecodeTransaction(bad, "t");
    EXPECT_TRUE(decoded.ok() || IsCorruption(decoded.status()) || IsUnsupported(decoded.status()));
  }
}

}  // namespace
}  // namespace omnigraph::lance
