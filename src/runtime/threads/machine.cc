// Clock, chance, process identity and fail points of the real machine (Linux).
#include <fcntl.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/random.h"
#include "proc_stat.h"
#include "ulid_source.h"

namespace omnigraph::runtime {
namespace {

/// A small file of /proc; empty when it cannot be read.
std::string ReadProcFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return {};
  }
  std::string text;
  std::array<char, 1024> buffer;
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      break;
    }
  }
  close(fd);
  return text;
}

std::string ReadBootId() {
  std::string boot = ReadProcFile("/proc/sys/kernel/random/boot_id");
  while (!boot.empty() && boot.back() == '\n') {
    boot.pop_back();
  }
  std::array<char, 64> space;
  const ssize_t size = readlink("/proc/self/ns/pid", space.data(), space.size());
  if (boot.empty() || size <= 0) {
    return {};
  }
  return boot + "/" + std::string(space.data(), static_cast<size_t>(size));
}

ProcessIdentity ReadIdentity() {
  ProcessIdentity self;
  self.id = NewUlid();
  self.host_boot_id = ReadBootId();
  self.pid = getpid();
  if (const auto stat = internal::ParseProcStat(ReadProcFile("/proc/self/stat"))) {
    self.start_time = stat->start_time;
  }
  return self;
}

/// Random bytes fetched ahead, per thread: one system call per 64 numbers.
struct RandomPool {
  std::array<uint8_t, 512> bytes;
  size_t used = sizeof(bytes);
};

void FillFromSystem(std::span<uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    OG_CHECK(got > 0 || errno == EINTR);
    if (got > 0) {
      out = out.subspan(static_cast<size_t>(got));
    }
  }
}

}  // namespace

Duration MonotonicNow() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::chrono::microseconds WallNow() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

void SleepFor(Duration duration) {
  std::this_thread::sleep_for(duration);
}

void RandomBytes(std::span<uint8_t> out) {
  thread_local RandomPool pool;
  if (out.empty()) {
    return;
  }
  if (out.size() > pool.bytes.size()) {
    FillFromSystem(out);
    return;
  }
  if (out.size() > pool.bytes.size() - pool.used) {
    FillFromSystem(pool.bytes);
    pool.used = 0;
  }
  std::memcpy(out.data(), pool.bytes.data() + pool.used, out.size());
  pool.used += out.size();
}

uint64_t RandomU64() {
  std::array<uint8_t, 8> bytes;
  RandomBytes(bytes);
  uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

void FailPoint(std::string_view /*name*/) {}

bool InKilledProcess() {
  return false;
}

const ProcessIdentity& CurrentProcess() {
  static const ProcessIdentity kSelf = ReadIdentity();
  return kSelf;
}

bool IsRunning(const ProcessIdentity& process) {
  const ProcessIdentity& self = CurrentProcess();
  if (process.host_boot_id.empty() || process.host_boot_id != self.host_boot_id ||
      process.pid <= 0 || process.start_time <= 0) {
    return true;
  }
  const std::string path = "/proc/" + std::to_string(process.pid) + "/stat";
  if (access(path.c_str(), F_OK) != 0) {
    return errno != ENOENT;
  }
  const auto stat = internal::ParseProcStat(ReadProcFile(path));
  if (!stat.has_value()) {
    // It went between the two calls, or its entry is hidden from us.
    return access(path.c_str(), F_OK) == 0 || errno != ENOENT;
  }
  return stat->start_time == process.start_time && !stat->ended;
}

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "unknown";
  }
  return name.data();
}

std::optional<std::string> EnvironmentVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

namespace internal {
UlidSource& ProcessUlids() {
  static UlidSource source;
  return source;
}
}  // namespace internal

}  // namespace omnigraph::runtime
