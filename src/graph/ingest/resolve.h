/// \file
/// Step 2 of the fold: a verdict for every row of the cut, and what the tables lose (F4). Reads
/// tables, writes nothing.
#pragma once

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
  explicit FoldCaches(size_t key_bytes) : keys(key_bytes) {}

  struct Constraints {
    uint64_t version = 0;  ///< table version that `state` is of
    std::unique_ptr<ConstraintState> state;
  };
  KeyDirectory keys;
  std::map<TableId, Constraints> constraints;
  std::set<TableId> moved;  ///< constraint states that were moved for a fold not yet published

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
