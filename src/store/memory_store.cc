#include "omnigraph/store/memory_store.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "errors.h"
#include "list_page.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::store {

class MemoryStore::Impl {
 public:
  struct Object {
    std::shared_ptr<arrow::Buffer> bytes;
    int64_t modified_us = 0;
  };

  Result<Object> Find(std::string_view path) {
    OG_RETURN_NOT_OK(CheckObjectPath(path));
    runtime::MutexLock lock(mutex_);
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
      return ObjectNotFound(path);
    }
    return found->second;
  }

  Status Insert(std::string_view path, const Bytes& bytes, bool replace) {
    OG_RETURN_NOT_OK(CheckObjectPath(path));
    // Copied, so that a caller may use its memory again.
    OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> whole, arrow::ConcatenateBuffers(bytes));
    const int64_t now = runtime::WallNow().count();
    OG_RETURN_NOT_OK(CheckAlive());
    runtime::MutexLock lock(mutex_);
    OG_RETURN_NOT_OK(CheckFolders(path));
    const auto found = objects_.find(path);
    if (found == objects_.end()) {
      objects_.emplace(path, Object{std::move(whole), now});
      return Status::OK();
    }
    if (!replace) {
      return ObjectExists(path);
    }
    found->second = Object{std::move(whole), now};
    return Status::OK();
  }

  ListPage List(std::string_view prefix, const ListOptions& options) {
    ListPageBuilder page(prefix, options);
    runtime::MutexLock lock(mutex_);
    auto at = objects_.lower_bound(std::max(std::string(prefix), options.start_after));
    while (at != objects_.end() && at->first.starts_with(prefix) && !page.full()) {
      const std::string rolled(page.RollUp(at->first));
      if (!rolled.empty()) {
        page.AddPrefix(rolled);
        at = objects_.lower_bound(PastFolder(rolled));
        continue;
      }
      if (page.Wants(at->first)) {
        page.AddObject(
            {at->first, static_cast<uint64_t>(at->second.bytes->size()), at->second.modified_us});
      }
      ++at;
    }
    return page.Finish();
  }

  Status Erase(std::string_view path) {
    OG_RETURN_NOT_OK(CheckObjectPath(path));
    OG_RETURN_NOT_OK(CheckAlive());
    runtime::MutexLock lock(mutex_);
    const auto found = objects_.find(path);
    if (found != objects_.end()) {
      objects_.erase(found);
    }
    return Status::OK();
  }

 private:
  /// Destructors of a killed simulated process change nothing.
  static Status CheckAlive() {
    return runtime::InKilledProcess()
               ? Unavailable("store.process_killed", "the dead change nothing")
               : Status::OK();
  }

  /// The first name behind everything in `folder`, which ends in '/'.
  static std::string PastFolder(std::string folder) {
    folder.back() = static_cast<char>('/' + 1);
    return folder;
  }

  Status CheckFolders(std::string_view path) const OG_REQUIRES(mutex_) {
    for (size_t at = path.find('/'); at != std::string_view::npos; at = path.find('/', at + 1)) {
      if (objects_.contains(path.substr(0, at))) {
        return FolderIsObject(path, path.substr(0, at));
      }
    }
    const std::string folder = std::string(path) + "/";
    const auto below = objects_.lower_bound(folder);
    if (below != objects_.end() && below->first.starts_with(folder)) {
      return ObjectIsFolder(path);
    }
    return Status::OK();
  }

  runtime::Mutex mutex_;
  std::map<std::string, Object, std::less<>> objects_ OG_GUARDED_BY(mutex_);
};

MemoryStore::MemoryStore() : impl_(std::make_unique<Impl>()) {}
MemoryStore::~MemoryStore() = default;

Result<std::shared_ptr<arrow::Buffer>> MemoryStore::Get(std::string_view path) {
  OG_ASSIGN_OR_RETURN(Impl::Object object, impl_->Find(path));
  return object.bytes;
}

Result<std::vector<std::shared_ptr<arrow::Buffer>>> MemoryStore::GetRanges(
    std::string_view path, std::span<const ByteRange> ranges) {
  OG_ASSIGN_OR_RETURN(const Impl::Object object, impl_->Find(path));
  const uint64_t size = static_cast<uint64_t>(object.bytes->size());
  std::vector<std::shared_ptr<arrow::Buffer>> parts;
  parts.reserve(ranges.size());
  for (const ByteRange& range : ranges) {
    if (!RangeFits(range.offset, range.length, size)) {
      return ShortObject(path, range.offset, range.length, size);
    }
    parts.push_back(arrow::SliceBuffer(object.bytes, static_cast<int64_t>(range.offset),
                                       static_cast<int64_t>(range.length)));
  }
  return parts;
}

Result<ObjectTail> MemoryStore::GetTail(std::string_view path, uint64_t max_bytes) {
  OG_ASSIGN_OR_RETURN(const Impl::Object object, impl_->Find(path));
  const uint64_t size = static_cast<uint64_t>(object.bytes->size());
  const uint64_t length = std::min(size, max_bytes);
  return ObjectTail{arrow::SliceBuffer(object.bytes, static_cast<int64_t>(size - length),
                                       static_cast<int64_t>(length)),
                    size};
}

Result<ObjectInfo> MemoryStore::Head(std::string_view path) {
  OG_ASSIGN_OR_RETURN(const Impl::Object object, impl_->Find(path));
  return ObjectInfo{std::string(path), static_cast<uint64_t>(object.bytes->size()),
                    object.modified_us};
}

Status MemoryStore::Put(std::string_view path, const Bytes& bytes) {
  return impl_->Insert(path, bytes, /*replace=*/true);
}

Status MemoryStore::PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength) {
  return impl_->Insert(path, bytes, /*replace=*/false);
}

Status MemoryStore::MakeDurable(std::string_view path) {
  return impl_->Find(path).status();
}

Result<ListPage> MemoryStore::List(std::string_view prefix, const ListOptions& options) {
  OG_CHECK(options.limit > 0);
  return impl_->List(prefix, options);
}

Status MemoryStore::Delete(std::string_view path, DeleteOrder /*order*/) {
  return impl_->Erase(path);
}

}  // namespace omnigraph::store
