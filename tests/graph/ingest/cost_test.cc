// What an ack and a fold cost in store calls: the work, not the history
// (docs/format/manifest-table.md, Costs).
#include <gtest/gtest.h>

#include <cstring>

#include "ingest_world.h"
#include "omnigraph/graph/write/load.h"
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

/// What was counted, without the heartbeat of the process, which moves by itself.
store::StoreCounts CountsOf(store::CountingStore& counting) {
  store::StoreCounts out = counting.Reset();
  for (const store::StoreCall& call : counting.TakeTrace()) {
    if (call.op == "put" && call.path.starts_with("__processes/")) {
      --out.put.calls;
      out.put.bytes -= call.bytes;
    }
  }
  return out;
}

/// At most a tenth more.
constexpr uint64_t WithTenth(uint64_t value) {
  return value + value / 10;
}

// After 10 and after 1,000 commits: one steady-state ack is one put, no list, no read; a fold with
// its follow-up does the same number of calls, and its bytes stay flat in the mean over 64. The
// table stays as small as it was: its growth is not what is measured.
TEST(StreamCost, AfterTenAndAThousandCommits_IsTheSame) {
  Counted world(kPlainSchema);
  world.counting->KeepTrace(100'000);
  std::vector<store::StoreCounts> folds;
  for (int commit = 0; commit < 1100; ++commit) {
    world.process.Send(City("c" + std::to_string(commit % 8)));
    (void)CountsOf(*world.counting);
    world.process.Send(City("d" + std::to_string(commit % 5)));
    const store::StoreCounts ack = CountsOf(*world.counting);
    ASSERT_EQ(ack.put_if_absent.calls, 1u) << commit << " " << ack.ToString();
    ASSERT_EQ(ack.calls(), 1u) << commit << " " << ack.ToString();
    world.process.Fold();
    folds.push_back(CountsOf(*world.counting));
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
  EXPECT_EQ(sum(1000, puts), sum(10, puts));
  EXPECT_EQ(sum(1000, lists), sum(10, lists));
  EXPECT_EQ(sum(1000, calls), sum(10, calls)) << folds[10].ToString() << "\n"
                                              << folds[1000].ToString();
  EXPECT_LE(sum(1000, bytes), WithTenth(sum(10, bytes))) << folds[10].ToString() << "\n"
                                                         << folds[1000].ToString();
}

/// `rows` cities, line by line.
class CitySource : public write::ByteSource {
 public:
  explicit CitySource(int rows) : rows_(rows) {}

  Result<size_t> Read(char* data, size_t size) override {
    std::string out;
    for (; next_ < rows_; ++next_) {
      const std::string line = City("city-" + std::to_string(next_));
      if (out.size() + line.size() > size) {
        break;
      }
      out += line;
    }
    std::memcpy(data, out.data(), out.size());
    return out.size();
  }

 private:
  int rows_;
  int next_ = 0;
};

/// A stream into a table of `size` rows.
struct Filled : Counted {
  explicit Filled(int size) : Counted(kPlainSchema), rows(size) {
    CitySource source(size);
    const auto loaded = write::Load(process.graph.get(), &source, {});
    OG_CHECK_OK(loaded);
    OG_CHECK(loaded->rows == size && loaded->error_count == 0);
    process.Send(City("first"));
    process.Fold();
    counting->KeepTrace(100'000);
  }

  /// The calls of a fold of `count` rows, half of them existing keys.
  store::StoreCounts Fold(int count) {
    std::string lines;
    for (int i = 0; i < count / 2; ++i, ++taken) {
      lines += City("city-" + std::to_string(int64_t{taken} * 7919 % rows));
      lines += City("new-" + std::to_string(taken));
    }
    OG_CHECK(process.Send(lines).acked == count);
    (void)CountsOf(*counting);
    OG_CHECK(process.Fold().visible == count);
    OG_CHECK(process.graph->snapshot()->FindTable(TableKind::kNode, "City")->rows ==
             rows + 1 + taken);
    return CountsOf(*counting);
  }

  int rows;
  int taken = 0;
};

// A fold of 1,000 rows, half of them existing keys: the same number of puts and lists into 10,000
// and into a million rows.
TEST(FoldCost, IntoASmallAndALargeTable_IsTheSame) {
  const store::StoreCounts small = Filled(10'000).Fold(1000);
  Filled million(1'000'000);
  const store::StoreCounts large = million.Fold(1000);
  EXPECT_EQ(large.put_if_absent.calls, small.put_if_absent.calls) << small.ToString() << "\n"
                                                                  << large.ToString();
  EXPECT_EQ(large.put.calls, small.put.calls) << small.ToString() << "\n" << large.ToString();
  EXPECT_EQ(large.list.calls, small.list.calls);

  // Pages in proportion to the rows folded: at most one of the index and one of the table for each.
  EXPECT_GT(large.get_ranges.items, 0u);  // the table is not known by heart
  EXPECT_LE(large.get_ranges.items, 2 * 1000u + 16) << large.ToString();
  const store::StoreCounts tenth = million.Fold(100);
  EXPECT_LE(tenth.get_ranges.items, 2 * 100u + 16) << tenth.ToString();
  EXPECT_LE(tenth.read_bytes(), large.read_bytes() / 5) << large.ToString() << "\n"
                                                        << tenth.ToString();
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
