/// \file
/// BoundedQueue: the mailbox of a thread. Built from mutex.h alone, so both machines run the same
/// code.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "omnigraph/base/status.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::runtime {

/// First in, first out, at most `capacity` items; any number of producers and consumers.
/// Thread-safe.
///
/// Close() ends it: nothing more gets in, what is inside still comes out, then Pop() returns
/// nothing.
template <typename T>
class BoundedQueue {
 public:
  /// REQUIRES: capacity > 0.
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) { OG_CHECK(capacity > 0); }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Add an item; blocks while the queue is full. False when it is closed (the item is dropped).
  bool Push(T item) {
    MutexLock lock(mutex_);
    while (!closed_ && items_.size() >= capacity_) {
      not_full_.Wait(mutex_);
    }
    if (closed_) {
      return false;
    }
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  /// Add an item if that needs no wait. False, with `item` untouched, when the queue is full or
  /// closed.
  bool TryPush(T& item) {
    MutexLock lock(mutex_);
    if (closed_ || items_.size() >= capacity_) {
      return false;
    }
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  /// Take the oldest item; blocks while the queue is empty. Nothing when it is closed and empty.
  std::optional<T> Pop() {
    MutexLock lock(mutex_);
    while (!closed_ && items_.empty()) {
      not_empty_.Wait(mutex_);
    }
    return TakeFront();
  }

  /// The same, at most for `timeout`. Nothing when the time ran out, or when it is closed and
  /// empty; closed() tells.
  std::optional<T> PopFor(Duration timeout) {
    const Duration deadline = MonotonicNow() + timeout;
    MutexLock lock(mutex_);
    while (!closed_ && items_.empty()) {
      if (!not_empty_.WaitUntil(mutex_, deadline)) {
        break;
      }
    }
    return TakeFront();
  }

  /// Take the oldest item if there is one now.
  std::optional<T> TryPop() {
    MutexLock lock(mutex_);
    return TakeFront();
  }

  /// Idempotent; wakes everybody who waits.
  void Close() {
    MutexLock lock(mutex_);
    closed_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }

  bool closed() const {
    MutexLock lock(mutex_);
    return closed_;
  }
  size_t size() const {
    MutexLock lock(mutex_);
    return items_.size();
  }
  size_t capacity() const { return capacity_; }

 private:
  std::optional<T> TakeFront() OG_REQUIRES(mutex_) {
    if (items_.empty()) {
      return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    not_full_.NotifyOne();
    return item;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar not_empty_;
  CondVar not_full_;
  std::deque<T> items_ OG_GUARDED_BY(mutex_);
  bool closed_ OG_GUARDED_BY(mutex_) = false;
};

}  // namespace omnigraph::runtime
