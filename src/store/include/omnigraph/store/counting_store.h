/// \file
/// A decorator that counts calls and bytes by operation. The cost tests rest on it: one
/// steady-state ack is one put and no list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

/// What one operation did so far.
struct OpCount {
  uint64_t calls = 0;
  uint64_t failures = 0;
  uint64_t bytes = 0;  ///< read or written; 0 for head, make_durable, list, delete
  uint64_t items =
      0;  ///< ranges of GetRanges, entries of List, parts of a put; else equal to `calls`

  friend bool operator==(const OpCount&, const OpCount&) = default;
};

struct StoreCounts {
  OpCount get;
  OpCount get_ranges;
  OpCount get_tail;
  OpCount head;
  OpCount put;
  OpCount put_if_absent;
  OpCount make_durable;
  OpCount list;
  OpCount erase;  ///< Delete

  uint64_t calls() const;
  /// Get, GetRanges and GetTail.
  uint64_t read_calls() const { return get.calls + get_ranges.calls + get_tail.calls; }
  uint64_t read_bytes() const { return get.bytes + get_ranges.bytes + get_tail.bytes; }
  uint64_t put_calls() const { return put.calls + put_if_absent.calls; }
  uint64_t put_bytes() const { return put.bytes + put_if_absent.bytes; }
  /// One line for failure messages: `get 3 (12 B) ...`, operations without calls left out.
  std::string ToString() const;

  friend bool operator==(const StoreCounts&, const StoreCounts&) = default;
};

/// One call, as kept by the trace.
struct StoreCall {
  std::string op;  ///< `get`, `get_ranges`, `get_tail`, `head`, `put`, `put_if_absent`,
                   ///< `make_durable`, `list`, `delete`
  std::string path;
  uint64_t bytes = 0;
  bool ok = false;
};

/// Counts what passes through to `base`. Thread-safe.
class CountingStore : public ObjectStore {
 public:
  explicit CountingStore(std::shared_ptr<ObjectStore> base);
  ~CountingStore() override;

  /// What was counted since construction or the last Reset.
  StoreCounts counts() const;
  /// Return the counts and start again from nothing, in one step.
  StoreCounts Reset();
  /// Keep the calls themselves too, the newest `limit` of them; 0 stops and forgets.
  void KeepTrace(size_t limit);
  std::vector<StoreCall> TakeTrace();

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
