#include "omnigraph/runtime/ids.h"

#include <array>

#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/random.h"
#include "ulid_source.h"

namespace omnigraph::runtime {
namespace internal {

std::string UlidSource::Next() {
  std::array<uint8_t, 10> random;
  RandomBytes(random);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(WallNow()).count();
  const auto now_ms = static_cast<uint64_t>(now);

  MutexLock lock(mutex_);
  if (now_ms > last_ms_) {
    last_ms_ = now_ms;
    // The top bit stays free, so that 2^79 increments fit before the next millisecond.
    random[0] &= 0x7f;
    last_random_ = random;
  } else {
    for (size_t i = last_random_.size(); i-- > 0;) {
      if (++last_random_[i] != 0) {
        break;
      }
    }
  }
  return FormatUlid(last_ms_, last_random_);
}

}  // namespace internal

Uuid NewUuid() {
  std::array<uint8_t, 16> random;
  RandomBytes(random);
  return Uuid::FromRandom(random);
}

std::string NewUlid() {
  return internal::ProcessUlids().Next();
}

uint64_t NewId64() {
  for (;;) {
    const uint64_t id = RandomU64();
    if (id != 0) {
      return id;
    }
  }
}

}  // namespace omnigraph::runtime
