// Sources of rows: positions, caching, what a query reads.
#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory_graph.h"
#include "omnigraph/query/executor.h"
#include "omnigraph/query/printers.h"
#include "omnigraph/testing/status_matchers.h"
#include "real_graph.h"

namespace omnigraph::query {
namespace {

constexpr std::string_view kSchema =
    "node N { k: String @key  a: I64?  b: String?  c: String? } edge E: N -> N { w: F64? }";

std::string Lines(int nodes) {
  std::string lines;
  for (int i = 0; i < nodes; ++i) {
    lines += fmt::format("{{\"type\":\"N\",\"data\":{{\"k\":\"n{}\",\"a\":{},\"b\":\"b{}\"}}}}\n",
                         i, i * 3, i % 7);
    lines +=
        fmt::format("{{\"edge\":\"E\",\"from\":\"n{}\",\"to\":\"n{}\"}}\n", i, (i * 5) % nodes);
  }
  return lines;
}

/// Passes on to another source and notes what is asked of it.
class SpyTable : public TableSource {
 public:
  SpyTable(std::shared_ptr<const TableSource> inner, std::vector<std::string>* log)
      : inner_(std::move(inner)), log_(log) {}
  std::string identity() const override { return inner_->identity(); }
  int64_t rows() const override { return inner_->rows(); }
  Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns) const override {
    log_->push_back(fmt::format("scan {}", fmt::join(columns, " ")));
    return inner_->Scan(columns);
  }
  Result<std::optional<std::shared_ptr<arrow::Table>>> Take(
      const std::vector<int64_t>& positions,
      const std::vector<std::string>& columns) const override {
    log_->push_back(fmt::format("take {} rows of {}", positions.size(), fmt::join(columns, " ")));
    return inner_->Take(positions, columns);
  }

 private:
  std::shared_ptr<const TableSource> inner_;
  std::vector<std::string>* log_;
};

class SpySource : public GraphSource {
 public:
  explicit SpySource(std::shared_ptr<const GraphSource> inner) : inner_(std::move(inner)) {}
  std::shared_ptr<const schema::Catalog> catalog() const override { return inner_->catalog(); }
  Result<std::shared_ptr<const TableSource>> Open(const schema::TypeDef& type) const override {
    OG_ASSIGN_OR_RETURN(auto table, inner_->Open(type));
    return std::make_shared<const SpyTable>(std::move(table), &log_);
  }
  std::vector<std::string> TakeLog() const { return std::exchange(log_, {}); }

 private:
  std::shared_ptr<const GraphSource> inner_;
  mutable std::vector<std::string> log_;
};

class Source : public ::testing::Test {
 protected:
  void SetUp() override {
    OG_ASSERT_OK_AND_ASSIGN(const auto memory, testing::MakeMemoryGraph(kSchema, Lines(600)));
    OG_ASSERT_OK_AND_ASSIGN(const auto real, testing::MakeRealGraph(*memory));
    spy_ = std::make_shared<SpySource>(real);
  }

  std::string Run(const std::string& match_and_return, QueryCache* cache) {
    ExecuteOptions options;
    options.cache = cache;
    const std::string text = "query q() { " + match_and_return + " }";
    const auto result = RunQuery({text, "", "", ""}, *spy_, options);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.ok() ? *FormatResult(*result, OutputFormat::kCsv) : "";
  }

  std::shared_ptr<SpySource> spy_;
};

using Log = std::vector<std::string>;

TEST_F(Source, Take_AgreesWithScanAcrossFragmentsAndDeletions) {
  OG_ASSERT_OK_AND_ASSIGN(const auto table, spy_->Open(*spy_->catalog()->FindNode("N")));
  ASSERT_EQ(table->rows(), 600);
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, table->Scan({"a", "b"}));
  OG_ASSERT_OK_AND_ASSIGN(const auto all, reader->ToTable());
  for (const int64_t step : {1, 2, 3, 7, 100, 599}) {
    std::vector<int64_t> positions;
    for (int64_t at = step - 1; at < 600; at += step) {
      positions.push_back(at);
    }
    arrow::Int64Builder builder;
    OG_ASSERT_OK(builder.AppendValues(positions));
    OG_ASSERT_OK_AND_ASSIGN(const auto indices, builder.Finish());
    OG_ASSERT_OK_AND_ASSIGN(const arrow::Datum expected, arrow::compute::Take(all, indices));
    OG_ASSERT_OK_AND_ASSIGN(const auto taken, table->Take(positions, {"a", "b"}));
    ASSERT_TRUE(taken.has_value());
    EXPECT_TRUE((*taken)->Equals(*expected.table())) << step;
  }
}

TEST_F(Source, Query_ReadsOnlyTheColumnsItNames) {
  EXPECT_EQ(Run("match { $n: N {a: 9} } return { $n.a }", nullptr), "n.a\n9\n");
  EXPECT_EQ(spy_->TakeLog(), Log({"scan a"}));
  // The key is the id; columns of few rows are taken by row.
  EXPECT_EQ(Run("match { $n: N {k: \"n5\"} } return { $n.b, $n.a }", nullptr), "n.b,n.a\nb5,15\n");
  EXPECT_EQ(spy_->TakeLog(), Log({"scan id", "take 1 rows of a b"}));
  EXPECT_EQ(Run("match { $n: N {k: \"n5\"} $n e $m } return { $m.k }", nullptr), "m.k\nn25\n");
  EXPECT_EQ(spy_->TakeLog(), Log({"scan id", "scan src dst"}));
}

TEST_F(Source, Cache_ServesTheNextQuery) {
  QueryCache cache;
  const std::string hop = "match { $n: N $n e $m } return { count($m) as n }";
  EXPECT_EQ(Run(hop, &cache), "n\n600\n");
  EXPECT_FALSE(spy_->TakeLog().empty());
  EXPECT_GT(cache.bytes(), 0);
  EXPECT_EQ(Run(hop, &cache), "n\n600\n");
  EXPECT_EQ(spy_->TakeLog(), Log());
}

TEST_F(Source, Cache_WhenSmall_KeepsToItsBound) {
  QueryCache cache(4096);
  const std::string hop = "match { $n: N $n e $m } return { count($m.b) as n }";
  EXPECT_EQ(Run(hop, &cache), "n\n600\n");
  EXPECT_EQ(Run(hop, &cache), "n\n600\n");
  EXPECT_LE(cache.bytes(), 4096);
}

class Sized : public QueryCache::Entry {
 public:
  explicit Sized(int64_t bytes) : bytes_(bytes) {}
  int64_t bytes() const override { return bytes_; }

 private:
  int64_t bytes_;
};

TEST(QueryCache, DropsWhatWasNotUsedForLongest) {
  QueryCache cache(100);
  const auto make = [](int64_t bytes) {
    return [bytes]() -> Result<std::shared_ptr<const QueryCache::Entry>> {
      return std::make_shared<const Sized>(bytes);
    };
  };
  OG_ASSERT_OK(cache.GetOrMake("a", make(40)));
  OG_ASSERT_OK(cache.GetOrMake("b", make(40)));
  EXPECT_NE(cache.Find("a"), nullptr);
  OG_ASSERT_OK(cache.GetOrMake("c", make(40)));
  EXPECT_NE(cache.Find("a"), nullptr);
  EXPECT_EQ(cache.Find("b"), nullptr);
  EXPECT_EQ(cache.bytes(), 80);
  // Larger than all of it: made, not kept.
  OG_ASSERT_OK_AND_ASSIGN(const auto large, cache.GetOrMake("d", make(200)));
  EXPECT_EQ(large->bytes(), 200);
  EXPECT_EQ(cache.Find("d"), nullptr);
  EXPECT_EQ(cache.bytes(), 80);
  OG_EXPECT_ERROR(cache.GetOrMake("e",
                                  []() -> Result<std::shared_ptr<const QueryCache::Entry>> {
                                    return NotFound("test.absent", "nothing");
                                  }),
                  ErrorKind::kNotFound, "test.absent");
}

TEST_F(Source, CrossJoin_WhenTooLarge_IsRefused) {
  ExecuteOptions options;
  options.rows_max = 1000;
  const auto run = [&](const std::string& match) {
    return RunQuery({"query q() { match { " + match + " } return { count($a) as n } }", "", "", ""},
                    *spy_, options)
        .status();
  };
  OG_EXPECT_ERROR(run("$a: N $b: N"), ErrorKind::kExhausted, "query.too_many_rows");
  OG_EXPECT_ERROR(run("$a: N $a <e>{1,9} $b"), ErrorKind::kExhausted, "query.too_many_rows");
  OG_EXPECT_OK(run("$a: N $b: N {a: 9}"));
}

TEST(MemorySource, WhenColumnsDiffer_Refuses) {
  OG_ASSERT_OK_AND_ASSIGN(const auto source, testing::MakeMemoryGraph(kSchema, ""));
  const auto table = arrow::Table::Make(arrow::schema({}), arrow::ArrayVector());
  OG_EXPECT_ERROR(source->SetTable(*source->catalog()->FindNode("N"), table), ErrorKind::kInvalid,
                  "query.memory_source");
}

}  // namespace
}  // namespace omnigraph::query
