// Streams under kill -9, lost answers and several processes, in the simulator: the oracle counts
// every row (G1 to G7).
#include "omnigraph/runtime/sim.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest_world.h"
#include "omnigraph/graph/ingest/repair.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/oracle.h"
#include "omnigraph/testing/seeds.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using omnigraph::testing::Oracle;
using omnigraph::testing::Outcome;
using testing::Edge;
using testing::Process;

constexpr std::string_view kSimSchema =
    "node City @stream { name: String @key v: I32? }\n"
    "node Person @stream { name: String @key v: I32? }\n"
    "edge Knows: Person -> Person @stream { v: I32? }\n";

/// What all processes of one run share: the store, the oracle, a counter that makes every value
/// unique.
struct World {
  runtime::Simulator& sim;
  std::shared_ptr<store::MemoryStore> memory = std::make_shared<store::MemoryStore>();
  Oracle oracle;
  int next_value = 0;
  int rows_left = 0;
};

struct Row {
  std::string key;
  std::optional<std::string> value;
  std::string line;
};

/// Cities come and go; persons only come (their edges must not dangle, and must not be cascaded
/// away).
Row MakeRow(World& world) {
  const int value = ++world.next_value;
  const uint64_t kind = world.sim.NextRandomBelow(10);
  const std::string n = std::to_string(world.sim.NextRandomBelow(6));
  Row out;
  out.value = std::to_string(value);
  if (kind < 4) {
    out.key = "City/" + n;
    out.line = fmt::format(R"({{"type":"City","data":{{"name":"{}","v":{}}}}})", n, value);
  } else if (kind < 5) {
    out.key = "City/" + n;
    out.value = std::nullopt;
    out.line = fmt::format(R"({{"type":"City","id":"{}","op":"delete"}})", n);
  } else if (kind < 7) {
    out.key = "Person/" + n;
    out.line = fmt::format(R"({{"type":"Person","data":{{"name":"{}","v":{}}}}})", n, value);
  } else {
    const std::string to = std::to_string(world.sim.NextRandomBelow(8));  // 6 and 7 never exist
    out.key = "Knows/e" + n;
    out.line =
        fmt::format(R"({{"edge":"Knows","id":"e{}","from":"{}","to":"{}","data":{{"v":{}}}}})", n,
                    n, to, value);
  }
  out.line += "\n";
  return out;
}

/// Sends rows in small pushes until the world has none left, or it dies.
void Writer(World& world, std::shared_ptr<store::ObjectStore> store) {
  IngestOptions options;
  options.fold_age = std::chrono::milliseconds(40);
  options.wait_max = std::chrono::seconds(5);
  auto graph = Graph::Open(store);
  if (!graph.ok()) {
    return;
  }
  auto ingest = StreamIngest::Start(*graph, options);
  if (!ingest.ok()) {
    return;
  }
  while (world.rows_left > 0) {
    std::vector<Oracle::Ticket> tickets;
    std::string chunk;
    for (uint64_t i = 1 + world.sim.NextRandomBelow(4); i > 0; --i) {
      --world.rows_left;
      const Row row = MakeRow(world);
      tickets.push_back(world.oracle.Intend(row.key, row.value));
      chunk += row.line;
    }
    // Groups come per type; a line is settled by the group whose lines it lies between, so one row
    // per line is asked for by position.
    std::map<int64_t, Outcome> settled;
    const bool waits = world.sim.NextRandomBelow(2) == 0;
    const auto on_ack = [&settled](const AckEvent& event) {
      const Outcome outcome = event.outcome == AckEvent::Outcome::kAcked     ? Outcome::kAcked
                              : event.outcome == AckEvent::Outcome::kUnknown ? Outcome::kUnknown
                                                                             : Outcome::kRefused;
      for (int64_t line : event.lines) {
        settled[line] = outcome;
      }
    };
    auto session = (*ingest)->OpenSession({.wait_for_acks = waits, .on_ack = on_ack});
    OG_CHECK_OK(session);
    const Status pushed = (*session)->Push(chunk);
    OG_CHECK(!waits || !pushed.ok() || settled.size() == tickets.size());
    (void)(*session)->Finish();
    for (size_t i = 0; i < tickets.size(); ++i) {
      const auto found = settled.find(static_cast<int64_t>(i) + 1);
      world.oracle.Settle(tickets[i], found == settled.end() ? Outcome::kRefused : found->second);
    }
    runtime::SleepFor(std::chrono::milliseconds(world.sim.NextRandomBelow(20)));
  }
  (void)(*ingest)->Stop();
}

/// Folds from the logs, owning nothing.
void FolderLoop(World& world, std::shared_ptr<store::ObjectStore> store) {
  while (world.rows_left > 0) {
    auto graph = Graph::Open(store);
    if (graph.ok()) {
      (void)FoldFromLog(**graph, testing::ByHand());
    }
    runtime::SleepFor(std::chrono::milliseconds(30 + world.sim.NextRandomBelow(60)));
  }
}

store::FaultPlan PlanOf(uint64_t seed, bool faults) {
  store::FaultPlan plan;
  plan.seed = seed;
  if (faults) {
    plan.slow_ppm = 20'000;
    plan.fail_before_ppm = 4'000;
    plan.fail_after_ppm = 4'000;
    plan.late_effect_ppm = 2'000;
    plan.throttled_ppm = 4'000;
    plan.slow_max = std::chrono::milliseconds(30);
  }
  return plan;
}

std::string ValueIn(const std::string& line) {
  const size_t at = line.rfind("\"v\":");
  return at == std::string::npos ? "" : line.substr(at + 4, line.find('}', at) - at - 4);
}

omnigraph::testing::Observed Observe(Graph& graph) {
  omnigraph::testing::Observed out;
  for (const char* type : {"City", "Person", "Knows"}) {
    for (const auto& [id, line] : testing::RowsOf(graph, type)) {
      out.visible[std::string(type) + "/" + id] = ValueIn(line);
    }
  }
  for (const Reject& reject : testing::RejectsOf(graph)) {
    out.rejected.emplace_back(reject.type + "/" + reject.entity_id, ValueIn(reject.row));
  }
  return out;
}

/// The last process: nothing fails any more; folds all, and shows what is there.
void Judge(World& world) {
  Process last = testing::StartOn(world.memory);
  OG_ASSERT_OK(last.ingest->Fold());
  const omnigraph::testing::Verdict verdict = world.oracle.Judge(Observe(*last.graph));
  EXPECT_TRUE(verdict.ok()) << verdict.ToString();
  const std::set<std::string> persons = testing::IdsOf(*last.graph, "Person");
  for (const std::string& ends : testing::EndsOf(*last.graph, "Knows")) {
    EXPECT_TRUE(persons.contains(ends.substr(0, 1)) && persons.contains(ends.substr(2, 1))) << ends;
  }
  OG_ASSERT_OK_AND_ASSIGN(const IngestStatus status, last.ingest->Status());
  uint64_t acked = 0;
  for (const ShardStatus& shard : status.shards) {
    EXPECT_EQ(shard.pending, 0u);
    EXPECT_EQ(shard.acked, shard.visible + shard.superseded + shard.rejected);  // G2
    acked += shard.acked;
  }
  // Rows of unknown outcome may or may not stand in the log; all others are counted exactly.
  EXPECT_GE(acked, verdict.counts.acked);
  EXPECT_LE(acked, verdict.counts.acked + verdict.counts.unknown);
}

runtime::SimResult RunSeed(uint64_t seed, bool faults, bool kills, bool folder) {
  runtime::SimOptions options;
  options.seed = seed;
  options.kill_at_fail_point = kills ? 0.01 : 0;
  return runtime::RunSimulation(options, [&](runtime::Simulator& sim) {
    World world{sim};
    world.rows_left = 120;
    OG_ASSERT_OK(Graph::Init(world.memory, kSimSchema, "test"));
    const auto store = std::make_shared<store::FaultyStore>(world.memory, PlanOf(seed, faults));
    runtime::SimProcess second{};
    if (folder) {
      second = sim.StartProcess("folder", [&] { FolderLoop(world, store); });
    }
    for (int life = 0; life < 60 && world.rows_left > 0; ++life) {
      const auto writer = sim.StartProcess("writer", [&] { Writer(world, store); });
      sim.WaitForExit(writer);
      world.oracle.SettleOpenAsUnknown();
      if (folder && !sim.IsAlive(second)) {
        second = sim.StartProcess("folder", [&] { FolderLoop(world, store); });
      }
    }
    world.rows_left = 0;
    if (folder) {
      sim.WaitForExit(second);
    }
    store->SetPlan({});
    store->ReleaseLate();
    Judge(world);
  });
}

TEST(StreamSim, WhenNothingFails_EveryRowIsCounted) {
  for (const uint64_t seed : omnigraph::testing::Seeds(4)) {
    SCOPED_TRACE(omnigraph::testing::RepeatCommand(seed));
    const runtime::SimResult result = RunSeed(seed, false, false, true);
    EXPECT_TRUE(result.ok()) << result.problem;
  }
}

TEST(StreamSim, WhenProcessesAreKilled_EveryAckedRowHasOneEnd) {
  for (const uint64_t seed : omnigraph::testing::Seeds(12)) {
    SCOPED_TRACE(omnigraph::testing::RepeatCommand(seed));
    const runtime::SimResult result = RunSeed(seed, false, true, seed % 2 == 0);
    EXPECT_TRUE(result.ok()) << result.problem;
  }
}

TEST(StreamSim, WhenAnswersAreLostToo_EveryAckedRowHasOneEnd) {
  for (const uint64_t seed : omnigraph::testing::Seeds(12)) {
    SCOPED_TRACE(omnigraph::testing::RepeatCommand(seed));
    const runtime::SimResult result = RunSeed(seed, true, seed % 3 != 0, seed % 2 == 0);
    EXPECT_TRUE(result.ok()) << result.problem;
  }
}

// S7, S9: a log is repaired only when nobody can own it any more; until then the answer names the
// owner.
TEST(StreamSim, RepairLog_WaitsForTheOwnerToBeGone) {
  const runtime::SimResult result = runtime::RunSimulation({}, [](runtime::Simulator& sim) {
    const auto memory = std::make_shared<store::MemoryStore>();
    OG_ASSERT_OK(Graph::Init(memory, kSimSchema, "test"));
    const auto owner = sim.StartProcess("owner", [&] {
      Process process = testing::StartOn(memory);
      process.Send(R"({"type":"City","data":{"name":"ulm"}})"
                   "\n");
      runtime::SleepFor(std::chrono::minutes(5));
    });
    runtime::SleepFor(std::chrono::seconds(5));
    OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(memory));
    OG_EXPECT_ERROR(RepairLog(*graph, "Person", true), ErrorKind::kInvalid, "memwal.not_torn");
    OG_EXPECT_ERROR(RepairLog(*graph, "Nobody", true), ErrorKind::kNotFound, "ingest.no_log");
    OG_EXPECT_ERROR(RepairLog(*graph, "City", true), ErrorKind::kFenced, "ingest.not_owner");
    sim.Kill(owner);
    OG_EXPECT_ERROR(RepairLog(*graph, "City", true), ErrorKind::kInvalid, "memwal.not_torn");
  });
  EXPECT_TRUE(result.ok()) << result.problem;
}

TEST(StreamSim, WhenASeedRunsTwice_TheRunsAreEqual) {
  EXPECT_EQ(RunSeed(5, true, true, true), RunSeed(5, true, true, true));
}

}  // namespace
}  // namespace omnigraph::graph
