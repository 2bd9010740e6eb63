/// \file
/// One lookup of many keys in one version of a table. Private.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btree_segment.h"
#include "key_column.h"
#include "lookup_cache.h"
#include "omnigraph/base/status.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// Used once. Single-owner; the cache is shared. Table and keys must outlive it.
class KeySearch {
 public:
  KeySearch(const Table& table, KeyColumn column, std::span<const std::string_view> keys,
            LookupCache* cache)
      : table_(table), column_(std::move(column)), keys_(keys), cache_(*cache) {}

  Result<std::vector<std::optional<uint64_t>>> Run();
  const KeyLookupStats& stats() const { return stats_; }

 private:
  /// A segment of this version and the fragments that it stands for.
  struct Source {
    std::shared_ptr<const BTreeSegment> segment;
    const IndexMetadata* index = nullptr;
  };
  /// A key and the pages of one segment that may hold it.
  struct Candidate {
    size_t key = 0;
    BTreeSegment::PageSpan pages;
  };
  /// A row of a segment with the right key; it may be dead.
  struct Hit {
    size_t key = 0;
    uint64_t id = 0;
  };

  Status OpenSources();
  Result<std::shared_ptr<const BTreeSegment>> OpenSegment(const IndexMetadata& index);
  Status SearchSegment(const Source& source);
  std::vector<Candidate> CandidatesIn(const BTreeSegment& segment) const;
  Status DropAbsent(const BTreeSegment& segment, std::vector<Candidate>* candidates);
  Status SearchPages(const Source& source, std::span<const Candidate> candidates);
  Result<std::vector<std::shared_ptr<const BTreePage>>> GetPages(
      const BTreeSegment& segment, const std::vector<uint32_t>& pages);
  Status Settle(const Source& source, const std::vector<Hit>& hits);
  Status SearchFragment(const Fragment& fragment);
  Status MatchCached(const Fragment& fragment, std::vector<Hit>* hits);
  Status MatchScanned(const Fragment& fragment, std::vector<Hit>* hits);
  /// Keys not found yet, ascending.
  void DropFound();

  const Table& table_;
  const KeyColumn column_;
  const std::span<const std::string_view> keys_;
  LookupCache& cache_;
  KeyLookupStats stats_;

  std::vector<uint64_t> hashes_;
  std::vector<Source> sources_;             // largest first
  std::vector<const Fragment*> uncovered_;  // newest first
  std::vector<size_t> open_;                // numbers of keys without an address, ascending
  std::vector<std::optional<uint64_t>> found_;
};

}  // namespace omnigraph::lance
