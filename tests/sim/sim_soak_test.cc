// The whole system in the simulator, seed by seed: README.md of this folder. G1 to G8, G12, C6.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "omnigraph/testing/seeds.h"
#include "soak_run.h"

namespace omnigraph::soak {
namespace {

/// Runs seeds, and sums up what happened in them.
class Soak : public ::testing::Test {
 protected:
  void RunSeed(const SoakOptions& options) {
    const SoakResult result = RunSoak(options);
    for (const auto& [name, count] : result.events) {
      events_[name] += count;
    }
    EXPECT_TRUE(result.ok()) << omnigraph::testing::RepeatCommand(options.seed) << "\n"
                             << result.ToString();
  }

  /// OMNIGRAPH_SOAK_EVENTS=1 prints how often what happened.
  void TearDown() override {
    if (std::getenv("OMNIGRAPH_SOAK_EVENTS") == nullptr) {
      return;
    }
    for (const auto& [name, count] : events_) {
      std::printf("%12llu  %s\n", static_cast<unsigned long long>(count), name.c_str());
    }
  }

  std::map<std::string, uint64_t> events_;
};

TEST_F(Soak, WhateverFails_EveryAckedRowHasOneEnd) {
  for (const uint64_t seed : omnigraph::testing::Seeds(100)) {
    RunSeed({.seed = seed});
  }
}

TEST_F(Soak, OnADiskWithoutJournal_AShardStopsAtMostForAnUnackedTornTail) {  // S7, P2
  for (const uint64_t seed : omnigraph::testing::Seeds(15)) {
    RunSeed(
        {.seed = seed, .place = SoakOptions::Place::kDisk, .model = store::DiskModel::kNoJournal});
  }
}

TEST(SoakDeterminism, WhenASeedRunsTwice_TheRunsAndTheStoredBytesAreEqual) {
  for (const uint64_t seed : omnigraph::testing::Seeds(4)) {
    SCOPED_TRACE(omnigraph::testing::RepeatCommand(seed));
    const SoakResult first = RunSoak({.seed = seed, .rows = 40});
    const SoakResult second = RunSoak({.seed = seed, .rows = 40});
    EXPECT_EQ(first.sim, second.sim);
    EXPECT_EQ(first.events, second.events);
    ASSERT_EQ(first.sim.digests.size(), 1u);
  }
}

}  // namespace
}  // namespace omnigraph::soak
