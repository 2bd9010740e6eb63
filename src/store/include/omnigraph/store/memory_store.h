/// \file
/// Objects in memory: for tests, and for graphs that need not outlive the process.
#pragma once

#include <memory>

#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

/// A store in memory. Copies what is put; what is read is shared and stays as it was.
/// Thread-safe.
class MemoryStore : public ObjectStore {
 public:
  MemoryStore();
  ~MemoryStore() override;

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

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::store
