/// \file
/// Objects as files below one folder, durable by the rules P1 to P3. All file calls go through a
/// Disk, so that the same code runs on the simulated one.
#pragma once

#include <memory>
#include <string>

#include "omnigraph/store/disk.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

struct LocalStoreOptions {
  /// Unnamed files kept open ahead in each folder that was put into more than once; 0: none, and no
  /// thread. More hides slower opens behind bursts and holds more file descriptors.
  size_t open_ahead = 8;
  /// Folders kept open, each with its unnamed files. More saves opens and syncs of ancestors.
  size_t folders_max = 48;
  /// Files kept open for reading.
  size_t readers_max = 64;
};

/// The local store. Thread-safe.
///
/// Ordered and strict puts are the step lists that the disk argues for (put_plan.h). Before its
/// first put into a folder it syncs the folder's ancestors, whoever made them, and remembers that
/// (P1).
class LocalStore : public ObjectStore {
 public:
  /// Open the folder `root` of the machine's file system. It need not exist: the first put makes
  /// it. Errors: kInvalid `store.not_a_folder`, `store.permission_denied`.
  static Result<std::shared_ptr<LocalStore>> Open(const std::string& root,
                                                  const LocalStoreOptions& options = {});

  /// The same over any disk.
  static std::shared_ptr<LocalStore> Make(std::shared_ptr<Disk> disk,
                                          const LocalStoreOptions& options = {});

  /// Stops the thread that opens ahead.
  ~LocalStore() override;

  Result<std::shared_ptr<arrow::Buffer>> Get(std::string_view path) override;
  Result<std::vector<std::shared_ptr<arrow::Buffer>>> GetRanges(
      std::string_view path, std::span<const ByteRange> ranges) override;
  Result<ObjectTail> GetTail(std::string_view path, uint64_t max_bytes) override;
  Result<ObjectInfo> Head(std::string_view path) override;
  Status Put(std::string_view path, const Bytes& bytes) override;
  Status PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) override;
  Status MakeDurable(std::string_view path) override;
  Result<ListPage> List(std::string_view prefix, const ListOptions& options = {}) override;
  Status Delete(std::string_view path, DeleteOrder order) override;
  using ObjectStore::Delete;

  class Impl;

 private:
  explicit LocalStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::store
