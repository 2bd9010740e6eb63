// The local store on the simulated machine: several processes race for a numbered chain, die, and
// lose power.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "omnigraph/base/hash.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/sim.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/simulated_disk.h"

namespace omnigraph::store {
namespace {

using runtime::SimOptions;
using runtime::SimProcess;
using runtime::SimResult;
using runtime::Simulator;

std::string Entry(int process, int position) {
  std::string bytes = std::to_string(process) + "/" + std::to_string(position) + ";";
  bytes.resize(static_cast<size_t>(position * 1'733 % 9'000) + bytes.size(),
               static_cast<char>('a' + process));
  return bytes;
}

/// What the processes were told. Only one thread runs at a time.
struct Acks {
  std::map<std::string, std::string> bytes;
  int lost_races = 0;
};

/// Put 20 entries at the first free positions of one chain.
void Race(const std::shared_ptr<SimulatedDisk>& disk, int process, Acks* acks) {
  const auto store = LocalStore::Make(disk);
  int position = 0;
  for (int done = 0; done < 20; ++position) {
    const std::string path = "t/log/" + std::to_string(position);
    const std::string bytes = Entry(process, position);
    const PutStrength strength = done % 4 == 0 ? PutStrength::kStrict : PutStrength::kOrdered;
    const Status status = store->PutIfAbsent(path, BytesOf(bytes), strength);
    if (status.ok()) {
      acks->bytes[path] = bytes;
      ++done;
    } else if (IsAlreadyExists(status)) {
      ++acks->lost_races;
    } else {
      return;
    }
  }
}

uint64_t DigestOf(const SimulatedDisk& disk) {
  std::string all;
  for (const auto& [path, bytes] : disk.Image()) {
    all += path + "=" + bytes + ";";
  }
  return XxHash64(all);
}

void Scenario(Simulator& sim, DiskModel model) {
  SimulatedDiskOptions options;
  options.model = model;
  options.sync_time = std::chrono::microseconds(100);
  auto disk = std::make_shared<SimulatedDisk>(options);
  sim.AddDigest("disk", [disk] { return DigestOf(*disk); });
  auto acks = std::make_shared<Acks>();
  std::vector<SimProcess> processes;
  for (int process = 0; process < 3; ++process) {
    processes.push_back(sim.StartProcess("putter", [=] { Race(disk, process, acks.get()); }));
  }
  runtime::SleepFor(std::chrono::microseconds(100 + sim.NextRandomBelow(8'000)));
  sim.Kill(processes[0]);
  if (sim.NextRandomBelow(2) == 0) {
    runtime::SleepFor(std::chrono::microseconds(sim.NextRandomBelow(4'000)));
    sim.PowerCut("host1");
    disk->PowerCut(sim.NextRandom());
  } else {
    sim.WaitForExit(processes[1]);
    sim.WaitForExit(processes[2]);
    EXPECT_GE(acks->bytes.size(), 40u);
  }
  const DiskImage image = disk->Image();
  for (const auto& [path, bytes] : acks->bytes) {
    ASSERT_TRUE(image.contains(path)) << path << " was acked and is gone";
    EXPECT_TRUE(image.at(path) == bytes) << path << " was acked with other bytes";
  }
}

// P1, P4, B70: whatever dies, each acked object stands with the bytes of the one who was told so.
TEST(StoreOnSimulatedMachine, AckedStands_WhoeverDies) {
  for (const DiskModel model : {DiskModel::kJournal, DiskModel::kNoJournal, DiskModel::kWeak}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SimOptions options;
      options.seed = seed;
      const SimResult result =
          runtime::RunSimulation(options, [&](Simulator& sim) { Scenario(sim, model); });
      ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << result.problem;
    }
  }
}

TEST(StoreOnSimulatedMachine, SameSeed_SameRunAndSameBytes) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SimOptions options;
    options.seed = seed;
    const auto run = [&] {
      return runtime::RunSimulation(options,
                                    [](Simulator& sim) { Scenario(sim, DiskModel::kJournal); });
    };
    EXPECT_EQ(run(), run()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace omnigraph::store
