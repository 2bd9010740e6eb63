#include "scheduler.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <exception>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"

namespace omnigraph::runtime::internal {
namespace {

// How much a killed thread may still do before it is parked: plain points count 1, exceptions
// caught and waits more.
constexpr uint64_t kKilledPointsMax = 1'000'000;
constexpr uint64_t kKilledThrowWeight = 1'000;
constexpr uint64_t kKilledWaitWeight = 10'000;

Scheduler* g_current = nullptr;
thread_local SimThread* t_self = nullptr;
std::terminate_handler g_terminate_before = nullptr;
std::array<char, 64> g_crash_note{};

/// Threads start with a priority above this, demoted ones have one below.
constexpr uint64_t kFirstPriorities = uint64_t{1} << 63;

void AwaitBaton(sem_t* baton) {
  while (sem_wait(baton) != 0) {
    OG_CHECK(errno == EINTR);
  }
}

template <typename T>
void EraseFrom(std::vector<T*>* list, T* item) {
  const auto at = std::find(list->begin(), list->end(), item);
  if (at != list->end()) {
    list->erase(at);
  }
}

/// Threads that stand still for ever need their semaphores for as long.
std::vector<std::unique_ptr<SimThread>>& ParkedForEver() {
  static auto* parked = new std::vector<std::unique_ptr<SimThread>>();
  return *parked;
}

void PrintSeedOnAbort(int signal_number) {
  const size_t size = std::char_traits<char>::length(g_crash_note.data());
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, g_crash_note.data(), size);
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

/// A killed thread's exception met a function that must not throw: the thread stays where it is.
void TerminateHandler() {
  if (t_self != nullptr && !t_self->gone() && t_self->process->killed) {
    g_current->Park(t_self);
  }
  g_terminate_before();
  std::abort();
}

Scheduler::Scheduler(const SimOptions& sim_options)
    : options(sim_options),
      machine_random(options.seed, 1),
      test_random(options.seed, 2),
      schedule_random(options.seed, 3),
      fail_random_(options.seed, 4) {
  // Swarm: each seed has a manner of scheduling of its own.
  SimRandom manner(options.seed, 5);
  constexpr std::array<uint64_t, 6> kBudgets = {1, 2, 4, 16, 64, 256};
  constexpr std::array<uint64_t, 3> kDemotions = {4, 32, 256};
  constexpr std::array<double, 4> kSpurious = {0, 0, 0.01, 0.1};
  by_priority_ = manner.Below(2) == 0;
  budget_mean_ = kBudgets[manner.Below(kBudgets.size())];
  demotion_mean_ = kDemotions[manner.Below(kDemotions.size())];
  spurious_wake = kSpurious[manner.Below(kSpurious.size())];
  sem_init(&done_, 0, 0);
}

Scheduler* Scheduler::Current() {
  return t_self == nullptr ? nullptr : g_current;
}

SimThread* Scheduler::Self() {
  return t_self;
}

bool Scheduler::Killed() const {
  return t_self->process->killed;
}

void Scheduler::Trace(uint64_t a, uint64_t b) {
  trace_hash = SimRandom::Mix(trace_hash ^ SimRandom::Mix(a + 0x9e3779b97f4a7c15 * (b + 1)));
}

// ---- scheduling points -------------------------------------------------------------------------

void Scheduler::ThrowIfKilled() {
  if (!Killed() || t_self->leaving || std::uncaught_exceptions() != 0) {
    return;
  }
  t_self->killed_points += kKilledThrowWeight;
  if (t_self->killed_points > kKilledPointsMax) {
    Park(t_self);
  }
  throw ProcessKilled{};
}

void Scheduler::Point() {
  ThrowIfKilled();
  PointNoThrow();
  ThrowIfKilled();
}

void Scheduler::PointNoThrow() noexcept {
  SimThread* self = t_self;
  if (Killed()) {
    if (++self->killed_points > kKilledPointsMax) {
      Park(self);
    }
    return;
  }
  Step();
  if (!Killed() && --budget_ == 0) {
    budget_ = 1 + schedule_random.Below(2 * budget_mean_);
    Yield();
  }
}

void Scheduler::YieldByChance() {
  ThrowIfKilled();
  if (!Killed() && schedule_random.Below(2) == 0) {
    Yield();
    ThrowIfKilled();
  }
}

void Scheduler::Step() {
  ++steps;
  now += options.step_time;
  if (steps > options.steps_max) {
    BreakOff("no progress: " + std::to_string(steps) + " scheduling points");
  } else if (now > options.time_max) {
    BreakOff("no progress: virtual time ran out");
  }
}

void Scheduler::Yield() {
  SimThread* self = t_self;
  self->state = SimThread::State::kReady;
  ready_.push_back(self);
  SimThread* next = PickNext();
  if (next != self) {
    SwitchTo(next);
  }
  self->state = SimThread::State::kRunning;
}

// ---- blocking and waking -----------------------------------------------------------------------

bool Scheduler::Block(const char* reason, Duration deadline) {
  SimThread* self = t_self;
  self->reason = reason;
  self->timed_out = false;
  self->deadline = deadline;
  self->state = SimThread::State::kBlocked;
  if (deadline != kNever) {
    timers_.emplace(deadline, self->id);
  }
  SimThread* next = PickNext();
  if (next == nullptr) {
    BreakOff("deadlock: nobody can run and nobody sleeps");
  } else if (next != self) {
    SwitchTo(next);
  }
  Forget(self);
  self->state = SimThread::State::kRunning;
  return !self->timed_out;
}

void Scheduler::Wake(SimThread* thread) {
  if (thread->state != SimThread::State::kBlocked) {
    return;
  }
  Forget(thread);
  thread->state = SimThread::State::kReady;
  ready_.push_back(thread);
}

void Scheduler::WakeOne(std::vector<SimThread*>* waiters) {
  if (!waiters->empty()) {
    Wake((*waiters)[schedule_random.Below(waiters->size())]);
  }
}

void Scheduler::Forget(SimThread* thread) {
  if (thread->state == SimThread::State::kReady) {
    EraseFrom(&ready_, thread);
  }
  if (thread->deadline != kNever) {
    timers_.erase({thread->deadline, thread->id});
    thread->deadline = kNever;
  }
  if (thread->wait_mutex != nullptr) {
    EraseFrom(&thread->wait_mutex->waiters, thread);
    thread->wait_mutex = nullptr;
  }
  if (thread->wait_cond != nullptr) {
    EraseFrom(&thread->wait_cond->waiters, thread);
    thread->wait_cond = nullptr;
  }
}

void Scheduler::FireTimers() {
  while (!timers_.empty() && timers_.begin()->first <= now) {
    SimThread* thread = threads_[timers_.begin()->second].get();
    thread->timed_out = true;
    Wake(thread);
  }
}

SimThread* Scheduler::PickNext() {
  FireTimers();
  if (ready_.empty()) {
    if (timers_.empty()) {
      return nullptr;
    }
    now = timers_.begin()->first;
    FireTimers();
  }
  const size_t chosen = ChooseReady();
  SimThread* next = ready_[chosen];
  ready_[chosen] = ready_.back();
  ready_.pop_back();
  return next;
}

size_t Scheduler::ChooseReady() {
  if (!by_priority_) {
    return schedule_random.Below(ready_.size());
  }
  size_t best = 0;
  for (size_t i = 1; i < ready_.size(); ++i) {
    if (ready_[i]->priority > ready_[best]->priority) {
      best = i;
    }
  }
  // Now and then the first becomes the last, so that nobody starves and orders vary within a run.
  if (schedule_random.Below(demotion_mean_) == 0) {
    ready_[best]->priority = --lowest_priority_;
  }
  return best;
}

void Scheduler::SwitchTo(SimThread* next) {
  SimThread* self = t_self;
  Resume(next);
  AwaitBaton(&self->baton);
  Reap();
}

void Scheduler::Resume(SimThread* next) {
  ++switches;
  Trace(next->id, static_cast<uint64_t>(now.count()));
  next->state = SimThread::State::kRunning;
  sem_post(&next->baton);
}

void Scheduler::Reap() {
  if (to_reap_ != nullptr) {
    SimThread* ended = to_reap_;
    to_reap_ = nullptr;
    ended->carrier.join();
  }
}

// ---- threads and processes ---------------------------------------------------------------------

SimProcessState* Scheduler::AddProcess(std::string name, std::string host) {
  auto process = std::make_unique<SimProcessState>();
  process->index = static_cast<int>(processes.size());
  process->name = std::move(name);
  process->host = std::move(host);
  process->identity.host_boot_id = BootId(process->host);
  process->identity.pid = process->index + 1;
  process->identity.start_time = now.count() + 1;
  processes.push_back(std::move(process));
  return processes.back().get();
}

SimThread* Scheduler::StartThread(SimProcessState* process, std::string name,
                                  std::function<void()> body) {
  auto owned = std::make_unique<SimThread>();
  SimThread* thread = owned.get();
  thread->id = static_cast<uint32_t>(threads_.size());
  thread->name = std::move(name);
  thread->process = process;
  thread->body = std::move(body);
  thread->priority = schedule_random.Next() | kFirstPriorities;
  threads_.push_back(std::move(owned));
  process->threads.push_back(thread);
  ++process->live_threads;
  ++live_threads_;
  ready_.push_back(thread);
  thread->carrier = std::thread([this, thread] { ThreadMain(thread); });
  return thread;
}

void Scheduler::ThreadMain(SimThread* self) {
  t_self = self;
  AwaitBaton(&self->baton);
  Reap();
  if (!Killed()) {
    try {
      self->body();
    } catch (const ProcessKilled&) {
      // Everything this thread held on its stack is gone: that was the point.
    }
  }
  self->leaving = Killed();
  self->body = nullptr;
  self->leaving = true;
  if (self->id == 0) {
    EndEverything();
  } else if (self == self->process->threads.front()) {
    self->process->killed = true;  // the end of main ends the process
  }
  Leave(self);
}

void Scheduler::NoteGone(SimThread* self, SimThread::State state) {
  self->state = state;
  for (MutexImpl* mutex : self->held) {
    mutex->owner = nullptr;
    WakeOne(&mutex->waiters);
  }
  self->held.clear();
  for (SimThread* joiner : self->joiners) {
    Wake(joiner);
  }
  --live_threads_;
  if (--self->process->live_threads == 0) {
    for (SimThread* waiter : self->process->exit_waiters) {
      Wake(waiter);
    }
  }
}

SimThread* Scheduler::NextAfter(SimThread* gone) {
  if (gone->resume != nullptr) {
    return gone->resume;
  }
  if (live_threads_ == 0) {
    return nullptr;
  }
  SimThread* next = nullptr;
  if (gone->process->killed && !over_) {
    next = LatestOf(gone->process);
  }
  if (next == nullptr && !over_) {
    next = PickNext();
  }
  if (next == nullptr) {
    BreakOff("deadlock: nobody can run and nobody sleeps");
    next = LatestOf(nullptr);
  }
  return next;
}

SimThread* Scheduler::LatestOf(const SimProcessState* process) {
  for (size_t i = threads_.size(); i-- > 0;) {
    SimThread* thread = threads_[i].get();
    const bool asked = process == nullptr || thread->process == process;
    if (asked && !thread->gone() && thread->state != SimThread::State::kHandedOver) {
      Forget(thread);
      return thread;
    }
  }
  return nullptr;
}

void Scheduler::Leave(SimThread* self) {
  OG_CHECK(self->held.empty() || Killed());
  NoteGone(self, SimThread::State::kEnded);
  SimThread* next = NextAfter(self);
  t_self = nullptr;
  to_reap_ = self;
  PassOn(next);
}

void Scheduler::Park(SimThread* self) {
  ++parked;
  NoteGone(self, SimThread::State::kParked);
  self->carrier.detach();
  PassOn(NextAfter(self));
  for (;;) {
    AwaitBaton(&self->baton);
  }
}

void Scheduler::PassOn(SimThread* next) {
  if (next != nullptr) {
    Resume(next);
  } else {
    sem_post(&done_);
  }
}

void Scheduler::LetLeave(SimThread* thread) {
  SimThread* self = t_self;
  if (thread == self || thread->gone() || thread->state == SimThread::State::kHandedOver) {
    return;
  }
  OG_CHECK(thread->process->killed);
  Forget(thread);
  thread->resume = self;
  const SimThread::State state = self->state;
  self->state = SimThread::State::kHandedOver;
  SwitchTo(thread);
  self->state = state;
}

void Scheduler::LetLaterLeave(const SimProcessState* process) {
  const bool own = process == nullptr || process == t_self->process;
  const uint32_t from = own ? t_self->id + 1 : 0;
  for (size_t i = threads_.size(); i-- > from;) {
    if (process == nullptr || threads_[i]->process == process) {
      LetLeave(threads_[i].get());
    }
  }
}

void Scheduler::Kill(SimProcessState* process) {
  OG_CHECK(process->index != 0);
  if (process->killed || process->ended()) {
    return;
  }
  ++kills;
  Trace(static_cast<uint64_t>(process->index), ~uint64_t{0});
  process->killed = true;
  LetLaterLeave(process);
}

void Scheduler::KilledWait() {
  t_self->killed_points += kKilledWaitWeight;
  if (t_self->killed_points > kKilledPointsMax) {
    Park(t_self);
  }
}

const std::string& Scheduler::BootId(const std::string& host) {
  std::string& boot = boot_ids_[host];
  if (boot.empty()) {
    RebootHost(host);
  }
  return boot;
}

void Scheduler::RebootHost(const std::string& host) {
  constexpr uint64_t kPurpose = 1'000;
  SimRandom random(options.seed, kPurpose + boots_++);
  boot_ids_[host] = host + "/boot-" + FormatHex64(random.Next());
}

Duration Scheduler::WallSkew(const std::string& host) const {
  uint64_t hash = options.seed;
  for (const char c : host) {
    hash = SimRandom::Mix(hash ^ static_cast<uint8_t>(c));
  }
  constexpr uint64_t kMostMs = 5'000;
  return std::chrono::milliseconds(static_cast<int64_t>(hash % (2 * kMostMs)) -
                                   static_cast<int64_t>(kMostMs));
}

void Scheduler::HitFailPoint(const std::string& name) {
  SimProcessState* process = t_self->process;
  if (process->index == 0) {
    return;
  }
  ++fail_point_hits[name];
  bool kill = options.kill_at_fail_point > 0 && fail_random_.Chance(options.kill_at_fail_point);
  for (PlannedKill& planned : planned_kills) {
    if (planned.hits_left > 0 && (planned.fail_point.empty() || planned.fail_point == name)) {
      kill |= --planned.hits_left == 0;
    }
  }
  if (kill) {
    Kill(process);
    ThrowIfKilled();
  }
}

// ---- beginning and end -------------------------------------------------------------------------

void Scheduler::BreakOff(const std::string& why) {
  if (over_) {
    return;
  }
  problem = why + "\n" + DescribeThreads();
  EndEverything();
  if (!t_self->gone()) {
    LetLaterLeave(nullptr);
  }
}

void Scheduler::EndEverything() {
  over_ = true;
  for (const auto& process : processes) {
    process->killed = true;
  }
}

std::string Scheduler::DescribeThreads() const {
  std::string text;
  for (const auto& thread : threads_) {
    if (thread->gone()) {
      continue;
    }
    text += "  thread '" + thread->name + "' of process '" + thread->process->name + "': ";
    if (thread->state != SimThread::State::kBlocked) {
      text += "can run";
    } else {
      text += std::string("waits for ") + thread->reason;
    }
    if (thread->wait_mutex != nullptr && thread->wait_mutex->owner != nullptr) {
      text += " held by '" + thread->wait_mutex->owner->name + "'";
    }
    text += "\n";
  }
  return text;
}

void Scheduler::Run(const std::function<void()>& body) {
  OG_CHECK(g_current == nullptr);
  g_current = this;
  std::snprintf(g_crash_note.data(), g_crash_note.size(), "simulation of seed %llu crashed\n",
                static_cast<unsigned long long>(options.seed));
  auto* abort_before = signal(SIGABRT, PrintSeedOnAbort);
  if (g_terminate_before == nullptr) {
    g_terminate_before = std::set_terminate(TerminateHandler);
  }

  StartThread(AddProcess("test", "host0"), "test", body);
  Resume(PickNext());
  AwaitBaton(&done_);
  Reap();

  signal(SIGABRT, abort_before);
  for (auto& thread : threads_) {
    if (thread->state == SimThread::State::kParked) {
      ParkedForEver().push_back(std::move(thread));
    }
  }
  g_current = nullptr;
}

}  // namespace omnigraph::runtime::internal
