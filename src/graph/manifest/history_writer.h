/// \file
/// Adds a commit's rows to the history: the last fragment is rewritten while it is small, full ones
/// are merged in tiers. Private to this folder; the rule and its costs are in
/// docs/format/manifest-table.md.
#pragma once

#include <arrow/record_batch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {

/// The last fragment takes more rows while it has fewer than this. With 256 a publish wrote twice
/// the bytes, and half as much again after 1,000 commits as after 10.
inline constexpr uint64_t kHistoryTailRows = 64;

/// Writes history fragments; remembers the rows of the tail that it wrote last, so that the next
/// commit need not read them. Single-owner.
class HistoryWriter {
 public:
  /// Put the data files for `rows` behind the history of `base`, and name them (and what they
  /// replace) in `change`. Cost: one put; one more when a tier is full, with a read of its
  /// fragments.
  Status Add(const lance::Table& base, const std::shared_ptr<arrow::RecordBatch>& rows,
             lance::Change* change);
  /// The version that the last Add() went into: its tail is what Add() wrote.
  void Landed(const lance::Table& table);

 private:
  using Batches = std::vector<std::shared_ptr<arrow::RecordBatch>>;

  Result<Batches> TailRows(const lance::Table& base, const lance::Fragment& tail);
  Status Rewrite(const lance::Table& base, const lance::Fragment& tail,
                 const std::shared_ptr<arrow::RecordBatch>& rows, lance::Change* change);
  Status Begin(const lance::Table& base, const std::shared_ptr<arrow::RecordBatch>& rows,
               lance::Change* change);

  uint64_t known_version_ = 0;  ///< version whose last fragment has the rows `known_`
  Batches known_;
  Batches written_;  ///< rows of the tail that the last Add() put
};

}  // namespace omnigraph::graph
