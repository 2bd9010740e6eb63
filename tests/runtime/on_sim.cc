#include <gtest/gtest.h>

#include "machine.h"
#include "omnigraph/runtime/sim.h"

namespace omnigraph::runtime {

void OnMachine(const std::function<void()>& body) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const SimResult result = RunSimulation({.seed = seed}, [&](Simulator&) { body(); });
    ASSERT_EQ(result.problem, "");
    ASSERT_EQ(result.parked, 0u);
  }
}

}  // namespace omnigraph::runtime
