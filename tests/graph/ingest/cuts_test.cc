// F4: random cuts give one state, for histories whose edges are acked after their endpoints and in
// which no node with pending edges is deleted.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "ingest_world.h"
#include "omnigraph/testing/seeds.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using namespace testing;  // NOLINT: the builders of this folder

/// A random history, one line per step. Persons p* have edges and stay; q* have none and come and
/// go.
std::vector<std::string> MakeHistory(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t bound) { return random() % bound; };
  std::vector<std::string> out;
  for (int i = 0; i < 4; ++i) {
    out.push_back(Person(fmt::format("p{}", i)) + City(fmt::format("c{}", i)));
  }
  for (int i = 0; i < 120; ++i) {
    const uint64_t n = below(4);
    switch (below(8)) {
      case 0:
        out.push_back(Person(fmt::format("p{}", n), fmt::format(R"("age":{})", i)));
        break;
      case 1:
        // Two persons want one of three addresses.
        out.push_back(Person(fmt::format("q{}", n), fmt::format(R"("email":"m{}")", below(3))));
        break;
      case 2:
        out.push_back(Delete("type", "Person", fmt::format("q{}", n)));
        break;
      case 3:
        out.push_back(Edge("LivesIn", fmt::format("p{}", n), fmt::format("c{}", below(4)),
                           fmt::format("l{}", below(6))));
        break;
      case 4:
        out.push_back(Delete("edge", "LivesIn", fmt::format("l{}", below(6))));
        break;
      case 5:
        out.push_back(Edge("Knows", fmt::format("p{}", n), fmt::format("p{}", below(6)),
                           fmt::format("k{}", below(5)), fmt::format(R"({{"since":{}}})", i)));
        break;
      case 6:
        out.push_back(Delete("edge", "Knows", fmt::format("k{}", below(5))));
        break;
      default:
        out.push_back(City(fmt::format("c{}", n)));
    }
  }
  return out;
}

/// The state after a history that is folded after each step with this chance in 16; at the end in
/// any case.
/// `key_bytes`: memory for what the fold knows of its tables.
std::string StateAfter(const std::vector<std::string>& history, uint64_t seed, uint64_t chance,
                       size_t key_bytes = IngestOptions().key_cache_bytes) {
  auto store = std::make_shared<store::MemoryStore>();
  OG_CHECK_OK(Graph::Init(store, kSchema, "tester"));
  IngestOptions options = ByHand();
  options.key_cache_bytes = key_bytes;
  options.fold_cut_bytes_max = chance % 2 == 0 ? size_t{1} << 20 : 3000;
  Process process = StartOn(store, options);
  std::mt19937_64 random(seed);
  for (const std::string& step : history) {
    process.Send(step);
    if (random() % 16 < chance) {
      process.Fold();
    }
  }
  process.Fold();
  std::string out;
  for (const char* type : {"Person", "City", "Knows", "LivesIn"}) {
    for (const auto& [id, row] : RowsOf(*process.graph, type)) {
      out += row + "\n";
    }
  }
  std::multiset<std::string> rejects;
  for (const Reject& reject : RejectsOf(*process.graph)) {
    rejects.insert(reject.code + " " + reject.row + "\n");
  }
  for (const std::string& reject : rejects) {
    out += reject;
  }
  return out;
}

TEST(Cuts, WhereverTheyFall_GiveOneState) {
  for (const uint64_t seed : omnigraph::testing::Seeds(8)) {
    SCOPED_TRACE(omnigraph::testing::RepeatCommand(seed));
    const std::vector<std::string> history = MakeHistory(seed);
    const std::string one = StateAfter(history, seed, 0);
    EXPECT_FALSE(one.empty());
    for (const uint64_t chance : {1, 4, 16}) {
      EXPECT_EQ(StateAfter(history, seed + chance, chance), one) << "chance " << chance;
    }
    EXPECT_EQ(StateAfter(history, seed, 4, 1), one) << "with nothing known of the tables";
  }
}

}  // namespace
}  // namespace omnigraph::graph
