/// \file
/// Who we are, and whether another process of this host still runs: what owners of shards write
/// down and ask (protocol rule S9).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace omnigraph::runtime {

/// Names one run of one process. Immutable value.
struct ProcessIdentity {
  std::string id;  ///< a ULID, fresh in every run
  std::string
      host_boot_id;  ///< one boot of one host (and one pid namespace of it); empty where unknown
  int64_t pid = 0;   ///< within that boot and namespace
  int64_t start_time = 0;  ///< clock ticks after boot; tells two users of one pid apart
  bool operator==(const ProcessIdentity&) const = default;
};

/// This process. Threads: Thread-safe. Cost: reads /proc once.
const ProcessIdentity& CurrentProcess();

/// False only when this host can tell that the process is gone: same boot, and no live process has
/// that pid and start time. True when it runs, and also when nobody can tell (another host, another
/// boot, an unknown field): the caller then goes by the heartbeat.
///
/// Threads: Thread-safe. Cost: one read of /proc.
bool IsRunning(const ProcessIdentity& process);

/// The host's name, as its operator knows it; for messages, never for decisions.
std::string HostName();

/// A variable of the process environment; nothing when it is unset. Always unset under the
/// simulator.
std::optional<std::string> EnvironmentVariable(const std::string& name);

}  // namespace omnigraph::runtime
