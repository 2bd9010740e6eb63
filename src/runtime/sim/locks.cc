// Mutex and CondVar of the simulated machine.
#include <algorithm>

#include "omnigraph/base/status.h"
#include "omnigraph/runtime/mutex.h"
#include "scheduler.h"

namespace omnigraph::runtime {
namespace {

using internal::CondVarImpl;
using internal::kNever;
using internal::MutexImpl;
using internal::Scheduler;
using internal::SimThread;

void Own(MutexImpl* mutex, SimThread* self) {
  mutex->owner = self;
  self->held.push_back(mutex);
}

void Disown(MutexImpl* mutex) {
  auto& held = mutex->owner->held;
  held.erase(std::find(held.rbegin(), held.rend(), mutex).base() - 1);
  mutex->owner = nullptr;
}

void Acquire(Scheduler* sim, SimThread* self, MutexImpl* mutex) {
  OG_CHECK(!mutex->held_outside);
  while (!sim->Killed()) {
    if (mutex->owner == nullptr) {
      Own(mutex, self);
      return;
    }
    OG_CHECK(mutex->owner != self);
    self->wait_mutex = mutex;
    mutex->waiters.push_back(self);
    sim->Block("a mutex", kNever);
  }
  if (mutex->owner == nullptr) {
    sim->WakeOne(&mutex->waiters);  // the wake-up may have been meant for us
  }
  sim->ThrowIfKilled();
  // In a destructor of a killed thread: never wait, go on without it if need be (see sim.h).
  if (mutex->owner == nullptr) {
    Own(mutex, self);
  }
}

void Release(Scheduler* sim, MutexImpl* mutex) {
  Disown(mutex);
  sim->WakeOne(&mutex->waiters);
}

/// Wait with the mutex given up in between. False when `deadline` passed first.
bool WaitOn(CondVarImpl* cond, MutexImpl* mutex, Duration deadline) {
  Scheduler* sim = Scheduler::Current();
  OG_CHECK(sim != nullptr);  // outside of a simulation nobody would ever notify
  SimThread* self = Scheduler::Self();
  sim->ThrowIfKilled();
  const bool held = mutex->owner == self;
  OG_CHECK(held || sim->Killed());
  if (held) {
    Release(sim, mutex);
  }
  bool notified = true;
  if (sim->Killed()) {
    sim->KilledWait();
    notified = false;
  } else if (deadline <= sim->now || sim->schedule_random.Chance(sim->spurious_wake)) {
    notified = deadline > sim->now;
    sim->Point();
  } else {
    self->wait_cond = cond;
    cond->waiters.push_back(self);
    notified = sim->Block("a condition", deadline);
    sim->ThrowIfKilled();
  }
  Acquire(sim, self, mutex);
  return notified;
}

}  // namespace

Mutex::Mutex() : impl_(std::make_unique<MutexImpl>()) {}

Mutex::~Mutex() {
  if (impl_->owner != nullptr) {
    OG_CHECK(impl_->owner->process->killed);
    Disown(impl_.get());
  }
  for (SimThread* waiter : impl_->waiters) {
    OG_CHECK(waiter->process->killed);
    waiter->wait_mutex = nullptr;
  }
}

void Mutex::Lock() {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    OG_CHECK(impl_->owner == nullptr && !impl_->held_outside);
    impl_->held_outside = true;
    return;
  }
  sim->Point();
  Acquire(sim, Scheduler::Self(), impl_.get());
}

bool Mutex::TryLock() {
  Scheduler* sim = Scheduler::Current();
  if (sim != nullptr) {
    sim->Point();
  }
  if (impl_->owner != nullptr || impl_->held_outside) {
    return false;
  }
  if (sim == nullptr) {
    impl_->held_outside = true;
  } else {
    Own(impl_.get(), Scheduler::Self());
  }
  return true;
}

void Mutex::Unlock() noexcept {
  Scheduler* sim = Scheduler::Current();
  if (sim == nullptr) {
    impl_->held_outside = false;
    return;
  }
  if (impl_->owner == Scheduler::Self()) {
    Release(sim, impl_.get());
  } else {
    OG_CHECK(sim->Killed());
  }
  sim->PointNoThrow();
}

CondVar::CondVar() : impl_(std::make_unique<CondVarImpl>()) {}

CondVar::~CondVar() {
  for (SimThread* waiter : impl_->waiters) {
    OG_CHECK(waiter->process->killed);
    waiter->wait_cond = nullptr;
  }
}

void CondVar::Wait(Mutex& mutex) {
  WaitOn(impl_.get(), mutex.impl_.get(), kNever);
}

bool CondVar::WaitFor(Mutex& mutex, Duration timeout) {
  const Scheduler* sim = Scheduler::Current();
  OG_CHECK(sim != nullptr);
  const Duration deadline = timeout < kNever - sim->now ? sim->now + timeout : kNever;
  return WaitOn(impl_.get(), mutex.impl_.get(), deadline);
}

void CondVar::NotifyOne() noexcept {
  if (Scheduler* sim = Scheduler::Current()) {
    sim->WakeOne(&impl_->waiters);
    sim->PointNoThrow();
  }
}

void CondVar::NotifyAll() noexcept {
  if (Scheduler* sim = Scheduler::Current()) {
    while (!impl_->waiters.empty()) {
      sim->Wake(impl_->waiters.front());
    }
    sim->PointNoThrow();
  }
}

}  // namespace omnigraph::runtime
