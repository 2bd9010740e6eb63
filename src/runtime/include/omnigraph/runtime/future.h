/// \file
/// Promise and Future: one value handed from one thread to any number of others. Blocking; no
/// continuations. Built from mutex.h alone, so both machines run the same code.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "omnigraph/base/status.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::runtime {

namespace internal {

template <typename T>
struct FutureState {
  Mutex mutex;
  CondVar changed;
  std::optional<T> value OG_GUARDED_BY(mutex);  ///< set once, then constant
};

}  // namespace internal

/// The reading end; copies share the value. Thread-safe. `T` is usually a Result.
template <typename T>
class Future {
 public:
  /// Block until the value is there. The reference lives as long as any copy of this future.
  const T& Get() const {
    MutexLock lock(state_->mutex);
    while (!state_->value.has_value()) {
      state_->changed.Wait(state_->mutex);
    }
    return *state_->value;
  }

  /// Wait at most for `timeout`. True when the value is there.
  bool WaitFor(Duration timeout) const {
    const Duration deadline = MonotonicNow() + timeout;
    MutexLock lock(state_->mutex);
    while (!state_->value.has_value()) {
      if (!state_->changed.WaitUntil(state_->mutex, deadline)) {
        return state_->value.has_value();
      }
    }
    return true;
  }

  bool ready() const {
    MutexLock lock(state_->mutex);
    return state_->value.has_value();
  }

 private:
  template <typename U>
  friend class Promise;
  explicit Future(std::shared_ptr<internal::FutureState<T>> state) : state_(std::move(state)) {}

  std::shared_ptr<internal::FutureState<T>> state_;
};

/// The writing end. Thread-safe; copies share the one value, so that a callback may hold it.
///
/// A promise that is dropped unset leaves its readers waiting for ever; the simulator reports that
/// as a deadlock.
template <typename T>
class Promise {
 public:
  Promise() : state_(std::make_shared<internal::FutureState<T>>()) {}

  Future<T> future() const { return Future<T>(state_); }

  /// Hand over the value and wake the readers.
  ///
  /// REQUIRES: called at most once.
  void Set(T value) {
    MutexLock lock(state_->mutex);
    OG_CHECK(!state_->value.has_value());
    state_->value.emplace(std::move(value));
    state_->changed.NotifyAll();
  }

 private:
  std::shared_ptr<internal::FutureState<T>> state_;
};

}  // namespace omnigraph::runtime
