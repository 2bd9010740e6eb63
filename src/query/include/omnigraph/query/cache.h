/// \file
/// What a process keeps of tables between queries: decoded columns and adjacency.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "omnigraph/base/status.h"

namespace omnigraph::query {

/// A bounded map from names of immutable things to the things, least recently used out first.
///
/// Keys hold the identity of a table version, so an entry is never stale, only unused. One cache
/// serves one graph. Thread-safe;
/// two threads that miss one key at a time both make it.
class QueryCache {
 public:
  /// Something kept; knows its size in memory.
  class Entry {
   public:
    virtual ~Entry() = default;
    virtual int64_t bytes() const = 0;
  };
  using Maker = std::function<Result<std::shared_ptr<const Entry>>()>;

  /// Bytes that a cache holds unless told otherwise.
  static constexpr int64_t kDefaultBytes = int64_t{256} << 20;

  explicit QueryCache(int64_t bytes_max = kDefaultBytes);
  ~QueryCache();

  /// The entry of a key, made if absent. What is larger than the cache is made and not kept.
  /// Errors: those of `make`.
  Result<std::shared_ptr<const Entry>> GetOrMake(const std::string& key, const Maker& make);

  /// The entry of a key, or nullptr.
  std::shared_ptr<const Entry> Find(const std::string& key);

  int64_t bytes() const;
  int64_t bytes_max() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace omnigraph::query
