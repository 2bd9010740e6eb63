/// \file
/// Heartbeats of processes that own shards, and the judgement whether an owner is alive (S9). The
/// objects stand at `__processes/<id>` below the graph's root; the page is
/// docs/format/processes.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/memwal/shard_manifest.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

struct ProcessRegistryOptions {
  std::string folder = "__processes";
  std::string address;  ///< where clients reach this process; may be empty
  runtime::Duration beat_every = std::chrono::seconds(3);
  /// An owner whose counter has not moved for this long, on our clock, may be replaced.
  runtime::Duration takeover_after = std::chrono::seconds(15);
};

enum class OwnerState : uint8_t {
  kSelf,   ///< this process
  kGone,   ///< no heartbeat object, or a process of this host that no longer runs, or silent for
           ///< takeover_after
  kAlive,  ///< none of these yet: ask again later
};

/// This process's heartbeat and its view of others'. Thread-safe.
class ProcessRegistry {
 public:
  /// Write the heartbeat for the first time and keep it moving from a thread.
  /// Errors: any kind of ObjectStore.
  static Result<std::shared_ptr<ProcessRegistry>> Start(std::shared_ptr<store::ObjectStore> store,
                                                        ProcessRegistryOptions options);
  ~ProcessRegistry();

  /// Stop the thread and delete the heartbeat: others may claim at once. Idempotent.
  Status Stop();

  /// Judge the owner of a shard. Remembers what it saw, so that silence is measured over calls.
  /// Errors: any kind of ObjectStore.
  Result<OwnerState> Judge(const OwnerMark& owner);

  /// A mark for a new claim by this process, with a fresh claim id.
  OwnerMark NewMark() const;

  const std::string& process_id() const { return identity_.id; }
  const std::string& address() const { return options_.address; }

 private:
  struct Seen {
    std::string bytes;
    runtime::Duration since;
  };

  ProcessRegistry(std::shared_ptr<store::ObjectStore> store, ProcessRegistryOptions options);
  Status Beat();
  void Run();
  std::string PathOf(const std::string& id) const;

  const std::shared_ptr<store::ObjectStore> store_;
  const ProcessRegistryOptions options_;
  const runtime::ProcessIdentity identity_;
  runtime::Mutex mutex_;
  runtime::CondVar wake_;
  bool stopping_ OG_GUARDED_BY(mutex_) = false;
  uint64_t counter_ = 0;  ///< of Start, then of the thread
  std::map<std::string, Seen> seen_ OG_GUARDED_BY(mutex_);
  runtime::Thread thread_;
};

}  // namespace omnigraph::lance
