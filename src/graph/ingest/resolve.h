/// \file
/// Step 2 of the fold: a verdict for every row of the cut, and what the tables lose (F4). Reads
/// tables, writes nothing.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "constraints.h"
#include "key_directory.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "type_cut.h"

namespace omnigraph::graph {

/// What the resolver remembers between folds; all of it may be lost. Single-owner.
struct FoldCaches {
  /// As much again for what `@unique` and `@card` know.
  explicit FoldCaches(size_t key_bytes) : keys(key_bytes), constraint_bytes_max(key_bytes) {}

  struct Constraints {
    uint64_t version = 0;  ///< table version that `state` is of
    std::unique_ptr<ConstraintState> state;
    bool whole = true;  ///< false: of one fold's rows alone
  };
  KeyDirectory keys;
  const size_t constraint_bytes_max;
  std::map<TableId, Constraints> constraints;
  std::set<TableId> moved;  ///< constraint states that were moved for a fold not yet published

  size_t constraint_bytes() const {
    size_t sum = 0;
    for (const auto& [id, held] : constraints) {
      sum += held.state == nullptr ? 0 : held.state->bytes();
    }
    return sum;
  }

  /// Forget states that this fold does not use until `bytes` more fit beside the others. False:
  /// they never will.
  bool MakeRoom(size_t bytes, TableId keep) {
    while (constraint_bytes() + bytes > constraint_bytes_max) {
      const auto idle = std::find_if(constraints.begin(), constraints.end(), [&](const auto& held) {
        return held.first != keep && !moved.contains(held.first);
      });
      if (idle == constraints.end()) {
        return false;
      }
      constraints.erase(idle);
    }
    return true;
  }

  /// The fold was published and left this table at `version`.
  void Keep(TableId id, uint64_t version) {
    Constraints& held = constraints[id];
    held.version = version;
    if (!held.whole || constraint_bytes() > constraint_bytes_max) {
      constraints.erase(id);
    }
  }

  /// The fold was not published: forget what it moved.
  void DropMoved() {
    for (const TableId id : moved) {
      constraints.erase(id);
    }
    moved.clear();
  }
};

/// Decide all rows of `types` (OpenCut's result). Fills verdicts, rejects, deleted addresses and
/// counts; adds to `read` the tables that checks read beside the types' own (C1).
///
/// Constraint states in `caches` are moved to what the tables will be after this fold; whoever does
/// not publish must call DropMoved().
Status ResolveCut(Graph& graph, std::vector<TypeCut>* types, FoldCaches* caches,
                  std::set<TableId>* read);

}  // namespace omnigraph::graph
