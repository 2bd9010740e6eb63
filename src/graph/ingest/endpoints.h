/// \file
/// The endpoints of a cut's edges: each distinct id once, then one look-up for all of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hash_map.h"
#include "key_directory.h"
#include "type_cut.h"

namespace omnigraph::graph {

/// Distinct endpoint ids of one node type. Single-owner; borrows the ids.
class Endpoints {
 public:
  enum class State : uint8_t {
    kUnknown,
    kPresent,  ///< in the graph after this cut
    kAbsent,
    kDeleted,  ///< absent, and a tombstone of this cut is why (F4)
  };

  /// Number of an id; ids that follow themselves (grouped input) cost a comparison.
  uint32_t Add(std::string_view id) {
    if (!keys_.empty() && keys_[last_].text == id) {
      return last_;
    }
    const Hash128 hash = XxHash128(id);
    const auto [at, fresh] = index_.Insert(hash, static_cast<uint32_t>(keys_.size()));
    if (fresh) {
      keys_.push_back(KeyRef{hash, id});
    }
    last_ = *at;
    return last_;
  }

  /// Decide every id: by the cut's own rows of the node type (already resolved), else by its table.
  Status Resolve(const TypeCut& nodes, KeyDirectory* directory);

  State state(uint32_t number) const { return states_[number]; }
  std::string_view text(uint32_t number) const { return keys_[number].text; }
  size_t size() const { return keys_.size(); }

 private:
  HashMap128<uint32_t> index_;
  std::vector<KeyRef> keys_;
  std::vector<State> states_;
  uint32_t last_ = 0;
};

}  // namespace omnigraph::graph
