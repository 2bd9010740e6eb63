/// \file
/// HashMap128: a map from 128-bit key hashes, for millions of ids in bounded memory. Two ids share
/// a hash with probability 2^-128, so the ids themselves are not kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "omnigraph/base/hash.h"

namespace omnigraph::graph {

/// Open addressing with linear probing; pointers and references die at the next Insert.
/// Thread-compatible.
template <typename V>
class HashMap128 {
 public:
  size_t size() const { return size_; }
  /// Memory of the slots; values that own memory are not counted.
  size_t bytes() const { return slots_.capacity() * sizeof(Slot) + state_.capacity(); }

  void Reserve(size_t keys) {
    size_t capacity = kSlotsMin;
    while (capacity * kLoadNumerator / kLoadDenominator < keys) {
      capacity *= 2;
    }
    if (capacity > slots_.size()) {
      Rehash(capacity);
    }
  }

  V* Find(const Hash128& key) {
    const size_t at = Locate(key);
    return at == kNone ? nullptr : &slots_[at].value;
  }
  const V* Find(const Hash128& key) const {
    const size_t at = Locate(key);
    return at == kNone ? nullptr : &slots_[at].value;
  }

  /// The value of `key`, inserted as `value` if it was not there; true if it was inserted.
  std::pair<V*, bool> Insert(const Hash128& key, V value) {
    if ((used_ + 1) * kLoadDenominator > slots_.size() * kLoadNumerator) {
      Rehash(size_ * 2 * kLoadDenominator > slots_.size() * kLoadNumerator ? slots_.size() * 2
                                                                           : slots_.size());
    }
    size_t free = kNone;
    for (size_t at = key.low & mask_;; at = (at + 1) & mask_) {
      if (state_[at] == kFull) {
        if (slots_[at].key == key) {
          return {&slots_[at].value, false};
        }
      } else if (state_[at] == kErased) {
        free = free == kNone ? at : free;
      } else {
        if (free == kNone) {
          free = at;
          ++used_;
        }
        break;
      }
    }
    state_[free] = kFull;
    slots_[free].key = key;
    slots_[free].value = std::move(value);
    ++size_;
    return {&slots_[free].value, true};
  }

  bool Erase(const Hash128& key) {
    const size_t at = Locate(key);
    if (at == kNone) {
      return false;
    }
    state_[at] = kErased;
    slots_[at].value = V();
    --size_;
    return true;
  }

  void Clear() {
    slots_ = {};
    state_ = {};
    mask_ = size_ = used_ = 0;
  }

 private:
  struct Slot {
    Hash128 key;
    V value{};
  };
  enum State : uint8_t { kEmpty, kFull, kErased };
  static constexpr size_t kNone = ~size_t{0};
  static constexpr size_t kSlotsMin = 16;
  static constexpr size_t kLoadNumerator = 7;
  static constexpr size_t kLoadDenominator = 10;

  size_t Locate(const Hash128& key) const {
    if (size_ == 0) {
      return kNone;
    }
    for (size_t at = key.low & mask_; state_[at] != kEmpty; at = (at + 1) & mask_) {
      if (state_[at] == kFull && slots_[at].key == key) {
        return at;
      }
    }
    return kNone;
  }

  void Rehash(size_t capacity) {
    capacity = capacity < kSlotsMin ? kSlotsMin : capacity;
    std::vector<Slot> slots(capacity);
    std::vector<uint8_t> state(capacity, kEmpty);
    const size_t mask = capacity - 1;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (state_[i] != kFull) {
        continue;
      }
      size_t at = slots_[i].key.low & mask;
      while (state[at] != kEmpty) {
        at = (at + 1) & mask;
      }
      state[at] = kFull;
      slots[at] = std::move(slots_[i]);
    }
    slots_ = std::move(slots);
    state_ = std::move(state);
    mask_ = mask;
    used_ = size_;
  }

  std::vector<Slot> slots_;
  std::vector<uint8_t> state_;  // one State per slot
  size_t mask_ = 0;
  size_t size_ = 0;
  size_t used_ = 0;  // full and erased
};

}  // namespace omnigraph::graph
