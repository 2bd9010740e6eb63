/// \file
/// The folders that a local store puts into: anchored (their ancestors synced, rule P1), kept open,
/// each with unnamed files opened ahead.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/queue.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/disk.h"
#include "omnigraph/store/local_store.h"

namespace omnigraph::store {

/// One open folder. Thread-safe.
class AnchoredFolder {
 public:
  explicit AnchoredFolder(std::shared_ptr<DiskFolder> handle) : handle_(std::move(handle)) {}

  DiskFolder& handle() { return *handle_; }

 private:
  friend class LocalFolders;
  const std::shared_ptr<DiskFolder> handle_;
  runtime::Mutex mutex_;
  std::deque<std::unique_ptr<DiskFile>> ahead_ OG_GUARDED_BY(mutex_);
  uint64_t takes_ OG_GUARDED_BY(mutex_) = 0;
  bool refilling_ OG_GUARDED_BY(mutex_) = false;
};

/// The folders of one store, at most `folders_max` open at once. Thread-safe.
class LocalFolders {
 public:
  LocalFolders(std::shared_ptr<Disk> disk, const LocalStoreOptions& options);
  ~LocalFolders();

  /// The folder at `path`, made where it is missing, durable with all its ancestors.
  /// Errors: those of Disk; kUnavailable `store.sync_failed`.
  Result<std::shared_ptr<AnchoredFolder>> Anchored(std::string_view path);

  /// An unnamed file in it, opened ahead if there is one. Errors: those of DiskFolder::OpenUnnamed.
  Result<std::unique_ptr<DiskFile>> TakeUnnamed(const std::shared_ptr<AnchoredFolder>& folder);

  /// Close all: somebody removed a folder under us.
  void ForgetAll();

 private:
  struct Slot {
    std::shared_ptr<AnchoredFolder> folder;
    uint64_t last_used = 0;
  };

  std::shared_ptr<AnchoredFolder> Find(std::string_view path);
  void Remember(std::string_view path, const std::shared_ptr<AnchoredFolder>& folder);
  Status AnchorRoot();
  Result<std::shared_ptr<DiskFolder>> OpenOrMake(std::string_view path);
  void Refill(AnchoredFolder& folder);
  void RequestRefill(const std::shared_ptr<AnchoredFolder>& folder);

  const std::shared_ptr<Disk> disk_;
  const LocalStoreOptions options_;
  runtime::Mutex mutex_;
  std::map<std::string, Slot, std::less<>> slots_ OG_GUARDED_BY(mutex_);
  uint64_t uses_ OG_GUARDED_BY(mutex_) = 0;
  runtime::BoundedQueue<std::shared_ptr<AnchoredFolder>> refills_;
  runtime::Mutex thread_mutex_;
  runtime::Thread opener_ OG_GUARDED_BY(thread_mutex_);
};

/// kUnavailable `store.sync_failed` with unknown effect, from the error of a sync (rule P3).
Status SyncFailed(const Status& cause);

}  // namespace omnigraph::store
