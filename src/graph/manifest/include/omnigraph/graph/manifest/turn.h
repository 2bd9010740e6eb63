/// \file
/// A queue of threads that take turns. Unlike a lock it may be held across I/O, and it is fair.
#pragma once

#include <cstdint>

#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// Serves its waiters in the order in which they came. Thread-safe.
class TurnQueue {
 public:
  void Enter() {
    runtime::MutexLock lock(mutex_);
    const uint64_t ticket = next_ticket_++;
    while (serving_ != ticket) {
      changed_.Wait(mutex_);
    }
  }
  void Leave() {
    runtime::MutexLock lock(mutex_);
    ++serving_;
    changed_.NotifyAll();
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  uint64_t next_ticket_ OG_GUARDED_BY(mutex_) = 0;
  uint64_t serving_ OG_GUARDED_BY(mutex_) = 0;
};

/// A turn for the length of a scope. Single-owner.
class Turn {
 public:
  explicit Turn(TurnQueue& queue) : queue_(queue) { queue_.Enter(); }
  ~Turn() {
    if (!runtime::InKilledProcess()) {
      queue_.Leave();
    }
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  TurnQueue& queue_;
};

}  // namespace omnigraph::graph
