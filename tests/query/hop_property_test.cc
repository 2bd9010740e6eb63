// Hops on random graphs against a naive walk, with every way that an execution finds neighbours:
// filtered by ids, looked up whole, kept in a cache.
#include <arrow/api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "memory_graph.h"
#include "omnigraph/query/executor.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::query {
namespace {

/// splitmix64; the same numbers everywhere.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}
  /// 0 .. sides-1
  int Roll(int sides) {
    state_ += 0x9e3779b97f4a7c15U;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<int>((z ^ (z >> 31U)) % static_cast<uint64_t>(sides));
  }

 private:
  uint64_t state_;
};

using Pairs = std::multiset<std::pair<std::string, std::string>>;

/// A graph as lists of ends, and the same as load lines.
struct RandomGraph {
  int nodes = 0;
  std::vector<int> group;
  std::vector<std::pair<int, int>> edges;  // parallel edges and self loops included
  std::string lines;

  static std::string Id(int node) { return fmt::format("n{}", node); }

  static RandomGraph Make(Dice* dice) {
    RandomGraph graph;
    graph.nodes = 1 + dice->Roll(dice->Roll(2) == 0 ? 12 : 300);
    for (int i = 0; i < graph.nodes; ++i) {
      graph.group.push_back(dice->Roll(20));
      graph.lines += fmt::format("{{\"type\":\"N\",\"data\":{{\"k\":\"n{}\",\"g\":{}}}}}\n", i,
                                 graph.group.back());
    }
    const int count = dice->Roll(graph.nodes * 3 + 1);
    for (int i = 0; i < count; ++i) {
      const int from = dice->Roll(graph.nodes);
      const int kind = dice->Roll(10);
      const int to = kind == 0 ? from : dice->Roll(graph.nodes);
      for (int copies = kind == 1 ? 2 : 1; copies > 0; --copies) {
        graph.edges.emplace_back(from, to);
        graph.lines +=
            fmt::format("{{\"edge\":\"E\",\"from\":\"n{}\",\"to\":\"n{}\"}}\n", from, to);
      }
    }
    return graph;
  }

  std::vector<int> Neighbours(int node, bool forward, bool backward) const {
    std::vector<int> found;
    for (const auto& [from, to] : edges) {
      if (forward && from == node) {
        found.push_back(to);
      }
      if (backward && to == node && (from != to || !forward)) {
        found.push_back(from);
      }
    }
    return found;
  }

  /// What docs/query.md says of a hop: ends whose least distance lies within the bounds; the start
  /// only by an edge to itself.
  std::set<int> Reach(int start, int min, int max, bool forward, bool backward) const {
    std::vector<int> distance(static_cast<size_t>(nodes), -1);
    distance[static_cast<size_t>(start)] = 0;
    std::vector<int> queue{start};
    std::set<int> ends;
    for (size_t at = 0; at < queue.size(); ++at) {
      const int node = queue[at];
      for (const int next : Neighbours(node, forward, backward)) {
        if (next == start && node == start && min == 1) {
          ends.insert(start);
        }
        int& known = distance[static_cast<size_t>(next)];
        if (known < 0) {
          known = distance[static_cast<size_t>(node)] + 1;
          queue.push_back(next);
          if (known >= min && known <= max) {
            ends.insert(next);
          }
        }
      }
    }
    return ends;
  }
};

Pairs PairsOf(const QueryResult& result) {
  Pairs pairs;
  const auto table = result.table->CombineChunks();
  EXPECT_TRUE(table.ok());
  if ((*table)->num_rows() == 0) {
    return pairs;
  }
  const auto& first = static_cast<const arrow::StringArray&>(*(*table)->column(0)->chunk(0));
  const auto& second = static_cast<const arrow::StringArray&>(*(*table)->column(1)->chunk(0));
  for (int64_t i = 0; i < first.length(); ++i) {
    pairs.emplace(first.GetString(i), second.GetString(i));
  }
  return pairs;
}

class HopProperty : public ::testing::TestWithParam<uint64_t> {
 protected:
  void SetUp() override {
    dice_ = std::make_unique<Dice>(GetParam());
    graph_ = RandomGraph::Make(dice_.get());
    OG_ASSERT_OK_AND_ASSIGN(
        source_, testing::MakeMemoryGraph("node N { k: String @key  g: I32 } edge E: N -> N",
                                          graph_.lines, "random"));
  }

  /// Run with nothing kept, then cold and warm with a cache: all must agree.
  Pairs Run(const std::string& match) {
    const std::string text = "query q() { match { " + match + " } return { $p.@id, $q.@id } }";
    Pairs first;
    QueryCache cache;
    for (QueryCache* kept : {static_cast<QueryCache*>(nullptr), &cache, &cache}) {
      ExecuteOptions options;
      options.cache = kept;
      const auto result = RunQuery({text, "", "", ""}, *source_, options);
      EXPECT_TRUE(result.ok()) << text << ": " << result.status().ToString();
      if (!result.ok()) {
        return {};
      }
      Pairs pairs = PairsOf(*result);
      if (kept == nullptr) {
        first = std::move(pairs);
      } else {
        EXPECT_EQ(pairs, first) << text;
      }
    }
    return first;
  }

  std::unique_ptr<Dice> dice_;
  RandomGraph graph_;
  std::shared_ptr<MemorySource> source_;
};

TEST_P(HopProperty, ReachesWhatANaiveWalkReaches) {
  for (int round = 0; round < 6; ++round) {
    const int min = 1 + dice_->Roll(3);
    const int max = min + dice_->Roll(3);
    const int shape = dice_->Roll(3);   // forward, against its direction, undirected
    const int group = dice_->Roll(24);  // above 19: all
    const std::string hop = fmt::format("{}{{{},{}}}", shape == 2 ? "<e>" : "e", min, max);
    const std::string start = group > 19 ? "$p: N" : fmt::format("$p: N {{g: {}}}", group);
    const bool closed = dice_->Roll(4) == 0;
    const std::string match =
        start + (closed ? " $q: N {g: 3}" : "") +
        (shape == 1 ? fmt::format(" $q {} $p", hop) : fmt::format(" $p {} $q", hop));
    Pairs expected;
    for (int node = 0; node < graph_.nodes; ++node) {
      if (group <= 19 && graph_.group[static_cast<size_t>(node)] != group) {
        continue;
      }
      for (const int end : graph_.Reach(node, min, max, shape != 1, shape != 0)) {
        if (!closed || graph_.group[static_cast<size_t>(end)] == 3) {
          expected.emplace(RandomGraph::Id(node), RandomGraph::Id(end));
        }
      }
    }
    EXPECT_EQ(Run(match), expected) << match;
  }
}

TEST_P(HopProperty, BoundEdgeGivesOneRowPerEdge) {
  Pairs forward;
  Pairs both;
  for (const auto& [from, to] : graph_.edges) {
    forward.emplace(RandomGraph::Id(from), RandomGraph::Id(to));
    both.emplace(RandomGraph::Id(from), RandomGraph::Id(to));
    if (from != to) {
      both.emplace(RandomGraph::Id(to), RandomGraph::Id(from));
    }
  }
  EXPECT_EQ(Run("$p $e:e $q"), forward);
  EXPECT_EQ(Run("$p $e:<e> $q"), both);
}

TEST_P(HopProperty, TrianglesAndBlocksAgreeWithSets) {
  std::set<std::pair<int, int>> edges(graph_.edges.begin(), graph_.edges.end());
  Pairs triangles;
  Pairs one_way;
  for (const auto& [a, b] : edges) {
    if (!edges.contains({b, a})) {
      one_way.emplace(RandomGraph::Id(a), RandomGraph::Id(b));
    }
    for (int c = 0; c < graph_.nodes; ++c) {
      if (edges.contains({b, c}) && edges.contains({c, a})) {
        triangles.emplace(RandomGraph::Id(a), RandomGraph::Id(b));
      }
    }
  }
  EXPECT_EQ(Run("$p e $q $q e $r $r e $p"), triangles);
  EXPECT_EQ(Run("$p e $q not { $q e $p }"), one_way);
}

INSTANTIATE_TEST_SUITE_P(Seeds, HopProperty, ::testing::Range<uint64_t>(1, 61));

}  // namespace
}  // namespace omnigraph::query
