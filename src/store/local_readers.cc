#include "local_readers.h"

#include <algorithm>
#include <utility>

#include "errors.h"

namespace omnigraph::store {
bool MeansAbsent(const Status& status) {
  const std::string code = CodeOf(status);
  return code == "store.not_found" || code == "store.not_a_folder" || code == "store.is_a_folder" ||
         code == "store.bad_path";
}

Status ReadError(const Status& status, std::string_view path) {
  return MeansAbsent(status) ? ObjectNotFound(path) : status;
}

LocalReaders::LocalReaders(std::shared_ptr<Disk> disk, size_t readers_max)
    : disk_(std::move(disk)), readers_max_(std::max<size_t>(readers_max, 1)) {}

Result<OpenObject> LocalReaders::OpenOnce(std::string_view path) {
  Result<std::shared_ptr<DiskFile>> file = disk_->OpenFile(path);
  if (!file.ok()) {
    return ReadError(file.status(), path);
  }
  OG_ASSIGN_OR_RETURN(const DiskStat stat, (*file)->Stat());
  if (stat.is_folder) {
    return ObjectNotFound(path);
  }
  return OpenObject{std::move(*file), stat.size};
}

Result<OpenObject> LocalReaders::OpenKept(std::string_view path) {
  const Result<DiskStat> named = disk_->Stat(path);
  if (!named.ok()) {
    Forget(path);
    return ReadError(named.status(), path);
  }
  {
    runtime::MutexLock lock(mutex_);
    const auto found = slots_.find(path);
    // An open file keeps its inode number from being used again, so equal numbers mean the same
    // file.
    if (found != slots_.end() && found->second.inode == named->inode &&
        found->second.device == named->device) {
      found->second.last_used = ++uses_;
      return OpenObject{found->second.file, named->size};
    }
  }
  OG_ASSIGN_OR_RETURN(OpenObject opened, OpenOnce(path));
  OG_ASSIGN_OR_RETURN(const DiskStat stat, opened.file->Stat());
  std::shared_ptr<DiskFile> evicted;  // closed outside the lock
  runtime::MutexLock lock(mutex_);
  if (slots_.size() >= readers_max_ && slots_.find(path) == slots_.end()) {
    const auto oldest = std::min_element(slots_.begin(), slots_.end(), [](auto& a, auto& b) {
      return a.second.last_used < b.second.last_used;
    });
    evicted = std::move(oldest->second.file);
    slots_.erase(oldest);
  }
  Slot& slot = slots_[std::string(path)];
  evicted = evicted == nullptr ? std::move(slot.file) : std::move(evicted);
  slot = Slot{opened.file, stat.device, stat.inode, ++uses_};
  return opened;
}

void LocalReaders::Forget(std::string_view path) {
  std::shared_ptr<DiskFile> closed;
  runtime::MutexLock lock(mutex_);
  const auto found = slots_.find(path);
  if (found != slots_.end()) {
    closed = std::move(found->second.file);
    slots_.erase(found);
  }
}

}  // namespace omnigraph::store
