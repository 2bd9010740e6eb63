// F4: the same history, cut at random places by whoever folds, gives one state; and in every
// history no edge dangles and each acked row is counted once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/seeds.h"
#include "soak_world.h"

namespace omnigraph::soak {
namespace {

/// One request of a history. At a barrier everything is folded first, whoever cuts.
struct Step {
  std::string lines;
  int64_t rows = 0;
  bool barrier = false;
};

/// Draws histories whose edges are acked after their endpoints and in which no node with pending
/// edges is deleted. Two things more are kept apart, because no order within a shard tells them:
/// between two barriers no edge under @card is sent before a node is deleted (the cascade might
/// free its place first), and a deleted node gets edges again only after it was put again.
class HistoryMaker {
 public:
  explicit HistoryMaker(runtime::Simulator& sim) : sim_(sim) {}

  std::vector<Step> Make(int steps) {
    for (int i = 0; i < kNodes; ++i) {
      Put(false, i);
      Put(true, i);
    }
    Send();
    for (int i = 0; i < steps; ++i) {
      for (uint64_t rows = 1 + Below(3); rows > 0; --rows) {
        AddRow();
      }
      Send();
    }
    return std::move(out_);
  }

 private:
  static constexpr int kNodes = 5;

  uint64_t Below(uint64_t bound) { return sim_.NextRandomBelow(bound); }

  void Send() {
    if (step_.rows > 0) {
      out_.push_back(std::move(step_));
      step_ = {};
    }
    if (Below(12) == 0) {
      out_.push_back(Step{.barrier = true});
      pending_ends_.clear();
      card_sent_ = false;
    }
  }

  void Add(std::string line) {
    step_.lines += line + "\n";
    ++step_.rows;
  }

  static std::string Name(bool person, int n) { return (person ? "p" : "c") + std::to_string(n); }

  void Put(bool person, int n) {
    const std::string email =
        person && Below(3) == 0 ? fmt::format(R"(,"email":"m{}")", Below(3)) : "";
    // A person whose address may be refused is no endpoint that surely exists.
    const bool sure = email.empty();
    Add(fmt::format(R"({{"type":"{}","data":{{"name":"{}","v":{}{}}}}})",
                    person ? "Person" : "City", Name(person, n), ++value_, email));
    if (sure) {
      present_.insert(Name(person, n));
    }
  }

  void Delete(bool person, int n) {
    const std::string name = Name(person, n);
    if (pending_ends_.contains(name) || card_sent_) {
      return;
    }
    Add(fmt::format(R"({{"type":"{}","id":"{}","op":"delete"}})", person ? "Person" : "City",
                    name));
    present_.erase(name);
  }

  void PutEdge(bool lives) {
    const std::string from = Name(true, static_cast<int>(Below(kNodes)));
    const std::string to = Name(!lives, static_cast<int>(Below(kNodes)));
    if (!present_.contains(from) || !present_.contains(to)) {
      return;
    }
    Add(fmt::format(R"({{"edge":"{}","id":"e{}","from":"{}","to":"{}","data":{{"v":{}}}}})",
                    lives ? "LivesIn" : "Knows", Below(6), from, to, ++value_));
    pending_ends_.insert(from);
    pending_ends_.insert(to);
    card_sent_ = card_sent_ || lives;
  }

  void AddRow() {
    const int n = static_cast<int>(Below(kNodes));
    switch (Below(10)) {
      case 0:
      case 1:
        return Put(true, n);
      case 2:
        return Put(false, n);
      case 3:
        return Delete(Below(2) == 0, n);
      case 4:
      case 5:
        return PutEdge(true);
      case 6:
        return Add(fmt::format(R"({{"edge":"{}","id":"e{}","op":"delete"}})",
                               Below(2) == 0 ? "LivesIn" : "Knows", Below(6)));
      default:
        return PutEdge(false);
    }
  }

  runtime::Simulator& sim_;
  int value_ = 0;
  Step step_;
  std::vector<Step> out_;
  std::set<std::string> present_;
  std::set<std::string> pending_ends_;
  bool card_sent_ = false;
};

struct State {
  std::map<std::string, std::string> visible;
  std::vector<testing::OracleRow> rejected;
  uint64_t acked = 0;
  bool operator==(const State&) const = default;
};

/// Send a history and fold its end. `fold_age` of nothing: only barriers fold.
void Send(World& world, const std::shared_ptr<store::ObjectStore>& store,
          const std::vector<Step>& history, const graph::IngestOptions& options) {
  auto graph = graph::Graph::Open(store);
  OG_CHECK_OK(graph);
  auto ingest = graph::StreamIngest::Start(*graph, options);
  OG_CHECK_OK(ingest);
  for (const Step& step : history) {
    if (step.barrier) {
      world.CheckStatus("fold", (*ingest)->Fold().status());
      continue;
    }
    auto session = (*ingest)->OpenSession({.actor = "client"});
    OG_CHECK_OK(session);
    OG_CHECK_OK((*session)->Push(step.lines));
    OG_CHECK_OK((*session)->Finish());
    if ((*session)->Summary().acked != step.rows) {
      world.Problem("a row was not acked, though nothing fails");
    }
    if (options.fold_in_background) {
      runtime::SleepFor(std::chrono::microseconds(world.Below(6'000)));
    }
  }
  OG_CHECK_OK((*ingest)->Fold());
  OG_CHECK_OK((*ingest)->Stop());
}

State StateOf(World& world, const std::shared_ptr<store::ObjectStore>& store) {
  auto graph = graph::Graph::Open(store);
  OG_CHECK_OK(graph);
  auto picture = TakePicture(**graph, *(*graph)->snapshot(), world);
  OG_CHECK_OK(picture);
  for (const std::string& problem : picture->problems) {
    world.Problem(problem);
  }
  State out{picture->observed.visible, picture->observed.rejected, 0};
  std::sort(out.rejected.begin(), out.rejected.end());
  for (const auto& [id, table] : (*graph)->snapshot()->tables) {
    out.acked += table.acked;
  }
  return out;
}

std::shared_ptr<store::ObjectStore> NewGraph() {
  auto store = std::make_shared<store::MemoryStore>();
  OG_CHECK_OK(graph::Graph::Init(store, kSchema, "test"));
  return store;
}

/// Folds from the logs at random moments, a random part of what stands there.
void CutAtRandom(World& world, const std::shared_ptr<store::ObjectStore>& store) {
  while (!world.stopping) {
    runtime::SleepFor(std::chrono::microseconds(world.Below(8'000)));
    auto graph = graph::Graph::Open(store);
    OG_CHECK_OK(graph);
    graph::IngestOptions options;
    options.fold_cut_bytes_max = 500 + world.Below(6'000);
    const auto report = graph::FoldFromLog(**graph, options);
    if (!report.ok() && !IsConflict(report.status())) {
      world.Problem("fold from the log: " + report.status().ToString());
    }
  }
}

std::string Describe(const State& state) {
  std::string out = fmt::format("{} acked\n", state.acked);
  for (const auto& [key, value] : state.visible) {
    out += fmt::format("  {} = {}\n", key, value);
  }
  for (const auto& [key, value] : state.rejected) {
    out += fmt::format("  rejected {} = {}\n", key, value.value_or("(deleted)"));
  }
  return out;
}

TEST(RandomCuts, WhereverAHistoryIsCut_ItEndsInOneState) {
  for (const uint64_t seed : testing::Seeds(20)) {
    SCOPED_TRACE(testing::RepeatCommand(seed));
    const runtime::SimResult result =
        runtime::RunSimulation({.seed = seed}, [&](runtime::Simulator& sim) {
          World world(sim, {});
          const std::vector<Step> history = HistoryMaker(sim).Make(60);
          int64_t rows = 0;
          for (const Step& step : history) {
            rows += step.rows;
          }
          const auto whole = NewGraph();
          graph::IngestOptions by_hand;
          by_hand.fold_in_background = false;
          Send(world, whole, history, by_hand);

          const auto cut = NewGraph();
          graph::IngestOptions often;
          often.fold_age = std::chrono::milliseconds(sim.NextRandomBelow(20));
          often.fold_cut_bytes_max = 1'000 + sim.NextRandomBelow(8'000);
          const auto folder = sim.StartProcess("folder", [&] { CutAtRandom(world, cut); });
          const auto server = sim.StartProcess("server", [&] { Send(world, cut, history, often); });
          sim.WaitForExit(server);
          world.stopping = true;
          sim.WaitForExit(folder);

          const State expected = StateOf(world, whole);
          const State found = StateOf(world, cut);
          EXPECT_EQ(expected.acked, static_cast<uint64_t>(rows));  // each row is counted once
          EXPECT_TRUE(expected == found) << "in whole segments:\n"
                                         << Describe(expected) << "at random:\n"
                                         << Describe(found);
          EXPECT_EQ(world.problems, std::vector<std::string>());
        });
    EXPECT_TRUE(result.ok()) << result.problem;
  }
}

}  // namespace
}  // namespace omnigraph::soak
