/// \file
/// The baton: who runs, who is ready, who waits for what, and how a killed thread leaves. Private
/// to the simulator; primitives.cc builds runtime's primitives on it, simulator.cc the interface
/// for tests.
///
/// INVARIANT: exactly one thread of the simulation runs, the holder of the baton. So nothing here
/// is locked: the semaphore that passes the baton also orders all memory.
#pragma once

#include <semaphore.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../ulid_source.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/sim.h"
#include "sim_random.h"

namespace omnigraph::runtime::internal {

struct SimThread;
class Scheduler;

/// Leaves a thread of a killed process. Deliberately not a std::exception: code that catches those
/// lets it pass.
struct ProcessKilled {};

constexpr Duration kNever = Duration::max();

struct MutexImpl {
  SimThread* owner = nullptr;
  bool held_outside = false;        ///< by code that runs outside of a simulation
  std::vector<SimThread*> waiters;  ///< blocked in Lock
};

struct CondVarImpl {
  std::vector<SimThread*> waiters;
};

/// One simulated process.
struct SimProcessState {
  int index = 0;
  std::string name;
  std::string host;
  ProcessIdentity identity;
  UlidSource ulids;
  std::vector<SimThread*> threads;  ///< in the order started; ended ones stay
  size_t live_threads = 0;
  bool killed = false;  ///< its threads must leave
  std::vector<SimThread*> exit_waiters;

  bool ended() const { return live_threads == 0; }
};

/// One thread of the simulation, and the real thread that carries it.
struct SimThread {
  enum class State { kReady, kRunning, kBlocked, kHandedOver, kEnded, kParked };

  SimThread() { sem_init(&baton, 0, 0); }
  ~SimThread() { sem_destroy(&baton); }

  uint32_t id = 0;
  std::string name;
  SimProcessState* process = nullptr;
  std::function<void()> body;
  std::thread carrier;
  sem_t baton;

  State state = State::kReady;
  uint64_t priority = 0;  ///< in runs scheduled by priority
  // What a blocked thread waits for.
  const char* reason = "";
  MutexImpl* wait_mutex = nullptr;
  CondVarImpl* wait_cond = nullptr;
  Duration deadline = kNever;
  bool timed_out = false;

  std::vector<MutexImpl*> held;
  std::vector<SimThread*> joiners;
  SimThread* resume = nullptr;  ///< who waits for this killed thread to leave, and runs next
  uint64_t killed_points = 0;   ///< scheduling points passed after the kill
  bool leaving = false;  ///< past its body: no exception may leave a scheduling point any more

  bool gone() const { return state == State::kEnded || state == State::kParked; }
};

/// Single-owner: the holder of the baton.
class Scheduler {
 public:
  explicit Scheduler(const SimOptions& options);

  /// The simulation that runs now, and the thread of it that calls; both null outside.
  static Scheduler* Current();
  static SimThread* Self();

  // -- scheduling points; those that may throw are no-ops in the destructors of a killed thread
  // -------------------
  /// Pass the baton on by chance. Throws ProcessKilled.
  void Point();
  /// The same where an exception must not leave.
  void PointNoThrow() noexcept;
  /// Pass it on with even chance: where an interleaving is likely to matter. Throws ProcessKilled.
  void YieldByChance();
  /// Throw where this thread must leave and may (no exception is on its way).
  void ThrowIfKilled();
  /// True in a thread of a killed process: nothing may block.
  bool Killed() const;

  // -- blocking and waking
  // -----------------------------------------------------------------------------------------
  /// Block this thread until Wake() or `deadline`. The caller has put it where the waker finds it,
  /// and looks at Killed() afterwards. False when the deadline passed first.
  bool Block(const char* reason, Duration deadline);
  void Wake(SimThread* thread);
  /// Wake one of `waiters`, chosen by the seed, and take it out.
  void WakeOne(std::vector<SimThread*>* waiters);
  /// A killed thread cannot block: let the other threads of its process leave, then return; park it
  /// if it comes again and again.
  void KilledWait();

  // -- threads and processes
  // ---------------------------------------------------------------------------------------
  SimProcessState* AddProcess(std::string name, std::string host);
  SimThread* StartThread(SimProcessState* process, std::string name, std::function<void()> body);
  void Kill(SimProcessState* process);
  /// Let a killed thread leave now. Nothing to do when it is gone or waits for another one to
  /// leave.
  void LetLeave(SimThread* thread);
  void RebootHost(const std::string& host);
  const std::string& BootId(const std::string& host);
  Duration WallSkew(const std::string& host) const;
  void HitFailPoint(const std::string& name);

  /// Run to the end: start the first thread and wait, in the calling (real) thread, until it has
  /// ended.
  void Run(const std::function<void()>& body);

  // -- trace
  // ---------------------------------------------------------------------------------------------------------
  void Trace(uint64_t a, uint64_t b);

  const SimOptions options;
  Duration now{};
  uint64_t trace_hash = 0;
  uint64_t steps = 0;
  uint64_t switches = 0;
  uint64_t kills = 0;
  uint64_t parked = 0;
  std::string problem;
  SimRandom machine_random;  ///< RandomU64() and what is built on it
  SimRandom test_random;     ///< Simulator::NextRandom()
  std::vector<std::unique_ptr<SimProcessState>> processes;
  struct PlannedKill {
    std::string fail_point;
    uint64_t hits_left;
  };
  std::vector<PlannedKill> planned_kills;
  std::map<std::string, uint64_t> fail_point_hits;
  std::vector<std::pair<std::string, std::function<uint64_t()>>> digests;
  /// The spurious wake-ups of this run, as a chance per wait.
  double spurious_wake = 0;
  SimRandom schedule_random;

 private:
  friend void TerminateHandler();

  void Step();
  void Yield();
  /// Choose who runs next, moving time if need be. Null when nobody ever can.
  SimThread* PickNext();
  size_t ChooseReady();
  void FireTimers();
  /// Hand the baton over and wait for it; this thread has its new state already.
  void SwitchTo(SimThread* next);
  void Resume(SimThread* next);
  /// Take a thread out of every list that could wake it.
  void Forget(SimThread* thread);
  void ThreadMain(SimThread* self);
  void Leave(SimThread* self);
  [[noreturn]] void Park(SimThread* self);
  void NoteGone(SimThread* self, SimThread::State state);
  SimThread* NextAfter(SimThread* gone);
  /// Give the baton away for good; null ends the run.
  void PassOn(SimThread* next);
  // Killed threads leave latest first: what a thread borrows from those that started it is then
  // still there. A thread that kills its own process leaves before those that came before it;
  // NextAfter() sees to them. In both functions null means every process.
  SimThread* LatestOf(const SimProcessState* process);
  void LetLaterLeave(const SimProcessState* process);
  /// Break the run off: note why, kill everything.
  void BreakOff(const std::string& why);
  /// Nobody is scheduled any more; each thread, when it is gone, hands the baton to the next one to
  /// leave.
  void EndEverything();
  std::string DescribeThreads() const;
  /// Join the carrier of the thread that ended just before, so that its last steps are over too.
  void Reap();

  SimRandom fail_random_;
  bool by_priority_ = false;
  uint64_t demotion_mean_ = 1;                    ///< choices between two demotions
  uint64_t lowest_priority_ = uint64_t{1} << 63;  ///< only goes down
  uint64_t budget_mean_ = 1;
  uint64_t budget_ = 1;  ///< points left until the baton may move
  size_t live_threads_ = 0;
  bool over_ = false;                                ///< everything is killed
  std::vector<std::unique_ptr<SimThread>> threads_;  ///< by id
  std::vector<SimThread*> ready_;
  std::set<std::pair<Duration, uint32_t>> timers_;  ///< (deadline, thread id)
  std::map<std::string, std::string> boot_ids_;
  uint64_t boots_ = 0;
  SimThread* to_reap_ = nullptr;  ///< ended; its carrier is joined by whoever runs next
  sem_t done_;
};

}  // namespace omnigraph::runtime::internal
