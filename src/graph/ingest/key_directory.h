/// \file
/// Which ids a table holds, and where: what the fold asks for upserts, deletes and endpoints.
///
/// Small and warm tables are answered from memory (ids as hashes, keyed by table version, in a
/// bounded budget); large ones by the index on `id` (which reads what no segment covers). The
/// memory is a cache: losing it costs time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "hash_map.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {

/// An id that is looked up. `text` is borrowed.
struct KeyRef {
  Hash128 hash;
  std::string_view text;
};

/// What a commit of ours did to the ids of one table.
struct KeyChanges {
  std::vector<Hash128> put;     ///< ids of the added rows, in row order, all added fragments joined
  std::vector<Hash128> erased;  ///< ids that are gone (not those that were put again)
  int64_t rows_added = 0;       ///< rows of the added fragments; `put` may be empty for minted ids
};

/// Single-owner: the fold thread.
class KeyDirectory {
 public:
  /// Half of `bytes_max` for known ids, half for what was read of indexes.
  explicit KeyDirectory(size_t bytes_max)
      : bytes_max_(bytes_max / 2), index_({.column = "id", .cache_bytes_max = bytes_max / 2}) {}

  /// For each key the address of its row in `table`; nothing where it has none.
  Result<std::vector<std::optional<uint64_t>>> FindAddresses(
      TableId id, const std::shared_ptr<const lance::Table>& table,
      const std::vector<KeyRef>& keys);
  /// For each key whether `table` has it.
  Result<std::vector<bool>> Exist(TableId id, const std::shared_ptr<const lance::Table>& table,
                                  const std::vector<KeyRef>& keys);

  /// `after` is `before_version` with these changes: keep what is known.
  Status Advance(TableId id, uint64_t before_version, const lance::Table& after,
                 const KeyChanges& changes);
  /// Forget one table, or everything.
  void Forget(TableId id) { tables_.erase(id); }

  size_t bytes() const;

 private:
  struct Known {
    uint64_t version = 0;
    bool complete = false;  ///< `rows` holds every live id of the version
    /// Id to stable row id; where it is not complete only that the id is there.
    HashMap128<uint64_t> rows;
    uint64_t used = 0;
  };

  Result<Known*> Prepare(TableId id, const lance::Table& table, size_t keys);
  Status Fill(const lance::Table& table, Known* known);
  bool MakeRoom(size_t bytes, TableId keep);

  const size_t bytes_max_;
  lance::KeyLookup index_;
  std::map<TableId, Known> tables_;
  uint64_t clock_ = 0;
};

}  // namespace omnigraph::graph
