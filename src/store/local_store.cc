#include "omnigraph/store/local_store.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "errors.h"
#include "list_page.h"
#include "local_folders.h"
#include "local_put.h"
#include "local_readers.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/local_disk.h"
#include "temporary_name.h"

namespace omnigraph::store {
namespace {

/// Ranges of one call that lie at most this far apart share a read: copying the gap costs less than
/// a call.
constexpr uint64_t kGapMax = 8 * 1024;
/// Reads are not joined beyond this size.
constexpr uint64_t kJoinedMax = 8 * 1024 * 1024;
/// Age at which a hidden name is nobody's any more: no put takes a day.
constexpr int64_t kHiddenKeptUs = int64_t{24} * 3600 * 1'000'000;

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

std::string_view NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

Result<std::shared_ptr<arrow::Buffer>> ReadRange(const OpenObject& object, std::string_view path,
                                                 uint64_t offset, uint64_t length) {
  OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> buffer,
                      arrow::AllocateBuffer(static_cast<int64_t>(length)));
  OG_ASSIGN_OR_RETURN(const size_t got,
                      object.file->ReadAt(offset, length, buffer->mutable_data()));
  if (got < length) {
    return ShortObject(path, offset, length, offset + got);
  }
  return buffer;
}

/// Read the ranges in the order of their offsets, near ones together; the answer is in the order
/// asked.
Result<std::vector<std::shared_ptr<arrow::Buffer>>> ReadJoined(const OpenObject& object,
                                                               std::string_view path,
                                                               std::span<const ByteRange> ranges) {
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(ranges[a].offset, a) < std::pair(ranges[b].offset, b);
  });
  std::vector<std::shared_ptr<arrow::Buffer>> parts(ranges.size());
  for (size_t first = 0; first < order.size();) {
    const uint64_t begin = ranges[order[first]].offset;
    uint64_t end = begin + ranges[order[first]].length;
    size_t last = first + 1;
    for (; last < order.size(); ++last) {
      const ByteRange& next = ranges[order[last]];
      const uint64_t joined_end = std::max(end, next.offset + next.length);
      if (next.offset > end + kGapMax || joined_end - begin > kJoinedMax) {
        break;
      }
      end = joined_end;
    }
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> joined,
                        ReadRange(object, path, begin, end - begin));
    for (; first < last; ++first) {
      const ByteRange& range = ranges[order[first]];
      parts[order[first]] = arrow::SliceBuffer(joined, static_cast<int64_t>(range.offset - begin),
                                               static_cast<int64_t>(range.length));
    }
  }
  return parts;
}

}  // namespace

class LocalStore::Impl {
 public:
  Impl(std::shared_ptr<Disk> disk, const LocalStoreOptions& options)
      : disk_(disk), folders_(disk, options), readers_(disk, options.readers_max) {}

  LocalReaders& readers() { return readers_; }

  Status Put(std::string_view path, const Bytes& bytes, PutStrength strength) {
    // The plan is asked for late: what the disk argues for is known once the root exists.
    return Put(path, bytes, [this, strength] { return disk_->PlanOf(strength); });
  }
  Status PutBy(std::string_view path, const Bytes& bytes, const PutPlan& plan) {
    return Put(path, bytes, [&plan] { return plan; });
  }
  Status MakeDurable(std::string_view path);
  Result<ObjectInfo> Head(std::string_view path);
  Result<ListPage> List(std::string_view prefix, const ListOptions& options);
  Status Delete(std::string_view path, DeleteOrder order);

 private:
  using PlanMaker = std::function<PutPlan()>;
  Status Put(std::string_view path, const Bytes& bytes, const PlanMaker& plan);
  Status PutOnce(std::string_view path, const Bytes& bytes, const PlanMaker& plan,
                 bool* folder_gone);
  Status ListFolder(const std::string& folder, std::string_view prefix, ListPageBuilder* page);
  Status OfferObject(std::string path, ListPageBuilder* page);
  void DropIfLeftBehind(std::string_view hidden);

  const std::shared_ptr<Disk> disk_;
  LocalFolders folders_;
  LocalReaders readers_;
};

Status LocalStore::Impl::Put(std::string_view path, const Bytes& bytes, const PlanMaker& plan) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  bool folder_gone = false;
  Status status = PutOnce(path, bytes, plan, &folder_gone);
  if (folder_gone) {
    // Somebody removed the folder since it was opened, and nothing was put: make it anew, once.
    folders_.ForgetAll();
    status = PutOnce(path, bytes, plan, &folder_gone);
  }
  return status;
}

Status LocalStore::Impl::PutOnce(std::string_view path, const Bytes& bytes, const PlanMaker& plan,
                                 bool* folder_gone) {
  Result<std::shared_ptr<AnchoredFolder>> folder = folders_.Anchored(FolderOf(path));
  if (!folder.ok()) {
    *folder_gone = IsNotFound(folder.status());
    return CodeOf(folder.status()) == "store.not_a_folder" ? FolderIsObject(path, FolderOf(path))
                                                           : folder.status();
  }
  Status status = RunPutPlan(folders_, *folder, NameOf(path), bytes, plan());
  *folder_gone = IsNotFound(status) && !GetErrorDetail(status)->effect_unknown();
  if (CodeOf(status) == "store.is_a_folder") {
    return ObjectIsFolder(path);
  }
  if (IsAlreadyExists(status)) {
    const Result<DiskStat> there = disk_->Stat(path);
    return there.ok() && there->is_folder ? ObjectIsFolder(path) : ObjectExists(path);
  }
  return status;
}

Status LocalStore::Impl::MakeDurable(std::string_view path) {
  OG_ASSIGN_OR_RETURN(const OpenObject object, readers_.OpenOnce(path));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> bytes,
                      ReadRange(object, path, 0, object.size));
  const Status renewed = PutBy(path, {bytes}, kRenewPlan);
  return MeansAbsent(renewed) ? ObjectNotFound(path) : renewed;
}

Result<ObjectInfo> LocalStore::Impl::Head(std::string_view path) {
  const Result<DiskStat> stat = disk_->Stat(path);
  if (!stat.ok()) {
    return ReadError(stat.status(), path);
  }
  if (stat->is_folder) {
    return ObjectNotFound(path);
  }
  return ObjectInfo{std::string(path), stat->size, stat->modified_us};
}

Result<ListPage> LocalStore::Impl::List(std::string_view prefix, const ListOptions& options) {
  ListPageBuilder page(prefix, options);
  const std::string_view folder = FolderOf(prefix);
  const bool in_root = prefix.find('/') == std::string_view::npos;
  // A prefix that is no folder of a name has nothing below it, and must not lead out of the root.
  if (!in_root && !CheckObjectPath(folder).ok()) {
    return page.Finish();
  }
  OG_RETURN_NOT_OK(ListFolder(in_root ? "" : std::string(folder) + "/", prefix, &page));
  return page.Finish();
}

/// Offer everything below `folder` ("" or ending in '/') in the bytewise order of whole names.
Status LocalStore::Impl::ListFolder(const std::string& folder, std::string_view prefix,
                                    ListPageBuilder* page) {
  const std::string_view bare(folder.data(), folder.empty() ? 0 : folder.size() - 1);
  Result<std::vector<DiskEntry>> entries = disk_->ListFolder(bare);
  if (!entries.ok()) {
    // Absent, or gone since its parent was listed.
    return MeansAbsent(entries.status()) ? Status::OK() : entries.status();
  }
  std::vector<std::string> names;
  names.reserve(entries->size());
  for (const DiskEntry& entry : *entries) {
    std::string name = folder + entry.name + (entry.is_folder ? "/" : "");
    if (!entry.is_folder && IsTemporaryName(entry.name)) {
      DropIfLeftBehind(name);
      continue;
    }
    const bool skipped = entry.is_folder && page->Skips(name);
    if (name.starts_with(prefix) && !skipped) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  for (std::string& name : names) {
    if (page->full()) {
      break;
    }
    const std::string_view rolled = page->RollUp(name);
    if (!rolled.empty()) {
      page->AddPrefix(rolled);
    } else if (name.back() == '/') {
      OG_RETURN_NOT_OK(ListFolder(name, prefix, page));
    } else {
      OG_RETURN_NOT_OK(OfferObject(std::move(name), page));
    }
  }
  return Status::OK();
}

/// A hidden name belongs to a put that runs, or to a process that died in one. Whoever lists a
/// folder takes the old ones away, since nobody else can name them.
void LocalStore::Impl::DropIfLeftBehind(std::string_view hidden) {
  const Result<DiskStat> stat = disk_->Stat(hidden);
  if (stat.ok() && runtime::WallNow().count() - stat->modified_us > kHiddenKeptUs) {
    static_cast<void>(disk_->Unlink(hidden));  // best effort: the next listing tries again
  }
}

Status LocalStore::Impl::OfferObject(std::string path, ListPageBuilder* page) {
  if (!page->Wants(path)) {
    return Status::OK();
  }
  const Result<DiskStat> stat = disk_->Stat(path);
  if (IsNotFound(stat.status())) {
    return Status::OK();
  }
  OG_RETURN_NOT_OK(stat.status());
  page->AddObject({std::move(path), stat->size, stat->modified_us});
  return Status::OK();
}

Status LocalStore::Impl::Delete(std::string_view path, DeleteOrder order) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  readers_.Forget(path);
  const Status status = disk_->Unlink(path);
  if (!status.ok()) {
    return MeansAbsent(status) ? Status::OK() : status;
  }
  if (order == DeleteOrder::kFree || disk_->OrdersUnlinks()) {
    return Status::OK();
  }
  const Result<std::shared_ptr<DiskFolder>> folder = disk_->OpenFolder(FolderOf(path));
  if (IsNotFound(folder.status())) {
    return Status::OK();  // gone with everything in it
  }
  OG_RETURN_NOT_OK(folder.status());
  const Status synced = (*folder)->Sync();
  return synced.ok() ? Status::OK() : SyncFailed(synced);
}

Result<std::shared_ptr<LocalStore>> LocalStore::Open(const std::string& root,
                                                     const LocalStoreOptions& options) {
  OG_ASSIGN_OR_RETURN(std::shared_ptr<Disk> disk, OpenLocalDisk(root));
  return Make(std::move(disk), options);
}

std::shared_ptr<LocalStore> LocalStore::Make(std::shared_ptr<Disk> disk,
                                             const LocalStoreOptions& options) {
  return std::shared_ptr<LocalStore>(
      new LocalStore(std::make_unique<Impl>(std::move(disk), options)));
}

LocalStore::LocalStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalStore::~LocalStore() = default;

Result<std::shared_ptr<arrow::Buffer>> LocalStore::Get(std::string_view path) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  OG_ASSIGN_OR_RETURN(const OpenObject object, impl_->readers().OpenOnce(path));
  return ReadRange(object, path, 0, object.size);
}

Result<std::vector<std::shared_ptr<arrow::Buffer>>> LocalStore::GetRanges(
    std::string_view path, std::span<const ByteRange> ranges) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  OG_ASSIGN_OR_RETURN(const OpenObject object, impl_->readers().OpenKept(path));
  for (const ByteRange& range : ranges) {
    if (!RangeFits(range.offset, range.length, object.size)) {
      return ShortObject(path, range.offset, range.length, object.size);
    }
  }
  return ReadJoined(object, path, ranges);
}

Result<ObjectTail> LocalStore::GetTail(std::string_view path, uint64_t max_bytes) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  OG_ASSIGN_OR_RETURN(const OpenObject object, impl_->readers().OpenKept(path));
  const uint64_t length = std::min(object.size, max_bytes);
  ObjectTail tail;
  OG_ASSIGN_OR_RETURN(tail.bytes, ReadRange(object, path, object.size - length, length));
  tail.object_size = object.size;
  return tail;
}

Result<ObjectInfo> LocalStore::Head(std::string_view path) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  return impl_->Head(path);
}

Status LocalStore::Put(std::string_view path, const Bytes& bytes) {
  return impl_->PutBy(path, bytes, kReplacePlan);
}

Status LocalStore::PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) {
  return impl_->Put(path, bytes, strength);
}

Status LocalStore::MakeDurable(std::string_view path) {
  OG_RETURN_NOT_OK(CheckObjectPath(path));
  return impl_->MakeDurable(path);
}

Result<ListPage> LocalStore::List(std::string_view prefix, const ListOptions& options) {
  OG_CHECK(options.limit > 0);
  return impl_->List(prefix, options);
}

Status LocalStore::Delete(std::string_view path, DeleteOrder order) {
  return impl_->Delete(path, order);
}

}  // namespace omnigraph::store
