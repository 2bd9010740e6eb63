/// \file
/// A few files kept open for reading: many small reads of one object cost one look at its name and
/// the reads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/runtime/mutex.h"
#include "omnigraph/store/disk.h"

namespace omnigraph::store {

/// An object opened for reading.
struct OpenObject {
  std::shared_ptr<DiskFile> file;
  uint64_t size = 0;
};

/// Open files by path, at most `readers_max`. A kept file is used only while its name still stands
/// for it. Thread-safe.
class LocalReaders {
 public:
  LocalReaders(std::shared_ptr<Disk> disk, size_t readers_max);

  /// Open without keeping: for objects that are read once and whole. Errors: kNotFound; those of
  /// Disk.
  Result<OpenObject> OpenOnce(std::string_view path);
  /// Open and keep.
  Result<OpenObject> OpenKept(std::string_view path);
  /// Close what is kept for `path`, so that a deleted file gives its space back.
  void Forget(std::string_view path);

 private:
  struct Slot {
    std::shared_ptr<DiskFile> file;
    uint64_t device = 0;
    uint64_t inode = 0;
    uint64_t last_used = 0;
  };

  const std::shared_ptr<Disk> disk_;
  const size_t readers_max_;
  runtime::Mutex mutex_;
  std::map<std::string, Slot, std::less<>> slots_ OG_GUARDED_BY(mutex_);
  uint64_t uses_ OG_GUARDED_BY(mutex_) = 0;
};

/// True for the errors by which a disk says that there is no such object: a folder, a name below an
/// object and a name that the file system cannot have are none.
bool MeansAbsent(const Status& status);
/// The error of a read: `store.not_found` where MeansAbsent, else the same.
Status ReadError(const Status& status, std::string_view path);

}  // namespace omnigraph::store
