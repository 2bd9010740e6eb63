// Clock, threads, chance, process identity and fail points of the simulated machine.
#include <cstring>

#include "omnigraph/base/status.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/random.h"
#include "omnigraph/runtime/thread.h"
#include "scheduler.h"

namespace omnigraph::runtime {
namespace internal {

struct ThreadImpl {
  SimThread* thread = nullptr;
};

namespace {

// Virtual clocks start here: late enough that "an hour ago" is a time too.
constexpr Duration kMonotonicStart = std::chrono::hours(100);
constexpr std::chrono::microseconds kWallStart = std::chrono::seconds(1'750'000'000);
constexpr uint64_t kWallStartSpreadSeconds = 365 * 24 * 3600;

SimRandom& OutsideRandom() {
  static SimRandom random(0, 0);
  return random;
}

/// Wait for the end of a thread. `may_throw` is false in the destructor of its handle.
void JoinThread(SimThread* target, bool may_throw) {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return;  // the simulation is over, and the thread with it
  }
  OG_CHECK(target != Scheduler::Self());
  if (may_throw) {
    sim->ThrowIfKilled();
  }
  sim->PointNoThrow();
  while (!target->gone()) {
    if (sim->Killed()) {
      if (may_throw) {
        sim->ThrowIfKilled();
      }
      sim->LetLeave(target);
      return;
    }
    target->joiners.push_back(Scheduler::Self());
    sim->Block("the end of a thread", kNever);
  }
}

}  // namespace
}  // namespace internal

using internal::Scheduler;

Duration MonotonicNow() {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return internal::kMonotonicStart;
  }
  sim->PointNoThrow();
  return internal::kMonotonicStart + sim->now;
}

std::chrono::microseconds WallNow() {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return internal::kWallStart;
  }
  sim->PointNoThrow();
  const std::chrono::seconds spread(sim->options.seed % internal::kWallStartSpreadSeconds);
  const Duration skew = sim->WallSkew(Scheduler::Self()->process->host);
  return internal::kWallStart + spread +
         std::chrono::duration_cast<std::chrono::microseconds>(sim->now + skew);
}

void SleepFor(Duration duration) {
  Scheduler* sim = Scheduler::Current();
  OG_CHECK(sim != nullptr);
  sim->Point();
  if (sim->Killed() || duration <= Duration::zero()) {
    return;
  }
  const bool finite = duration < internal::kNever - sim->now;
  sim->Block("the end of a sleep", finite ? sim->now + duration : internal::kNever);
  sim->ThrowIfKilled();
}

Thread::Thread() = default;
Thread::Thread(Thread&& other) noexcept = default;
Thread::Thread(std::shared_ptr<internal::ThreadImpl> impl) : impl_(std::move(impl)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    if (joinable()) {
      internal::JoinThread(impl_->thread, /*may_throw=*/false);
    }
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Thread::~Thread() {
  if (joinable()) {
    internal::JoinThread(impl_->thread, /*may_throw=*/false);
  }
}

Thread Thread::Start(std::string name, std::function<void()> body) {
  Scheduler* sim = Scheduler::Current();
  OG_CHECK(sim != nullptr);  // wrap the test's body in RunSimulation()
  sim->Point();
  if (sim->Killed()) {
    return {};
  }
  auto impl = std::make_shared<internal::ThreadImpl>();
  impl->thread = sim->StartThread(Scheduler::Self()->process, std::move(name), std::move(body));
  Thread thread(std::move(impl));
  sim->YieldByChance();
  return thread;
}

void Thread::Join() {
  if (joinable()) {
    internal::JoinThread(impl_->thread, /*may_throw=*/true);
    impl_.reset();
  }
}

uint64_t RandomU64() {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return internal::OutsideRandom().Next();
  }
  sim->PointNoThrow();
  return sim->machine_random.Next();
}

void RandomBytes(std::span<uint8_t> out) {
  while (!out.empty()) {
    const uint64_t value = RandomU64();
    const size_t size = std::min(out.size(), sizeof(value));
    std::memcpy(out.data(), &value, size);
    out = out.subspan(size);
  }
}

void FailPoint(std::string_view name) {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return;
  }
  sim->Point();
  if (!sim->Killed()) {
    sim->HitFailPoint(std::string(name));
    sim->YieldByChance();
  }
}

bool InKilledProcess() {
  const Scheduler* sim = Scheduler::Current();
  return sim != nullptr && sim->Killed();
}

const ProcessIdentity& CurrentProcess() {
  if (Scheduler::Current() == nullptr) {
    static const ProcessIdentity kOutside{NewUlid(), "outside", 1, 1};
    return kOutside;
  }
  return Scheduler::Self()->process->identity;
}

bool IsRunning(const ProcessIdentity& process) {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    return true;
  }
  sim->PointNoThrow();
  if (process.host_boot_id != sim->BootId(Scheduler::Self()->process->host)) {
    return true;
  }
  for (const auto& known : sim->processes) {
    if (known->identity.pid == process.pid && known->identity.start_time == process.start_time) {
      return !known->ended();
    }
  }
  return false;
}

std::string HostName() {
  return Scheduler::Current() == nullptr ? "outside" : Scheduler::Self()->process->host;
}

std::optional<std::string> EnvironmentVariable(const std::string& /*name*/) {
  return std::nullopt;
}

namespace internal {
UlidSource& ProcessUlids() {
  static UlidSource outside;
  return Scheduler::Current() == nullptr ? outside : Scheduler::Self()->process->ulids;
}
}  // namespace internal

}  // namespace omnigraph::runtime
