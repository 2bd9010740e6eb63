/// \file
/// Time: the only clocks and the only sleep of the project. Under the simulator time is virtual: it
/// moves a little with every step and jumps to the next sleeper when nobody can run.
#pragma once

#include <chrono>

namespace omnigraph::runtime {

using Duration = std::chrono::nanoseconds;

/// Read the steady clock. Never goes back; its origin means nothing outside this process.
///
/// Threads: Thread-safe.
Duration MonotonicNow();

/// Read the wall clock, since the Unix epoch. May go back (an operator, NTP): never subtract two
/// readings to wait.
///
/// Threads: Thread-safe.
std::chrono::microseconds WallNow();

/// Block this thread for at least `duration`; returns at once when it is not positive.
void SleepFor(Duration duration);

}  // namespace omnigraph::runtime
