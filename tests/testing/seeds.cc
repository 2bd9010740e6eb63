#include "omnigraph/testing/seeds.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

namespace omnigraph::testing {
namespace {

uint64_t NumberFromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

std::vector<uint64_t> Seeds(uint64_t count) {
  constexpr uint64_t kNone = ~uint64_t{0};
  const uint64_t only = NumberFromEnvironment("OMNIGRAPH_SEED", kNone);
  if (only != kNone) {
    return {only};
  }
  const uint64_t first = NumberFromEnvironment("OMNIGRAPH_FIRST_SEED", 1);
  std::vector<uint64_t> seeds(NumberFromEnvironment("OMNIGRAPH_SEEDS", count));
  for (size_t i = 0; i < seeds.size(); ++i) {
    seeds[i] = first + i;
  }
  return seeds;
}

std::string RepeatCommand(uint64_t seed) {
  std::string command = "repeat: OMNIGRAPH_SEED=" + std::to_string(seed) + " ";
  command += program_invocation_name;
  if (const auto* test = ::testing::UnitTest::GetInstance()->current_test_info()) {
    command +=
        std::string(" --gtest_filter='") + test->test_suite_name() + "." + test->name() + "'";
  }
  return command;
}

}  // namespace omnigraph::testing
