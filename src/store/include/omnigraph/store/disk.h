/// \file
/// The disk seam: every file call that the local store makes. The real one is local_disk.h;
/// simulated_disk.h keeps synced apart from unsynced state and can lose power.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/store/object_store.h"
#include "omnigraph/store/put_plan.h"

namespace omnigraph::store {

/// What a name on a disk stands for.
struct DiskStat {
  bool is_folder = false;
  uint64_t size = 0;
  int64_t modified_us = 0;
  /// The file itself, whatever names it has; an open file's is not reused.
  uint64_t device = 0;
  uint64_t inode = 0;
};

struct DiskEntry {
  std::string name;
  bool is_folder = false;
};

/// An open file. Single-owner while it is written; reads are Thread-safe.
class DiskFile {
 public:
  virtual ~DiskFile() = default;

  /// Append all parts. Errors: kExhausted `store.full`; `store.io`.
  virtual Status Write(const Bytes& parts) = 0;
  /// Hand the bytes written so far to the medium and wait until it has taken them (its own cache
  /// may hold them).
  virtual Status Writeback() = 0;
  virtual Status SyncData() = 0;
  virtual Status Sync() = 0;
  /// Read up to `size` bytes at `offset`; fewer only at the end of the file.
  virtual Result<size_t> ReadAt(uint64_t offset, size_t size, uint8_t* out) = 0;
  virtual Result<DiskStat> Stat() = 0;
};

/// An open folder: survives a rename of itself, and answers kNotFound to every new name once it was
/// removed. Thread-safe.
class DiskFolder {
 public:
  virtual ~DiskFolder() = default;

  /// A file without a name; it vanishes with its handle unless it is linked. Errors: kUnsupported
  /// `store.no_unnamed` where the file system has none.
  virtual Result<std::unique_ptr<DiskFile>> OpenUnnamed() = 0;
  /// A new named file. Errors: kAlreadyExists.
  virtual Result<std::unique_ptr<DiskFile>> Create(std::string_view name) = 0;
  /// Give an unnamed file its name. Errors: kAlreadyExists `store.already_exists`, kNotFound (the
  /// folder is gone).
  virtual Status LinkUnnamed(DiskFile& file, std::string_view name) = 0;
  /// A second name for a named file. Errors: as LinkUnnamed.
  virtual Status Link(std::string_view from, std::string_view to) = 0;
  /// Rename, in the place of what `to` named.
  virtual Status Rename(std::string_view from, std::string_view to) = 0;
  /// The two names change places, in one step where the file system can; else `from` becomes `to`
  /// if that was there just before. Errors: kNotFound when either is absent.
  virtual Status Exchange(std::string_view from, std::string_view to) = 0;
  /// Errors: kNotFound.
  virtual Status Unlink(std::string_view name) = 0;
  virtual Status Sync() = 0;
};

/// A tree of files below a root. Paths are relative to it ("" is the root itself). Thread-safe.
///
/// Errors: kNotFound `store.not_found`, kAlreadyExists `store.already_exists`, kInvalid
/// `store.permission_denied`, `store.not_a_folder`, `store.is_a_folder`, `store.bad_path` (a name
/// too long), kExhausted `store.full` and `store.too_many_files`, kUnavailable `store.io`.
class Disk {
 public:
  virtual ~Disk() = default;

  /// What a message calls the file at `path`.
  virtual std::string Describe(std::string_view path) const = 0;
  /// Make the root and what is above it, where it is missing.
  virtual Status MakeRoot() = 0;
  /// Sync the root and every ancestor of it on the same file system that this process may open
  /// (P1).
  virtual Status SyncRoot() = 0;
  virtual Result<std::shared_ptr<DiskFolder>> OpenFolder(std::string_view path) = 0;
  /// Make one folder; an existing one is OK. Errors: kNotFound when its parent is absent.
  virtual Status MakeFolder(std::string_view path) = 0;
  /// Open for reading. Errors: kNotFound, `store.is_a_folder`.
  virtual Result<std::shared_ptr<DiskFile>> OpenFile(std::string_view path) = 0;
  virtual Result<DiskStat> Stat(std::string_view path) = 0;
  /// In no order. Errors: kNotFound, `store.not_a_folder`.
  virtual Result<std::vector<DiskEntry>> ListFolder(std::string_view path) = 0;
  virtual Status Unlink(std::string_view path) = 0;
  /// The steps that make a put of this strength durable here: strict ones where ordered is not
  /// argued.
  virtual PutPlan PlanOf(PutStrength strength) const = 0;
  /// True where unlinks survive a power cut in the order made (a journal); else each must be
  /// synced.
  virtual bool OrdersUnlinks() const = 0;
};

}  // namespace omnigraph::store
