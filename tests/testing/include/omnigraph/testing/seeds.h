/// \file
/// The seeds that a simulation test runs, and how to repeat one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace omnigraph::testing {

/// `count` seeds from 1; the environment may ask for others: OMNIGRAPH_SEED=<n> runs that one
/// alone, OMNIGRAPH_SEEDS=<n> asks for n instead of `count`, OMNIGRAPH_FIRST_SEED=<n> counts from
/// n.
std::vector<uint64_t> Seeds(uint64_t count);

/// For SCOPED_TRACE: the command that repeats the running test with one seed.
std::string RepeatCommand(uint64_t seed);

}  // namespace omnigraph::testing
