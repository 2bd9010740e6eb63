#include "omnigraph/lance/index/key_lookup.h"

#include <fmt/format.h>

#include <utility>

#include "key_search.h"
#include "lookup_cache.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::lance {
namespace {

Status CheckOrder(std::span<const std::string_view> keys) {
  for (size_t i = 1; i < keys.size(); ++i) {
    if (keys[i] <= keys[i - 1]) {
      return Invalid("index.key_order",
                     fmt::format("look up {} keys: key {} does not follow the one before it; sort "
                                 "them and drop repeats",
                                 keys.size(), i),
                     {.key = std::string(keys[i])});
    }
  }
  return Status::OK();
}

}  // namespace

class KeyLookup::Impl {
 public:
  explicit Impl(KeyLookupOptions options)
      : column_(std::move(options.column)), cache_(options.cache_bytes_max) {}

  Result<std::vector<std::optional<uint64_t>>> FindAddresses(
      const Table& table, std::span<const std::string_view> keys) {
    OG_RETURN_NOT_OK(CheckOrder(keys));
    OG_ASSIGN_OR_RETURN(KeyColumn column, FindKeyColumn(table, column_));
    KeySearch search(table, std::move(column), keys, &cache_);
    auto found = search.Run();
    Count(search.stats());
    return found;
  }

  KeyLookupStats stats() const {
    runtime::MutexLock lock(mutex_);
    return stats_;
  }
  uint64_t cached_bytes() const { return cache_.bytes(); }

 private:
  void Count(const KeyLookupStats& more) {
    runtime::MutexLock lock(mutex_);
    stats_.keys += more.keys;
    stats_.pages_read += more.pages_read;
    stats_.pages_from_cache += more.pages_from_cache;
    stats_.stopped_by_filter += more.stopped_by_filter;
    stats_.fragments_scanned += more.fragments_scanned;
  }

  const std::string column_;
  LookupCache cache_;
  mutable runtime::Mutex mutex_;
  KeyLookupStats stats_ OG_GUARDED_BY(mutex_);
};

KeyLookup::KeyLookup(KeyLookupOptions options) : impl_(new Impl(std::move(options))) {}
KeyLookup::~KeyLookup() = default;

Result<std::vector<std::optional<uint64_t>>> KeyLookup::FindAddresses(
    const Table& table, std::span<const std::string_view> keys) {
  return impl_->FindAddresses(table, keys);
}

Result<std::vector<bool>> KeyLookup::Exist(const Table& table,
                                           std::span<const std::string_view> keys) {
  OG_ASSIGN_OR_RETURN(const auto found, impl_->FindAddresses(table, keys));
  std::vector<bool> exist(found.size());
  for (size_t i = 0; i < found.size(); ++i) {
    exist[i] = found[i].has_value();
  }
  return exist;
}

KeyLookupStats KeyLookup::stats() const {
  return impl_->stats();
}

uint64_t KeyLookup::cached_bytes() const {
  return impl_->cached_bytes();
}

}  // namespace omnigraph::lance
