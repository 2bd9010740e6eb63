/// \file
/// What makes NewUlid() strictly increasing: the last id of a process.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "omnigraph/runtime/mutex.h"

namespace omnigraph::runtime::internal {

/// Thread-safe.
class UlidSource {
 public:
  std::string Next();

 private:
  Mutex mutex_;
  uint64_t last_ms_ OG_GUARDED_BY(mutex_) = 0;
  std::array<uint8_t, 10> last_random_ OG_GUARDED_BY(mutex_){};
};

/// The source of the calling thread's process; each machine defines it.
UlidSource& ProcessUlids();

}  // namespace omnigraph::runtime::internal
