/// \file
/// What versions of one table share in memory: open data files and deletion vectors. Private.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "omnigraph/lance/table/deletion.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::lance {

class FileReader;

/// A map from object name to value, bounded by bytes, oldest out first. Thread-safe. Two callers
/// that miss at once both make the value; objects are immutable, so either is right.
template <typename Value>
class ObjectCache {
 public:
  explicit ObjectCache(size_t bytes_max) : bytes_max_(bytes_max) {}

  std::optional<Value> Find(const std::string& object) {
    runtime::MutexLock lock(mutex_);
    const auto at = entries_.find(object);
    return at == entries_.end() ? std::nullopt : std::optional<Value>(at->second);
  }

  /// `bytes`: about what the value holds in memory.
  void Insert(const std::string& object, Value value, size_t bytes) {
    runtime::MutexLock lock(mutex_);
    if (!entries_.emplace(object, std::move(value)).second) {
      return;
    }
    order_.emplace_back(object, bytes);
    bytes_ += bytes;
    while (bytes_ > bytes_max_ && order_.size() > 1) {
      bytes_ -= order_.front().second;
      entries_.erase(order_.front().first);
      order_.pop_front();
    }
  }

 private:
  const size_t bytes_max_;
  runtime::Mutex mutex_;
  std::map<std::string, Value> entries_ OG_GUARDED_BY(mutex_);
  std::deque<std::pair<std::string, size_t>> order_ OG_GUARDED_BY(mutex_);
  size_t bytes_ OG_GUARDED_BY(mutex_) = 0;
};

/// Thread-safe.
class TableCache {
 public:
  ObjectCache<std::shared_ptr<const FileReader>>& files() { return files_; }
  ObjectCache<DeletionVector>& deletions() { return deletions_; }

 private:
  ObjectCache<std::shared_ptr<const FileReader>> files_{32 << 20};
  ObjectCache<DeletionVector> deletions_{16 << 20};
};

}  // namespace omnigraph::lance
