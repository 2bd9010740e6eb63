#include "omnigraph/query/cache.h"

#include <list>
#include <map>
#include <utility>

#include "omnigraph/runtime/mutex.h"

namespace omnigraph::query {

struct QueryCache::State {
  struct Slot {
    std::string key;
    std::shared_ptr<const Entry> entry;
    int64_t bytes = 0;
  };
  using Order = std::list<Slot>;  // most recently used first

  int64_t bytes_max = 0;
  mutable runtime::Mutex mutex;
  Order order OG_GUARDED_BY(mutex);
  std::map<std::string, Order::iterator> slots OG_GUARDED_BY(mutex);
  int64_t bytes OG_GUARDED_BY(mutex) = 0;

  void Drop(Order::iterator slot) OG_REQUIRES(mutex) {
    bytes -= slot->bytes;
    slots.erase(slot->key);
    order.erase(slot);
  }
};

QueryCache::QueryCache(int64_t bytes_max) : state_(std::make_unique<State>()) {
  state_->bytes_max = bytes_max;
}

QueryCache::~QueryCache() = default;

std::shared_ptr<const QueryCache::Entry> QueryCache::Find(const std::string& key) {
  const runtime::MutexLock lock(state_->mutex);
  const auto found = state_->slots.find(key);
  if (found == state_->slots.end()) {
    return nullptr;
  }
  state_->order.splice(state_->order.begin(), state_->order, found->second);
  return found->second->entry;
}

Result<std::shared_ptr<const QueryCache::Entry>> QueryCache::GetOrMake(const std::string& key,
                                                                       const Maker& make) {
  if (std::shared_ptr<const Entry> found = Find(key)) {
    return found;
  }
  // Made without the lock: making reads from the store.
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const Entry> made, make());
  const int64_t size = made->bytes();
  const runtime::MutexLock lock(state_->mutex);
  if (size > state_->bytes_max || state_->slots.contains(key)) {
    return made;
  }
  while (state_->bytes + size > state_->bytes_max) {
    state_->Drop(std::prev(state_->order.end()));
  }
  state_->order.push_front({key, made, size});
  state_->slots.emplace(key, state_->order.begin());
  state_->bytes += size;
  return made;
}

int64_t QueryCache::bytes() const {
  const runtime::MutexLock lock(state_->mutex);
  return state_->bytes;
}

int64_t QueryCache::bytes_max() const {
  return state_->bytes_max;
}

}  // namespace omnigraph::query
