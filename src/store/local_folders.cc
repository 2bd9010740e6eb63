#include "local_folders.h"

#include <algorithm>
#include <utility>

namespace omnigraph::store {
namespace {

/// Refill requests that may wait; further ones are dropped and come again with the next take.
constexpr size_t kRefillsMax = 16;

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

}  // namespace

Status SyncFailed(const Status& cause) {
  Place place;
  if (const ErrorDetail* detail = GetErrorDetail(cause)) {
    place = detail->place();
  }
  return WithUnknownEffect(Unavailable(
      "store.sync_failed",
      "a sync failed, and nothing read back can tell what is durable: " + cause.message(), place));
}

LocalFolders::LocalFolders(std::shared_ptr<Disk> disk, const LocalStoreOptions& options)
    : disk_(std::move(disk)), options_(options), refills_(kRefillsMax) {}

LocalFolders::~LocalFolders() {
  refills_.Close();
  runtime::MutexLock lock(thread_mutex_);
  opener_.Join();
}

Result<std::shared_ptr<AnchoredFolder>> LocalFolders::Anchored(std::string_view path) {
  if (std::shared_ptr<AnchoredFolder> known = Find(path)) {
    return known;
  }
  std::shared_ptr<DiskFolder> handle;
  if (path.empty()) {
    OG_RETURN_NOT_OK(AnchorRoot());
    OG_ASSIGN_OR_RETURN(handle, disk_->OpenFolder(path));
  } else {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<AnchoredFolder> parent, Anchored(ParentOf(path)));
    OG_ASSIGN_OR_RETURN(handle, OpenOrMake(path));
    // The folder itself too: without a journal its parent's sync writes the entry, not the folder
    // that it names.
    Status synced = handle->Sync();
    if (synced.ok()) {
      synced = parent->handle().Sync();
    }
    if (!synced.ok()) {
      return SyncFailed(synced);
    }
  }
  auto folder = std::make_shared<AnchoredFolder>(std::move(handle));
  Remember(path, folder);
  return folder;
}

Status LocalFolders::AnchorRoot() {
  OG_RETURN_NOT_OK(disk_->MakeRoot());
  const Status synced = disk_->SyncRoot();
  return synced.ok() ? Status::OK() : SyncFailed(synced);
}

Result<std::shared_ptr<DiskFolder>> LocalFolders::OpenOrMake(std::string_view path) {
  Result<std::shared_ptr<DiskFolder>> opened = disk_->OpenFolder(path);
  if (!IsNotFound(opened.status())) {
    return opened;
  }
  OG_RETURN_NOT_OK(disk_->MakeFolder(path));
  return disk_->OpenFolder(path);
}

std::shared_ptr<AnchoredFolder> LocalFolders::Find(std::string_view path) {
  runtime::MutexLock lock(mutex_);
  const auto found = slots_.find(path);
  if (found == slots_.end()) {
    return nullptr;
  }
  found->second.last_used = ++uses_;
  return found->second.folder;
}

void LocalFolders::Remember(std::string_view path, const std::shared_ptr<AnchoredFolder>& folder) {
  std::shared_ptr<AnchoredFolder> evicted;  // closed outside the lock
  runtime::MutexLock lock(mutex_);
  if (slots_.size() >= std::max<size_t>(options_.folders_max, 1)) {
    const auto oldest = std::min_element(slots_.begin(), slots_.end(), [](auto& a, auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    evicted = std::move(oldest->second.folder);
    slots_.erase(oldest);
  }
  slots_[std::string(path)] = Slot{folder, ++uses_};
}

void LocalFolders::ForgetAll() {
  std::map<std::string, Slot, std::less<>> closed;
  runtime::MutexLock lock(mutex_);
  closed.swap(slots_);
}

Result<std::unique_ptr<DiskFile>> LocalFolders::TakeUnnamed(
    const std::shared_ptr<AnchoredFolder>& folder) {
  std::unique_ptr<DiskFile> file;
  bool refill = false;
  {
    runtime::MutexLock lock(folder->mutex_);
    if (!folder->ahead_.empty()) {
      file = std::move(folder->ahead_.front());
      folder->ahead_.pop_front();
    }
    // A folder that is put into once needs nothing ahead.
    const bool low = folder->ahead_.size() <= options_.open_ahead / 4;
    if (++folder->takes_ >= 2 && options_.open_ahead > 0 && low && !folder->refilling_) {
      folder->refilling_ = true;
      refill = true;
    }
  }
  if (refill) {
    RequestRefill(folder);
  }
  if (file != nullptr) {
    return file;
  }
  return folder->handle().OpenUnnamed();
}

void LocalFolders::RequestRefill(const std::shared_ptr<AnchoredFolder>& folder) {
  {
    runtime::MutexLock lock(thread_mutex_);
    if (!opener_.joinable()) {
      opener_ = runtime::Thread::Start("og-open-ahead", [this] {
        while (std::optional<std::shared_ptr<AnchoredFolder>> next = refills_.Pop()) {
          Refill(**next);
        }
      });
    }
  }
  std::shared_ptr<AnchoredFolder> request = folder;
  if (!refills_.TryPush(request)) {
    runtime::MutexLock lock(folder->mutex_);
    folder->refilling_ = false;
  }
}

void LocalFolders::Refill(AnchoredFolder& folder) {
  for (bool more = true; more;) {
    Result<std::unique_ptr<DiskFile>> file = folder.handle().OpenUnnamed();
    runtime::MutexLock lock(folder.mutex_);
    if (file.ok()) {
      folder.ahead_.push_back(std::move(*file));
    }
    // A failure here is found again, and told, by the put that needs the file.
    more = file.ok() && folder.ahead_.size() < options_.open_ahead;
    if (!more) {
      folder.refilling_ = false;
    }
  }
}

}  // namespace omnigraph::store
