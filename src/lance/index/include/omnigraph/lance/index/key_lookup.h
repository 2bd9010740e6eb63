/// \file
/// Finds rows by the value of a utf8 column: sorted keys in, row addresses out.
///
/// Answers come from BTREE segments (ours or official ones) where they cover a fragment, from the
/// column itself where none does; always exact, deleted rows left out. Reads follow the number of
/// keys, not the number of rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

struct KeyLookupOptions {
  /// Column to look in: top-level, utf8, its live values distinct.
  std::string column = "id";
  /// Memory for what was read: page tables, Bloom filters, pages, columns of small fragments.
  uint64_t cache_bytes_max = uint64_t{256} << 20;
};

/// What a lookup did, for status and tests. Sums since construction.
struct KeyLookupStats {
  uint64_t keys = 0;
  uint64_t pages_read = 0;
  uint64_t pages_from_cache = 0;
  uint64_t stopped_by_filter = 0;  ///< pairs of key and segment that a Bloom filter ruled out
  uint64_t fragments_scanned = 0;  ///< fragments that no segment covers, cached ones included
};

/// A lookup with its cache. Thread-safe.
///
/// What is cached is keyed by names of immutable objects: one KeyLookup serves all versions and
/// branches of all tables of one store.
class KeyLookup {
 public:
  explicit KeyLookup(KeyLookupOptions options = {});
  ~KeyLookup();

  /// For each key the address of its live row in `table`; nothing where it has none.
  ///
  /// REQUIRES: `keys` strictly ascending bytewise, else kInvalid (`index.key_order`). Where several
  /// live rows have one key, one of them.
  /// Errors: kInvalid (`index.column`), kCorruption (`index.btree`, and of data files), any kind
  ///         from ObjectStore.
  /// Cost:   per segment, the page table once, then at most the pages that a key may be in, in few
  ///         calls; per uncovered fragment its column once. No puts, no listings.
  Result<std::vector<std::optional<uint64_t>>> FindAddresses(
      const Table& table, std::span<const std::string_view> keys);

  /// For each key whether a live row has it. REQUIRES, errors and cost: as FindAddresses.
  Result<std::vector<bool>> Exist(const Table& table, std::span<const std::string_view> keys);

  KeyLookupStats stats() const;
  uint64_t cached_bytes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::lance
