// The memory of `@unique` and `@card` at fold (G9).
#include "constraints.h"

#include <gtest/gtest.h>

#include "fold.h"
#include "ingest_world.h"
#include "omnigraph/graph/write/load.h"
#include "omnigraph/testing/status_matchers.h"
#include "resolve.h"

namespace omnigraph::graph {
namespace {

using namespace testing;  // NOLINT: the builders of this folder

constexpr int kRows = 20'000;

class ConstraintsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK(Graph::Init(store_, kSchema, "tester"));
    process_ = StartOn(store_);
    std::string lines;
    for (int i = 0; i < kRows; ++i) {
      lines += Person("person-with-a-long-name-" + std::to_string(i),
                      R"("email":")" + std::to_string(i) + "@example.org\"");
    }
    ASSERT_EQ(process_.Send(lines).acked, kRows);
    process_.Fold();
    const SnapshotRef snapshot = process_.graph->snapshot();
    OG_ASSERT_OK_AND_ASSIGN(catalog_, process_.graph->CatalogOf(*snapshot));
    type_ = catalog_->FindNode("Person");
    OG_ASSERT_OK_AND_ASSIGN(table_, process_.graph->OpenTable(*snapshot, type_->table_id));
  }
  /// Rows as the fold sees them.
  std::shared_ptr<arrow::RecordBatch> Rows(int64_t first, int64_t count) {
    const auto batches = (*table_->Scan())->ToRecordBatches();
    OG_CHECK_OK(batches);
    return batches->front()->Slice(first, count);
  }

  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  Process process_;
  std::shared_ptr<const schema::Catalog> catalog_;
  const schema::TypeDef* type_ = nullptr;
  std::shared_ptr<const lance::Table> table_;
};

TEST_F(ConstraintsTest, WhatAStateTakesIsKnownBefore) {
  ConstraintState state(*type_);
  OG_ASSERT_OK(state.Read(*table_));
  EXPECT_LE(state.bytes(), ConstraintState::BytesFor(*type_, kRows));
  EXPECT_GE(state.bytes(), ConstraintState::BytesFor(*type_, kRows) / 4);
}

TEST_F(ConstraintsTest, WhatIsReadForAFewRowsIsSmallAndEnough) {
  ConstraintState state(*type_);
  const std::shared_ptr<arrow::RecordBatch> rows = Rows(100, 10);
  OG_ASSERT_OK(state.ReadFor(*table_, {rows.get()}));
  EXPECT_LT(state.bytes(), 16'000u);
  EXPECT_FALSE(state.Check(*rows, 0).has_value());  // its own value
  // Somebody else wants the value of row 101.
  arrow::ArrayVector columns = rows->Slice(1, 1)->columns();
  columns[0] = Rows(5000, 1)->column(0);
  const auto other = arrow::RecordBatch::Make(rows->schema(), 1, columns);
  EXPECT_TRUE(state.Check(*other, 0).has_value());
}

// What does not fit is not kept, and the answers are the same.
TEST_F(ConstraintsTest, WhenTheStateDoesNotFit_TheFoldReadsWhatItNeeds) {
  IngestOptions options = ByHand();
  options.key_cache_bytes = 1 << 20;  // a sixth of what the state takes
  OG_ASSERT_OK(process_.ingest->Stop());
  process_ = StartOn(store_, options);
  process_.Send(Person("new", R"("email":"7@example.org")") +
                Person("person-with-a-long-name-8", R"("email":"free@example.org")") +
                Person("newer", R"("email":"8@example.org")"));
  const FoldReport report = process_.Fold();
  EXPECT_EQ(report.visible, 2);
  EXPECT_EQ(report.rejected_by_code.at("constraint.unique"), 1);
}

TEST(FoldCachesTest, WhatIsLargerThanTheCapIsNotKept) {
  FoldCaches caches(1000);
  EXPECT_TRUE(caches.MakeRoom(1000, 1));
  EXPECT_FALSE(caches.MakeRoom(1001, 1));
  caches.constraints[1] = {.version = 7};
  caches.constraints[2] = {.version = 7, .whole = false};
  caches.Keep(1, 8);
  caches.Keep(2, 8);
  EXPECT_EQ(caches.constraints.size(), 1u);
  EXPECT_EQ(caches.constraints.at(1).version, 8u);
}

}  // namespace
}  // namespace omnigraph::graph
