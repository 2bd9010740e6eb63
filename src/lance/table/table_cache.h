/// \file
/// What versions of one table share in memory: open data files and deletion vectors. Private.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "omnigraph/lance/table/deletion.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::lance {

class FileReader;

/// A bounded map from object name to value, oldest out first. Thread-safe. Two callers that miss
/// at once both make the value; objects are immutable, so either is right.
template <typename Value>
class ObjectCache {
 public:
  explicit ObjectCache(size_t entries_max) : entries_max_(entries_max) {}

  std::optional<Value> Find(const std::string& object) {
    runtime::MutexLock lock(mutex_);
    const auto at = entries_.find(object);
    return at == entries_.end() ? std::nullopt : std::optional<Value>(at->second);
  }

  void Insert(const std::string& object, Value value) {
    runtime::MutexLock lock(mutex_);
    if (!entries_.emplace(object, std::move(value)).second) {
      return;
    }
    order_.push_back(object);
    if (order_.size() > entries_max_) {
      entries_.erase(order_.front());
      order_.pop_front();
    }
  }

 private:
  const size_t entries_max_;
  runtime::Mutex mutex_;
  std::map<std::string, Value> entries_ OG_GUARDED_BY(mutex_);
  std::deque<std::string> order_ OG_GUARDED_BY(mutex_);
};

/// Thread-safe.
class TableCache {
 public:
  ObjectCache<std::shared_ptr<const FileReader>>& files() { return files_; }
  ObjectCache<DeletionVector>& deletions() { return deletions_; }

 private:
  // An open file keeps its column metadata, some tens of KiB.
  ObjectCache<std::shared_ptr<const FileReader>> files_{1024};
  ObjectCache<DeletionVector> deletions_{1024};
};

}  // namespace omnigraph::lance
