#include "omnigraph/runtime/thread.h"

#include <pthread.h>

#include <system_error>
#include <thread>
#include <utility>

#include "omnigraph/base/status.h"

namespace omnigraph::runtime {
namespace internal {

struct ThreadImpl {
  std::thread thread;
};

}  // namespace internal

Thread::Thread() = default;
Thread::Thread(Thread&& other) noexcept = default;
Thread::Thread(std::shared_ptr<internal::ThreadImpl> impl) : impl_(std::move(impl)) {}

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this != &other) {
    Join();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

Thread::~Thread() {
  Join();
}

Thread Thread::Start(std::string name, std::function<void()> body) {
  auto impl = std::make_shared<internal::ThreadImpl>();
  try {
    impl->thread = std::thread([name = name.substr(0, 15), body = std::move(body)] {
      pthread_setname_np(pthread_self(), name.c_str());
      body();
    });
  } catch (const std::system_error& error) {
    OG_CHECK_OK(Internal("runtime.thread", "start thread '" + name + "': " + error.what()));
  }
  return Thread(std::move(impl));
}

void Thread::Join() {
  if (joinable()) {
    impl_->thread.join();
    impl_.reset();
  }
}

}  // namespace omnigraph::runtime
