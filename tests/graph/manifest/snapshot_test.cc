// A snapshot and its form in table metadata (docs/format/manifest-table.md).
#include "omnigraph/graph/manifest/snapshot.h"

#include <gtest/gtest.h>

#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

TableState SomeTable() {
  TableState out;
  out.kind = TableKind::kEdge;
  out.name = "Kn\"ows";
  out.id = 0x0123456789abcdefULL;
  out.incarnation = 7;
  out.version = (uint64_t{1} << 63) + 5;
  out.publishes = 3;
  out.rows = 12;
  out.shards[Uuid::FromName({}, "a")] = 42;
  out.acked = 10;
  out.visible = 6;
  out.superseded = 3;
  out.rejected = 1;
  return out;
}

// Numbers above 2^53 are strings, members stand in a fixed order.
TEST(TableState, WhenWritten_HasTheDocumentedForm) {
  EXPECT_EQ(SomeTable().ToJson(),
            R"({"kind":"edge","name":"Kn\"ows","incarnation":"0000000000000007",)"
            R"("version":"9223372036854775813","publishes":3,"rows":12,)"
            R"("shards":{"35b65f33-a679-5e76-af3c-273ea349ede4":42},)"
            R"("acked":10,"visible":6,"superseded":3,"rejected":1})");
}

TEST(TableState, WhenReadBack_IsEqual) {
  OG_ASSERT_OK_AND_ASSIGN(const TableState read,
                          TableState::FromJson(SomeTable().id, SomeTable().ToJson(), "m"));
  EXPECT_EQ(read, SomeTable());
  EXPECT_EQ(read.path(), "edges/0123456789abcdef-0000000000000007.lance");
}

TEST(TableState, WhenMalformed_IsCorruption) {
  const std::string good = SomeTable().ToJson();
  for (size_t cut = 0; cut + 1 < good.size(); cut += 7) {
    OG_EXPECT_ERROR(TableState::FromJson(1, good.substr(0, cut), "m"), ErrorKind::kCorruption,
                    "manifest.table_state");
  }
  for (const char* text : {"[]", "{}", "null", R"({"kind":"x"})"}) {
    OG_EXPECT_ERROR(TableState::FromJson(1, text, "m"), ErrorKind::kCorruption,
                    "manifest.table_state");
  }
}

Snapshot SomeSnapshot() {
  Snapshot out;
  out.graph_id = "G";
  out.branch = "main";
  out.sequence = 9;
  out.head = "C";
  out.schema_hash = "abc";
  out.paused = {"A", "B"};
  out.tables[SomeTable().id] = SomeTable();
  out.extra["other.key"] = "kept";
  return out;
}

TEST(Snapshot, WhenReadBack_IsEqual) {
  const auto metadata = SomeSnapshot().ToMetadata();
  OG_ASSERT_OK_AND_ASSIGN(const Snapshot read, Snapshot::FromMetadata(metadata, "m"));
  EXPECT_EQ(read.ToMetadata(), metadata);
  EXPECT_EQ(read.sequence, 9u);
  EXPECT_EQ(read.paused, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(read.tables, SomeSnapshot().tables);
  EXPECT_EQ(read.extra, SomeSnapshot().extra);
}

// C4: a version counts only if its sequence equals its number.
TEST(Snapshot, WhenSequenceDiffers_IsForeign) {
  const auto metadata = SomeSnapshot().ToMetadata();
  EXPECT_TRUE(Snapshot::IsOwn(metadata, 9));
  EXPECT_FALSE(Snapshot::IsOwn(metadata, 10));
  EXPECT_FALSE(Snapshot::IsOwn({}, 0));
}

TEST(Snapshot, WhenFormatIsNewer_IsRefused) {
  auto metadata = SomeSnapshot().ToMetadata();
  metadata["omnigraph.format"] = "2";
  OG_EXPECT_ERROR(Snapshot::FromMetadata(metadata, "m"), ErrorKind::kUnsupported,
                  "graph.newer_format");
  metadata["omnigraph.format"] = "x";
  OG_EXPECT_ERROR(Snapshot::FromMetadata(metadata, "m"), ErrorKind::kCorruption,
                  "manifest.snapshot");
}

}  // namespace
}  // namespace omnigraph::graph
