// Owners of one shard on the simulated machine: processes that claim, append, fold, advance and
// collect, that are killed, lose answers and lose power. One run is a function of its seed; a
// failing seed is printed and repeats.
//
// Checked at the end of every run (G1, G2, G3, G6, G7): each acked row is in the base or in the log
// exactly once, at the receipt that was given; a row said to be surely not written is nowhere; no
// row is anywhere twice.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "memwal_builders.h"
#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/random.h"
#include "omnigraph/runtime/sim.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/store/simulated_disk.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

using testing::Request;
using testing::RowsOf;
using testing::TestRow;
using testing::TestShard;

/// How many seeds to run; OMNIGRAPH_SIM_SEEDS asks for more.
uint64_t Seeds(uint64_t usual) {
  const char* asked = std::getenv("OMNIGRAPH_SIM_SEEDS");
  return asked == nullptr ? usual : std::strtoull(asked, nullptr, 10);
}

/// What the clients know. Only one simulated thread runs at a time, and nothing here is a
/// scheduling point: no locks.
struct Oracle {
  std::map<std::string, std::pair<uint64_t, int64_t>> acked;  // position and row of the receipt
  std::set<std::string> refused;                              // surely not written
  std::set<std::string> unknown;
  std::map<uint64_t, uint64_t> epoch_of_position;
  std::string broken;  // the first broken promise

  void Settle(const std::string& id, const Result<Receipt>& result) {
    if (result.ok()) {
      acked[id] = {result->position, result->first_row};
      const auto [at, fresh] = epoch_of_position.try_emplace(result->position, result->epoch);
      if (!fresh && at->second != result->epoch) {
        broken = "two epochs acked at one position";
      }
    } else if (GetErrorDetail(result.status())->effect_unknown()) {
      unknown.insert(id);
    } else {
      refused.insert(id);
    }
  }
};

/// The published state: what a fold's publish guards (W2).
struct Base {
  uint64_t published = 0;
  std::map<std::string, int> rows;
  std::map<std::string, std::pair<uint64_t, int64_t>> places;
};

/// Read the tail and publish it, unless somebody else published meanwhile.
Status Fold(const ShardLocation& shard, Base* base) {
  const uint64_t from = base->published;
  std::vector<std::pair<std::string, std::pair<uint64_t, int64_t>>> rows;
  OG_ASSIGN_OR_RETURN(const LogTail tail,
                      LogReader(shard).ReadAfter(from, [&](const LogEntry& entry) {
                        int64_t row = 0;
                        for (const TestRow& test_row : RowsOf(entry)) {
                          rows.emplace_back(test_row.id, std::pair(entry.position, row++));
                        }
                        return Status::OK();
                      }));
  if (base->published != from || rows.empty()) {
    return Status::OK();
  }
  base->published = tail.tip - 1;
  for (const auto& [id, place] : rows) {
    ++base->rows[id];
    base->places[id] = place;
  }
  return Status::OK();
}

/// One run of one server process: claim until it works, then append, fold, advance, collect, at
/// random.
class Server {
 public:
  /// `polite`: asks for heartbeats before it claims (S9). Else it claims whenever it likes: S9
  /// makes that rare, the other rules make it safe.
  Server(std::shared_ptr<store::ObjectStore> store, Oracle* oracle, Base* base, int* next_id,
         bool polite)
      : store_(std::move(store)),
        oracle_(oracle),
        base_(base),
        next_id_(next_id),
        polite_(polite) {}

  void Run(int rounds) {
    ProcessRegistryOptions registry_options;
    registry_options.takeover_after = std::chrono::seconds(2);
    registry_options.beat_every = std::chrono::milliseconds(500);
    const auto registry = ProcessRegistry::Start(store_, registry_options);
    if (!registry.ok()) {
      return;
    }
    for (int round = 0; round < rounds; ++round) {
      ClaimOptions options;
      if (polite_) {
        options.registry = *registry;
      }
      options.published = base_->published;
      options.settle = {.tries = 6,
                        .pause = std::chrono::milliseconds(5),
                        .pause_max = std::chrono::milliseconds(50)};
      const auto writer = ShardWriter::Claim(TestShard(store_), options, nullptr);
      if (writer.ok()) {
        Own(writer->get());
      }
      Pause(polite_ ? 900 : 60);
    }
  }

 private:
  void Own(ShardWriter* writer) {
    std::vector<runtime::Thread> producers;
    for (int p = 0; p < 2; ++p) {
      producers.push_back(runtime::Thread::Start("producer", [this, writer] { Produce(writer); }));
    }
    for (int i = 0; i < 6 && writer->status().ok(); ++i) {
      Pause(30);
      if (!Fold(writer->location(), base_).ok()) {
        continue;
      }
      if (writer->AdvanceReplayAfter(std::min(base_->published, writer->last_position())).ok()) {
        const auto ignored = writer->Collect(base_->published);
        (void)ignored;
      }
    }
    producers.clear();
    const Status ignored = writer->Stop();
    (void)ignored;
  }

  static void Pause(uint64_t most_ms) {
    runtime::SleepFor(
        std::chrono::milliseconds(static_cast<int64_t>(runtime::RandomU64() % most_ms)));
  }

  void Produce(ShardWriter* writer) {
    for (int i = 0; i < 8; ++i) {
      const std::string id = "row-" + std::to_string((*next_id_)++);
      oracle_->unknown.insert(id);  // until settled: the process may die
      AppendRequest request = Request(id);
      request.on_settled = [this, id](const Result<Receipt>& result) {
        oracle_->unknown.erase(id);
        oracle_->Settle(id, result);
      };
      Status accepted;
      if (runtime::RandomU64() % 2 == 0) {
        accepted = writer->Append(std::move(request));
      } else {
        accepted = writer->AppendAndWait(std::move(request)).status();
      }
      if (!accepted.ok() && oracle_->unknown.contains(id) &&
          !GetErrorDetail(accepted)->effect_unknown()) {
        oracle_->unknown.erase(id);
        oracle_->refused.insert(id);
      }
      Pause(12);
    }
  }

  std::shared_ptr<store::ObjectStore> store_;
  Oracle* oracle_;
  Base* base_;
  int* next_id_;
  bool polite_;
};

/// After everything: a clean owner folds what is left, and the promises are compared with what
/// stands.
void CheckEnd(const std::shared_ptr<store::ObjectStore>& store, Oracle* oracle, Base* base) {
  ClaimOptions options;
  options.published = base->published;
  const auto writer = ShardWriter::Claim(TestShard(store), options, nullptr);
  ASSERT_TRUE(writer.ok()) << writer.status().ToString();
  OG_ASSERT_OK(Fold(TestShard(store), base));
  EXPECT_EQ(oracle->broken, "");
  for (const auto& [id, count] : base->rows) {
    EXPECT_EQ(count, 1) << id << " was applied " << count << " times";
  }
  for (const auto& [id, place] : oracle->acked) {
    EXPECT_TRUE(base->rows.contains(id)) << id << " was acked and is lost";
    EXPECT_EQ(base->places[id], place) << id << " stands elsewhere than its receipt says";
  }
  for (const std::string& id : oracle->refused) {
    EXPECT_FALSE(base->rows.contains(id)) << id << " was said to be not written";
  }
}

// Kills at fail points and lost, unanswered, late and throttled puts, on three hosts.
runtime::SimResult RunWithFaults(uint64_t seed, size_t* acked = nullptr) {
  return runtime::RunSimulation(
      {.seed = seed, .kill_at_fail_point = 0.002}, [&](runtime::Simulator& sim) {
        auto memory = std::make_shared<store::MemoryStore>();
        auto faulty = std::make_shared<store::FaultyStore>(
            memory, store::FaultPlan{.seed = seed,
                                     .slow_ppm = 100'000,
                                     .fail_before_ppm = 20'000,
                                     .fail_after_ppm = 20'000,
                                     .late_effect_ppm = 30'000,
                                     .throttled_ppm = 5'000,
                                     .slow_max = std::chrono::milliseconds(300),
                                     .late_calls_max = 60});
        Oracle oracle;
        Base base;
        int next_id = 0;
        std::vector<runtime::SimProcess> processes;
        for (int p = 0; p < 6; ++p) {
          processes.push_back(sim.StartProcess(
              "server" + std::to_string(p),
              [&] { Server(faulty, &oracle, &base, &next_id, seed % 3 == 0).Run(8); },
              "host" + std::to_string(p % 3)));
          runtime::SleepFor(
              std::chrono::milliseconds(static_cast<int64_t>(sim.NextRandomBelow(400))));
          if (sim.NextRandomBelow(3) == 0) {
            sim.Kill(processes[sim.NextRandomBelow(processes.size())]);
          }
        }
        for (const runtime::SimProcess process : processes) {
          sim.WaitForExit(process);
        }
        faulty->ReleaseLate();
        CheckEnd(memory, &oracle, &base);
        if (acked != nullptr) {
          *acked += oracle.acked.size();
        }
      });
}

TEST(ShardSim, WithKillsAndFaults_KeepsEveryPromise) {
  size_t acked = 0;
  for (uint64_t seed = 1; seed <= Seeds(60); ++seed) {
    const runtime::SimResult result = RunWithFaults(seed, &acked);
    ASSERT_TRUE(result.ok()) << result.problem;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(acked, 1000);  // the runs are not empty
}

TEST(ShardSim, OneSeed_IsOneRun) {
  EXPECT_EQ(RunWithFaults(7), RunWithFaults(7));
}

// Power cuts: what was acked stands on the disk, whatever part of the rest came back (G1, P2, S6,
// S7).
TEST(ShardSim, WithPowerCuts_KeepsEveryPromise) {
  size_t acked = 0;
  for (uint64_t seed = 1; seed <= Seeds(40); ++seed) {
    const runtime::SimResult result =
        runtime::RunSimulation({.seed = seed}, [&](runtime::Simulator& sim) {
          auto disk = std::make_shared<store::SimulatedDisk>(
              store::SimulatedDiskOptions{.sync_time = std::chrono::microseconds(300)});
          Oracle oracle;
          Base base;
          int next_id = 0;
          for (int cut = 0; cut < 3; ++cut) {
            for (int p = 0; p < 2; ++p) {
              sim.StartProcess("server", [&] {
                Server(store::LocalStore::Make(disk, {.open_ahead = 0}), &oracle, &base, &next_id,
                       seed % 3 == 0)
                    .Run(6);
              });
            }
            runtime::SleepFor(
                std::chrono::milliseconds(20 + static_cast<int64_t>(sim.NextRandomBelow(2500))));
            sim.PowerCut("host1");
            disk->PowerCut(sim.NextRandom());
          }
          CheckEnd(store::LocalStore::Make(disk, {.open_ahead = 0}), &oracle, &base);
          acked += oracle.acked.size();
        });
    ASSERT_TRUE(result.ok()) << result.problem;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(acked, 200);
}

// S9 on the virtual clock: a living owner is left alone, a silent one is replaced after the time
// and not before.
TEST(ShardSim, Takeover_WaitsForSilence) {
  const runtime::SimResult result =
      runtime::RunSimulation({.seed = 3}, [](runtime::Simulator& sim) {
        auto store = std::make_shared<store::MemoryStore>();
        const runtime::SimProcess owner = sim.StartProcess(
            "owner",
            [&] {
              ClaimOptions options;
              options.registry = *ProcessRegistry::Start(store, {.address = "owner:1"});
              const auto writer = *ShardWriter::Claim(TestShard(store), options, nullptr);
              runtime::SleepFor(std::chrono::hours(1));
            },
            "hostA");
        runtime::SleepFor(std::chrono::seconds(1));
        bool claimed = false;
        runtime::Duration took{};
        const runtime::SimProcess other = sim.StartProcess(
            "other",
            [&] {
              ClaimOptions options;
              options.registry = *ProcessRegistry::Start(store, {.address = "other:1"});
              const runtime::Duration began = runtime::MonotonicNow();
              while (!claimed) {
                const auto writer = ShardWriter::Claim(TestShard(store), options, nullptr);
                claimed = writer.ok();
                took = runtime::MonotonicNow() - began;
                if (!claimed) {
                  OG_EXPECT_ERROR(writer, ErrorKind::kFenced, "ingest.not_owner");
                  runtime::SleepFor(std::chrono::milliseconds(500));
                }
              }
            },
            "hostB");
        runtime::SleepFor(std::chrono::seconds(120));
        EXPECT_FALSE(claimed) << "a living owner was replaced";
        const runtime::Duration killed_at = sim.Now();
        sim.Kill(owner);
        sim.WaitForExit(other);
        EXPECT_TRUE(claimed);
        EXPECT_GE(sim.Now() - killed_at,
                  std::chrono::seconds(12));  // 15 s from the last beat, at most 3 s before
        EXPECT_LE(sim.Now() - killed_at, std::chrono::seconds(17));
      });
  EXPECT_TRUE(result.ok()) << result.problem;
}

// The same host: a process that no longer runs counts as gone at once.
TEST(ShardSim, Takeover_OfADeadProcessOfTheSameHost_IsImmediate) {
  const runtime::SimResult result =
      runtime::RunSimulation({.seed = 4}, [](runtime::Simulator& sim) {
        auto store = std::make_shared<store::MemoryStore>();
        const auto claim_and_sleep = [&] {
          ClaimOptions options;
          options.registry = *ProcessRegistry::Start(store, {});
          const auto writer = ShardWriter::Claim(TestShard(store), options, nullptr);
          EXPECT_TRUE(writer.ok()) << writer.status().ToString();
          runtime::SleepFor(std::chrono::seconds(10));
        };
        const runtime::SimProcess first = sim.StartProcess("first", claim_and_sleep);
        runtime::SleepFor(std::chrono::seconds(1));
        sim.Kill(first);
        sim.WaitForExit(sim.StartProcess("second", claim_and_sleep));
      });
  EXPECT_TRUE(result.ok()) << result.problem;
}

}  // namespace
}  // namespace omnigraph::lance
