/// \file
/// The simulated machine, for tests: a whole system (several processes, hosts, crashes) as one
/// function of a seed.
///
/// Threads are real, but only the holder of the baton runs; the others wait. Every primitive of
/// runtime is a scheduling point, at which the seed may pass the baton on. Time is virtual. A test
/// that links runtime_sim wraps its body in RunSimulation(); outside of it primitives work for one
/// thread, at time 0, with a fixed seed.
///
/// How a kill works: each thread of the process leaves by an internal exception, thrown at its next
/// (or present) scheduling point, latest started first, while nobody else runs. Its destructors
/// run, and nothing blocks in them: locks are taken if they are free, waits return at once, joins
/// let the joined thread leave first. A thread that cannot leave (the exception meets a noexcept
/// function, or a loop that waits for ever) is parked: it stands still until the test program ends,
/// and holds no lock. What destructors of a dead process would do to the outside world must not
/// happen: stores and devices refuse calls where InKilledProcess().
///
/// What simulated code must keep: a destructor stops its threads by flag, notification and join,
/// not by waiting for a condition that only they can bring about; a body of RunSimulation() waits
/// for its processes, or kills them, before the locals that they borrow go. Two things to avoid: a
/// primitive inside the initializer of a function-local static (the language's own lock would be
/// held while the baton moves), and NotifyOne() on a condition shared between processes (the one
/// woken may die with the message).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/process.h"

namespace omnigraph::runtime {

/// What a run depends on. Equal options and an equal body give an equal run.
struct SimOptions {
  uint64_t seed = 1;
  /// Chance, at each fail point that a process other than the test's own reaches, that the process
  /// dies there.
  double kill_at_fail_point = 0;
  /// What one scheduling point costs in virtual time, so that a loop that only looks at the clock
  /// ends. 0: time moves only by sleeps and waits, whatever the code does between them.
  Duration step_time = std::chrono::nanoseconds(200);
  /// A run with more scheduling points than this makes no progress, and ends with a problem.
  uint64_t steps_max = 200'000'000;
  /// The same in virtual time: a heartbeat must not hide that everybody else waits for ever.
  Duration time_max = std::chrono::hours(24);
};

/// What a run left. Equal for equal options: that is what a determinism test compares.
struct SimResult {
  uint64_t seed = 0;
  std::string
      problem;  ///< empty, or why the run was broken off: a deadlock with every thread's place
  uint64_t trace_hash = 0;   ///< over every scheduling decision, kill and MixIntoTrace()
  Duration end_time{};       ///< of the virtual clock
  uint64_t next_random = 0;  ///< what RandomU64() would have given next
  uint64_t steps = 0;        ///< scheduling points
  uint64_t switches = 0;     ///< of the baton
  uint64_t kills = 0;        ///< of processes
  uint64_t parked = 0;       ///< threads that could not leave when killed
  std::vector<std::pair<std::string, uint64_t>> digests;  ///< of AddDigest()

  bool ok() const { return problem.empty(); }
  bool operator==(const SimResult&) const = default;
};

/// Names one run of one simulated process. Value.
struct SimProcess {
  int index = 0;
  auto operator<=>(const SimProcess&) const = default;
};

/// The handle that a test's body has on its machine. Thread-safe (only one thread runs).
class Simulator {
 public:
  /// Start a process; its threads are the one of `main` and all that these start. It ends when
  /// `main` returns: what still runs in it then is killed, as by exit(). Processes of one host
  /// share its boot id; each host's wall clock is off by a few seconds of its own.
  SimProcess StartProcess(std::string name, std::function<void()> main, std::string host = "host1");
  /// Kill -9. On return no thread of the process runs any more (unless the caller is one: it leaves
  /// at its next scheduling point). Nothing to do when it has ended.
  void Kill(SimProcess process);
  /// Kill every process of the host and give it a new boot id. The test's own process survives; the
  /// simulated disk is told by the test.
  void PowerCut(const std::string& host);
  /// Block until the process has ended, by itself or killed.
  void WaitForExit(SimProcess process);
  bool IsAlive(SimProcess process) const;
  /// As CurrentProcess() answers inside of it.
  const ProcessIdentity& Identity(SimProcess process) const;

  /// Kill the process that reaches fail point `name` (any, if empty) at its `hit`-th time from now,
  /// 1 being the next. The test's own process is not counted. Once; calls add up.
  void KillAtFailPoint(std::string name, uint64_t hit);
  /// How often each fail point was reached by processes other than the test's.
  const std::map<std::string, uint64_t>& FailPointHits() const;

  /// Virtual time; not a scheduling point.
  Duration Now() const;
  uint64_t TraceHash() const;
  /// Chance for the test's own decisions (workloads, faults): a stream apart from the one that
  /// RandomU64() draws from.
  uint64_t NextRandom();
  /// NextRandom() in [0, bound). REQUIRES: bound > 0.
  uint64_t NextRandomBelow(uint64_t bound);

  /// Make `bytes` part of the trace hash: a simulated disk hands over what it stores.
  void MixIntoTrace(std::string_view bytes);
  /// Call `digest` at the end of the run, when every other thread is gone, and keep its value in
  /// the result: the state of a simulated disk. Called in the order added.
  void AddDigest(std::string name, std::function<uint64_t()> digest);

 private:
  friend SimResult RunSimulation(const SimOptions& options,
                                 const std::function<void(Simulator&)>& body);
  Simulator() = default;
};

/// Run `body` as the first thread of the test's own process ("test", on "host0"). When it returns,
/// every process left is killed. A problem (deadlock, no progress) kills everything, the body
/// included, and stands in the result.
///
/// Threads: one simulation at a time in a program. A crash of the program prints the seed.
SimResult RunSimulation(const SimOptions& options, const std::function<void(Simulator&)>& body);

}  // namespace omnigraph::runtime
