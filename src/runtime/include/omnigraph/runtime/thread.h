/// \file
/// Threads. Long-lived parts of the system are named threads with a bounded mailbox (queue.h);
/// nothing else starts one.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace omnigraph::runtime {

namespace internal {
struct ThreadImpl;
}  // namespace internal

/// One thread of execution, joined at the latest when its handle is destroyed: a body never
/// outlives what it borrows from the scope that holds the handle. Thread-compatible; movable.
///
/// A body that throws ends the process: catch at the adapter that can throw.
class Thread {
 public:
  /// No thread.
  Thread();
  Thread(Thread&& other) noexcept;
  /// Joins the thread held before.
  Thread& operator=(Thread&& other) noexcept;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  /// Joins.
  ~Thread();

  /// Start a thread. `name` shows up in debuggers (its first 15 bytes), in deadlock reports and
  /// traces.
  ///
  /// Errors: ends the process when the system has no thread left.
  static Thread Start(std::string name, std::function<void()> body);

  /// Wait until the body has returned. Nothing to do unless joinable().
  ///
  /// REQUIRES: not called by the thread itself.
  void Join();

  /// True from Start() until Join().
  bool joinable() const { return impl_ != nullptr; }

 private:
  explicit Thread(std::shared_ptr<internal::ThreadImpl> impl);

  std::shared_ptr<internal::ThreadImpl> impl_;
};

}  // namespace omnigraph::runtime
