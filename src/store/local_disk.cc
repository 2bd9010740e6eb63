#include "omnigraph/store/local_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "local_errno.h"
#include "local_file_system.h"

namespace omnigraph::store {
namespace {

constexpr mode_t kFileMode = 0666;
constexpr mode_t kFolderMode = 0777;

/// An open file descriptor. Single-owner.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) {
      // Nothing unsynced is promised to anybody when a handle goes.
      close(number_);
    }
  }
  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

 private:
  int number_;
};

template <typename Call>
auto Retrying(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

DiskStat ToDiskStat(const struct stat& from) {
  DiskStat to;
  to.is_folder = S_ISDIR(from.st_mode);
  to.size = static_cast<uint64_t>(from.st_size);
  to.modified_us = from.st_mtim.tv_sec * 1'000'000 + from.st_mtim.tv_nsec / 1'000;
  to.device = from.st_dev;
  to.inode = from.st_ino;
  return to;
}

class LocalFile : public DiskFile {
 public:
  LocalFile(Descriptor descriptor, std::string name)
      : descriptor_(std::move(descriptor)), name_(std::move(name)) {}

  int descriptor() const { return descriptor_.get(); }

  Status Write(const Bytes& parts) override {
    std::vector<iovec> pieces;
    pieces.reserve(parts.size());
    for (const std::shared_ptr<arrow::Buffer>& part : parts) {
      if (part->size() > 0) {
        pieces.push_back({const_cast<uint8_t*>(part->data()), static_cast<size_t>(part->size())});
      }
    }
    size_t done = 0;
    while (done < pieces.size()) {
      const int count = static_cast<int>(std::min<size_t>(pieces.size() - done, IOV_MAX));
      const ssize_t written =
          Retrying([&] { return writev(descriptor_.get(), pieces.data() + done, count); });
      if (written < 0) {
        return ErrnoStatus(errno, "write", name_);
      }
      size_t left = static_cast<size_t>(written);
      while (done < pieces.size() && left >= pieces[done].iov_len) {
        left -= pieces[done].iov_len;
        ++done;
      }
      if (left > 0) {
        pieces[done].iov_base = static_cast<uint8_t*>(pieces[done].iov_base) + left;
        pieces[done].iov_len -= left;
      }
    }
    return Status::OK();
  }

  Status Writeback() override {
    const int result = Retrying([&] {
      return sync_file_range(
          descriptor_.get(), 0, 0,
          SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    });
    return result == 0 ? Status::OK() : ErrnoStatus(errno, "write back", name_);
  }

  Status SyncData() override {
    const int result = Retrying([&] { return fdatasync(descriptor_.get()); });
    return result == 0 ? Status::OK() : ErrnoStatus(errno, "sync", name_);
  }

  Status Sync() override {
    const int result = Retrying([&] { return fsync(descriptor_.get()); });
    return result == 0 ? Status::OK() : ErrnoStatus(errno, "sync", name_);
  }

  Result<size_t> ReadAt(uint64_t offset, size_t size, uint8_t* out) override {
    size_t done = 0;
    while (done < size) {
      const ssize_t got = Retrying([&] {
        return pread(descriptor_.get(), out + done, size - done, static_cast<off_t>(offset + done));
      });
      if (got < 0) {
        return ErrnoStatus(errno, "read", name_);
      }
      if (got == 0) {
        break;
      }
      done += static_cast<size_t>(got);
    }
    return done;
  }

  Result<DiskStat> Stat() override {
    struct stat result{};
    if (fstat(descriptor_.get(), &result) != 0) {
      return ErrnoStatus(errno, "look at", name_);
    }
    return ToDiskStat(result);
  }

 private:
  const Descriptor descriptor_;
  const std::string name_;
};

class LocalFolder : public DiskFolder {
 public:
  LocalFolder(Descriptor descriptor, std::string name)
      : descriptor_(std::move(descriptor)), name_(std::move(name)) {}

  int descriptor() const { return descriptor_.get(); }

  Result<std::unique_ptr<DiskFile>> OpenUnnamed() override {
    if (no_unnamed_.load(std::memory_order_relaxed)) {
      return NoUnnamed();
    }
    Descriptor file(Retrying(
        [&] { return openat(descriptor_.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, kFileMode); }));
    if (file.valid()) {
      return std::make_unique<LocalFile>(std::move(file), "a new file in " + name_);
    }
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL) {
      no_unnamed_.store(true, std::memory_order_relaxed);
      return NoUnnamed();
    }
    return ChangeError(errno, "make a file in", name_);
  }

  Result<std::unique_ptr<DiskFile>> Create(std::string_view name) override {
    const std::string file_name(name);
    Descriptor file(Retrying([&] {
      return openat(descriptor_.get(), file_name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC,
                    kFileMode);
    }));
    if (!file.valid()) {
      return ChangeError(errno, "make", Child(name));
    }
    return std::make_unique<LocalFile>(std::move(file), Child(name));
  }

  Status LinkUnnamed(DiskFile& file, std::string_view name) override {
    const int descriptor = static_cast<LocalFile&>(file).descriptor();
    const std::string to(name);
    // The short way needs no walk through /proc (8 of an acknowledgement's microseconds); kernels
    // before 6.10 want a privilege for it, and say that nothing is there.
    int result = linkat(descriptor, "", descriptor_.get(), to.c_str(), AT_EMPTY_PATH);
    if (result != 0 && errno == ENOENT) {
      const std::string from = "/proc/self/fd/" + std::to_string(descriptor);
      result = linkat(AT_FDCWD, from.c_str(), descriptor_.get(), to.c_str(), AT_SYMLINK_FOLLOW);
    }
    return result == 0 ? Status::OK() : ChangeError(errno, "link", Child(name));
  }

  Status Link(std::string_view from, std::string_view to) override {
    const int result = linkat(descriptor_.get(), std::string(from).c_str(), descriptor_.get(),
                              std::string(to).c_str(), 0);
    return result == 0 ? Status::OK() : ChangeError(errno, "link", Child(to));
  }

  Status Rename(std::string_view from, std::string_view to) override {
    const int result = renameat(descriptor_.get(), std::string(from).c_str(), descriptor_.get(),
                                std::string(to).c_str());
    return result == 0 ? Status::OK() : ChangeError(errno, "rename to", Child(to));
  }

  Status Exchange(std::string_view from, std::string_view to) override {
    const std::string file_name(to);
    const int result = renameat2(descriptor_.get(), std::string(from).c_str(), descriptor_.get(),
                                 file_name.c_str(), RENAME_EXCHANGE);
    if (result == 0) {
      return Status::OK();
    }
    struct stat there{};
    const bool cannot = errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
    if (cannot && fstatat(descriptor_.get(), file_name.c_str(), &there, 0) == 0) {
      return Rename(from, to);
    }
    return ChangeError(errno, "exchange with", Child(to));
  }

  Status Unlink(std::string_view name) override {
    const int result = unlinkat(descriptor_.get(), std::string(name).c_str(), 0);
    return result == 0 ? Status::OK() : ChangeError(errno, "delete", Child(name));
  }

  Status Sync() override {
    const int result = Retrying([&] { return fsync(descriptor_.get()); });
    return result == 0 ? Status::OK() : ErrnoStatus(errno, "sync the folder", name_);
  }

 private:
  std::string Child(std::string_view name) const { return name_ + "/" + std::string(name); }
  /// The error of a change in this folder. In a removed folder kernels answer this or that; for us
  /// it is absent.
  Status ChangeError(int error, std::string_view action, const std::string& object) const {
    struct stat here{};
    const bool removed = fstat(descriptor_.get(), &here) == 0 && here.st_nlink == 0;
    return ErrnoStatus(removed ? ENOENT : error, action, object);
  }
  Status NoUnnamed() const {
    return Unsupported("store.no_unnamed", "the file system of " + name_ + " has no unnamed files");
  }

  const Descriptor descriptor_;
  const std::string name_;
  std::atomic<bool> no_unnamed_{false};
};

/// Sync the root or one of its ancestors. One that this process may not open was not made by it.
Status SyncByPath(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) {
    return errno == EACCES || errno == EPERM ? Status::OK() : ErrnoStatus(errno, "open", path);
  }
  const int result = Retrying([&] { return fsync(folder.get()); });
  return result == 0 ? Status::OK() : ErrnoStatus(errno, "sync the folder", path);
}

class LocalDisk : public Disk {
 public:
  explicit LocalDisk(std::string root) : root_(std::move(root)) { LookAtFileSystem(); }

  std::string Describe(std::string_view path) const override { return FullPath(path); }

  Status MakeRoot() override {
    OG_RETURN_NOT_OK(MakeFoldersOfRoot());
    LookAtFileSystem();
    return Status::OK();
  }

  Status SyncRoot() override {
    struct stat here{};
    if (stat(root_.c_str(), &here) != 0) {
      return ErrnoStatus(errno, "look at", root_);
    }
    // By the real path: what lies above a link to the root need not lie above the root.
    std::unique_ptr<char, decltype(&std::free)> real(realpath(root_.c_str(), nullptr), &std::free);
    if (real == nullptr) {
      return ErrnoStatus(errno, "look at", root_);
    }
    for (std::string path = real.get();; path = ParentOf(path)) {
      struct stat above{};
      if (stat(path.c_str(), &above) == 0 && above.st_dev != here.st_dev) {
        return Status::OK();  // a mount point: its entry above is no part of this file system
      }
      OG_RETURN_NOT_OK(SyncByPath(path));
      if (path == "/") {
        return Status::OK();
      }
    }
  }

  Result<std::shared_ptr<DiskFolder>> OpenFolder(std::string_view path) override {
    const std::string full = FullPath(path);
    Descriptor folder(
        Retrying([&] { return open(full.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
    if (!folder.valid()) {
      return ErrnoStatus(errno, "open the folder", full);
    }
    return std::make_shared<LocalFolder>(std::move(folder), full);
  }

  Status MakeFolder(std::string_view path) override {
    const std::string full = FullPath(path);
    if (mkdir(full.c_str(), kFolderMode) == 0 || errno == EEXIST) {
      return Status::OK();
    }
    return ErrnoStatus(errno, "make the folder", full);
  }

  Result<std::shared_ptr<DiskFile>> OpenFile(std::string_view path) override {
    const std::string full = FullPath(path);
    Descriptor file(Retrying([&] { return open(full.c_str(), O_RDONLY | O_CLOEXEC); }));
    if (!file.valid()) {
      return ErrnoStatus(errno, "open", full);
    }
    return std::make_shared<LocalFile>(std::move(file), full);
  }

  Result<DiskStat> Stat(std::string_view path) override {
    const std::string full = FullPath(path);
    struct stat result{};
    if (stat(full.c_str(), &result) != 0) {
      return ErrnoStatus(errno, "look at", full);
    }
    return ToDiskStat(result);
  }

  Result<std::vector<DiskEntry>> ListFolder(std::string_view path) override {
    const std::string full = FullPath(path);
    DIR* folder = opendir(full.c_str());
    if (folder == nullptr) {
      return ErrnoStatus(errno, "list", full);
    }
    std::vector<DiskEntry> entries;
    errno = 0;
    for (const dirent* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") {
        continue;
      }
      DiskEntry found{std::string(name), entry->d_type == DT_DIR};
      if (entry->d_type == DT_UNKNOWN || entry->d_type == DT_LNK) {
        struct stat target{};
        found.is_folder =
            fstatat(dirfd(folder), entry->d_name, &target, 0) == 0 && S_ISDIR(target.st_mode);
      }
      entries.push_back(std::move(found));
      errno = 0;
    }
    const int error = errno;
    closedir(folder);
    if (error != 0) {
      return ErrnoStatus(error, "list", full);
    }
    return entries;
  }

  Status Unlink(std::string_view path) override {
    const std::string full = FullPath(path);
    return unlink(full.c_str()) == 0 ? Status::OK() : ErrnoStatus(errno, "delete", full);
  }

  PutPlan PlanOf(PutStrength strength) const override {
    const FileSystemKind kind = kind_.load(std::memory_order_relaxed);
    if (kind == FileSystemKind::kOther) {
      return kStrictBothPlan;
    }
    if (strength == PutStrength::kOrdered) {
      return kOrderedPlan;
    }
    return kind == FileSystemKind::kExt4Journal ? kStrictPlan : kStrictFilePlan;
  }

  bool OrdersUnlinks() const override {
    return kind_.load(std::memory_order_relaxed) == FileSystemKind::kExt4Journal;
  }

 private:
  static std::string ParentOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == 0 ? "/" : path.substr(0, slash);
  }

  std::string FullPath(std::string_view path) const {
    if (path.empty()) {
      return root_;
    }
    return (root_ == "/" ? "" : root_) + "/" + std::string(path);
  }

  /// Learn the file system of the root, if it exists yet.
  void LookAtFileSystem() {
    const Descriptor root(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (root.valid()) {
      kind_.store(DetectFileSystem(root.get()), std::memory_order_relaxed);
    }
  }

  Status MakeFoldersOfRoot() const {
    for (size_t at = root_.find('/', 1);; at = root_.find('/', at + 1)) {
      const std::string path = root_.substr(0, at);
      if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
        const int error = errno;
        struct stat existing{};
        // A read-only or foreign ancestor that exists is no obstacle.
        if (stat(path.c_str(), &existing) != 0) {
          return ErrnoStatus(error, "make the folder", path);
        }
      }
      if (at == std::string::npos) {
        return Status::OK();
      }
    }
  }

  const std::string root_;
  std::atomic<FileSystemKind> kind_{FileSystemKind::kOther};
};

/// `path` made absolute, without repeated or trailing slashes and without `.` segments. `..` is
/// left to the kernel.
Result<std::string> AbsolutePath(const std::string& path) {
  std::string whole = path;
  if (whole.empty() || whole.find('\0') != std::string::npos) {
    return Invalid("store.bad_uri", "the path of a store is empty or holds a NUL byte");
  }
  if (whole[0] != '/') {
    char here[PATH_MAX];
    if (getcwd(here, sizeof(here)) == nullptr) {
      return ErrnoStatus(errno, "find", "the working folder");
    }
    whole = std::string(here) + "/" + whole;
  }
  std::string clean;
  size_t begin = 0;
  while (begin < whole.size()) {
    const size_t end = std::min(whole.find('/', begin), whole.size());
    const std::string segment = whole.substr(begin, end - begin);
    if (!segment.empty() && segment != ".") {
      clean += "/" + segment;
    }
    begin = end + 1;
  }
  return clean.empty() ? "/" : clean;
}

}  // namespace

Result<std::shared_ptr<Disk>> OpenLocalDisk(const std::string& root) {
  OG_ASSIGN_OR_RETURN(std::string path, AbsolutePath(root));
  struct stat existing{};
  if (stat(path.c_str(), &existing) == 0) {
    if (!S_ISDIR(existing.st_mode)) {
      return ErrnoStatus(ENOTDIR, "open", path);
    }
    if (faccessat(AT_FDCWD, path.c_str(), R_OK | X_OK, AT_EACCESS) != 0) {
      return ErrnoStatus(errno, "open", path);
    }
  } else if (errno != ENOENT) {
    return ErrnoStatus(errno, "open", path);
  }
  return std::make_shared<LocalDisk>(std::move(path));
}

}  // namespace omnigraph::store
