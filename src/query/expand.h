/// \file
/// Hops over an adjacency: from the rows of one variable to the rows of another. What a hop means:
/// docs/query.md, "Hops".
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>

#include "adjacency.h"
#include "columns.h"

namespace omnigraph::query {

/// One hop of a plan, turned so that the known end comes first.
struct HopSpec {
  std::shared_ptr<const Adjacency> adjacency;
  uint64_t min = 1;
  uint64_t max = 1;
  /// One row per edge instead of one per neighbour. REQUIRES: min = max = 1.
  bool per_edge = false;
  /// Ends that count; nullptr: all do.
  std::shared_ptr<arrow::BooleanArray> ends;
  int64_t rows_max = 0;
};

/// What a hop adds: for each new row the row that it came from, its end, and its edge.
struct Expansion {
  Positions rows;
  Positions ends;
  Positions edges;  ///< nullptr unless per edge
};

/// Follow a hop from every row.
/// Errors: kExhausted (`query.too_many_rows`).
Result<Expansion> Expand(const arrow::Int32Array& from, const HopSpec& spec);

/// Keep the rows whose two ends the hop connects: one per row, or per edge.
/// Errors: kExhausted (`query.too_many_rows`).
Result<Expansion> Connect(const arrow::Int32Array& from, const arrow::Int32Array& to,
                          const HopSpec& spec);

/// The error of a match that grows too large.
Status TooManyRows(int64_t rows_max);

/// Wrap without a copy.
Positions MakePositions(std::vector<int32_t> values);

}  // namespace omnigraph::query
