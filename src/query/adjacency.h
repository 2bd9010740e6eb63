/// \file
/// Who is next to whom: the edges of one type as sorted lists of node positions.
///
/// A node is its position in its table, an edge its position in its own; ids are looked up once,
/// when an edge list is made. Edge lists and adjacency are kept in the QueryCache.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columns.h"

namespace omnigraph::query {

/// Along which end an adjacency is sorted.
enum class Direction : uint8_t { kForward, kReverse, kBoth };

/// The tables that an adjacency is made of. Borrowed.
struct EdgeTables {
  TableColumns* edges = nullptr;
  TableColumns* sources = nullptr;
  TableColumns* targets = nullptr;
};

/// The endpoints of every edge as node positions; -1 where no such node exists. Immutable.
class EdgeList : public QueryCache::Entry {
 public:
  /// Look the ids of both ends up. REQUIRES: fewer than 2^31 rows in each table.
  static Result<std::shared_ptr<const EdgeList>> Make(const EdgeTables& tables);

  /// Without `rows` edge number i is row i of its table.
  EdgeList(std::vector<int32_t> from, std::vector<int32_t> to, std::vector<int32_t> rows = {})
      : from_(std::move(from)), to_(std::move(to)), rows_(std::move(rows)) {}

  int64_t bytes() const override {
    return static_cast<int64_t>((from_.size() + to_.size() + rows_.size()) * sizeof(int32_t));
  }
  const std::vector<int32_t>& from() const { return from_; }
  const std::vector<int32_t>& to() const { return to_; }
  int32_t RowOf(size_t edge) const {
    return rows_.empty() ? static_cast<int32_t>(edge) : rows_[edge];
  }

 private:
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
  std::vector<int32_t> rows_;
};

/// For each node its neighbours, ascending, one entry per edge (parallel edges stand side by side),
/// and beside each the position of the edge. Immutable.
class Adjacency : public QueryCache::Entry {
 public:
  static std::shared_ptr<const Adjacency> Make(const EdgeList& edges, Direction direction,
                                               int64_t nodes);

  int64_t bytes() const override;
  std::span<const int32_t> Neighbours(int32_t node) const {
    return {neighbours_.data() + begin_[static_cast<size_t>(node)], Degree(node)};
  }
  std::span<const int32_t> Edges(int32_t node) const {
    return {edges_.data() + begin_[static_cast<size_t>(node)], Degree(node)};
  }
  int64_t nodes() const { return static_cast<int64_t>(begin_.size()) - 1; }

 private:
  size_t Degree(int32_t node) const {
    return begin_[static_cast<size_t>(node) + 1] - begin_[static_cast<size_t>(node)];
  }

  std::vector<uint32_t> begin_;
  std::vector<int32_t> neighbours_;
  std::vector<int32_t> edges_;
};

/// The adjacency of all edges, from `cache` or made and kept there.
Result<std::shared_ptr<const Adjacency>> AdjacencyOf(const EdgeTables& tables, Direction direction,
                                                     QueryCache* cache);

/// The same, nullptr when `cache` does not hold it.
std::shared_ptr<const Adjacency> FindAdjacency(const EdgeTables& tables, Direction direction,
                                               QueryCache* cache);

/// Only what a few starts reach within some hops: filters the edges by the ids of one frontier
/// after the other instead of looking every id up. nullptr when that meets too many nodes to pay.
Result<std::shared_ptr<const Adjacency>> PartialAdjacency(const EdgeTables& tables,
                                                          Direction direction,
                                                          const arrow::Int32Array& starts,
                                                          uint64_t hops);

/// Positions in `ids` of texts; -1 for the absent.
Result<std::vector<int32_t>> PositionsIn(const Column& texts, const Column& ids);

}  // namespace omnigraph::query
