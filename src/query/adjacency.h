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

/// The endpoints of every edge as node positions; -1 where no such node exists. Immutable.
class EdgeList : public QueryCache::Entry {
 public:
  /// Look the ids of both ends up. REQUIRES: fewer than 2^31 rows in each table.
  static Result<std::shared_ptr<const EdgeList>> Make(TableColumns* edges, TableColumns* sources,
                                                      TableColumns* targets);

  EdgeList(std::vector<int32_t> from, std::vector<int32_t> to)
      : from_(std::move(from)), to_(std::move(to)) {}

  int64_t bytes() const override { return static_cast<int64_t>((from_.size() + to_.size()) * 4); }
  const std::vector<int32_t>& from() const { return from_; }
  const std::vector<int32_t>& to() const { return to_; }

 private:
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
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

/// The adjacency of an edge table between two node tables, from `cache` or made.
Result<std::shared_ptr<const Adjacency>> AdjacencyOf(TableColumns* edges, TableColumns* sources,
                                                     TableColumns* targets, Direction direction,
                                                     QueryCache* cache);

}  // namespace omnigraph::query
