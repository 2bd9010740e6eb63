#include "omnigraph/runtime/mutex.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace omnigraph::runtime {
namespace internal {

struct MutexImpl {
  std::mutex mutex;
};

struct CondVarImpl {
  std::condition_variable changed;
};

}  // namespace internal

Mutex::Mutex() : impl_(std::make_unique<internal::MutexImpl>()) {}
Mutex::~Mutex() = default;

void Mutex::Lock() {
  impl_->mutex.lock();
}

void Mutex::Unlock() noexcept {
  impl_->mutex.unlock();
}

bool Mutex::TryLock() {
  return impl_->mutex.try_lock();
}

CondVar::CondVar() : impl_(std::make_unique<internal::CondVarImpl>()) {}
CondVar::~CondVar() = default;

void CondVar::Wait(Mutex& mutex) {
  std::unique_lock lock(mutex.impl_->mutex, std::adopt_lock);
  impl_->changed.wait(lock);
  lock.release();
}

bool CondVar::WaitFor(Mutex& mutex, Duration timeout) {
  // A year: longer waits would overflow the deadline.
  constexpr Duration kLongest = std::chrono::hours(24 * 365);
  std::unique_lock lock(mutex.impl_->mutex, std::adopt_lock);
  const std::cv_status status =
      impl_->changed.wait_for(lock, std::clamp(timeout, Duration::zero(), kLongest));
  lock.release();
  return status == std::cv_status::no_timeout;
}

void CondVar::NotifyOne() noexcept {
  impl_->changed.notify_one();
}

void CondVar::NotifyAll() noexcept {
  impl_->changed.notify_all();
}

}  // namespace omnigraph::runtime
