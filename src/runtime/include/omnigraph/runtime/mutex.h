/// \file
/// Mutex, scoped lock and condition variable, with clang's lock annotations.
///
/// Locks are leaf locks: hold none across I/O, a callback or another lock; an exception to this is
/// written in the header of the class that makes it. Condition variables wake for no reason now and
/// then: always wait in a loop.
#pragma once

#include <memory>

#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/thread_annotations.h"

namespace omnigraph::runtime {

namespace internal {
struct MutexImpl;
struct CondVarImpl;
}  // namespace internal

/// A plain lock: not recursive, not fair. Thread-safe.
class OG_CAPABILITY("mutex") Mutex {
 public:
  Mutex();
  ~Mutex();
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  /// REQUIRES: this thread does not hold it.
  void Lock() OG_ACQUIRE();
  /// Never throws and never fails, so that it may run in destructors.
  ///
  /// REQUIRES: this thread holds it.
  void Unlock() noexcept OG_RELEASE();
  /// Take the lock if that needs no wait.
  bool TryLock() OG_TRY_ACQUIRE(true);

 private:
  friend class CondVar;
  std::unique_ptr<internal::MutexImpl> impl_;
};

/// Holds a Mutex for the length of a scope. Single-owner.
class OG_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) OG_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() OG_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

/// Wait for a condition that a mutex guards. Thread-safe.
///
///   MutexLock lock(mutex_);
///   while (!ready_) {
///     changed_.Wait(mutex_);
///   }
class CondVar {
 public:
  CondVar();
  ~CondVar();
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  /// Give up the mutex, wait for a notification (or for nothing: see the file comment), take the
  /// mutex again.
  void Wait(Mutex& mutex) OG_REQUIRES(mutex);
  /// The same, at most for `timeout`. False when the time ran out first; the mutex is held either
  /// way.
  bool WaitFor(Mutex& mutex, Duration timeout) OG_REQUIRES(mutex);
  /// The same, until MonotonicNow() reaches `deadline`: what a loop needs, which waits more than
  /// once.
  bool WaitUntil(Mutex& mutex, Duration deadline) OG_REQUIRES(mutex) {
    return WaitFor(mutex, deadline - MonotonicNow());
  }

  void NotifyOne() noexcept;
  void NotifyAll() noexcept;

 private:
  std::unique_ptr<internal::CondVarImpl> impl_;
};

}  // namespace omnigraph::runtime
