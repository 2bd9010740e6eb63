/// \file
/// What lookups remember: parts of immutable objects, by name, least recently used out first.
/// Private.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "omnigraph/runtime/mutex.h"

namespace omnigraph::lance {

/// Thread-safe. Two callers that miss at once both make the value; either is right.
class LookupCache {
 public:
  explicit LookupCache(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// nullptr where it is not there. T must be what was inserted under the name.
  template <typename T>
  std::shared_ptr<const T> Find(const std::string& name) {
    runtime::MutexLock lock(mutex_);
    const auto at = entries_.find(name);
    if (at == entries_.end()) {
      return nullptr;
    }
    order_.splice(order_.begin(), order_, at->second);
    return std::static_pointer_cast<const T>(at->second->value);
  }

  /// Values larger than the whole budget are not kept.
  void Insert(const std::string& name, std::shared_ptr<const void> value, uint64_t bytes) {
    runtime::MutexLock lock(mutex_);
    if (bytes > bytes_max_ || entries_.contains(name)) {
      return;
    }
    order_.push_front({name, std::move(value), bytes});
    entries_.emplace(name, order_.begin());
    bytes_ += bytes;
    while (bytes_ > bytes_max_) {
      bytes_ -= order_.back().bytes;
      entries_.erase(order_.back().name);
      order_.pop_back();
    }
  }

  uint64_t bytes() const {
    runtime::MutexLock lock(mutex_);
    return bytes_;
  }
  uint64_t bytes_max() const { return bytes_max_; }

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<const void> value;
    uint64_t bytes = 0;
  };

  const uint64_t bytes_max_;
  mutable runtime::Mutex mutex_;
  std::list<Entry> order_ OG_GUARDED_BY(mutex_);  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> entries_ OG_GUARDED_BY(mutex_);
  uint64_t bytes_ OG_GUARDED_BY(mutex_) = 0;
};

}  // namespace omnigraph::lance
