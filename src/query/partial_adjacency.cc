// The part of an adjacency that a few starts need, by filters on the edges' ids.
#include <arrow/compute/api.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "adjacency.h"
#include "expand.h"
#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::query {
namespace {

namespace compute = arrow::compute;

/// More hops than this scan the edges as often as looking every id up costs.
constexpr uint64_t kHopsMax = 4;
/// A frontier of more than one node in so many is not selective.
constexpr int64_t kNodesPerStart = 32;

std::vector<int32_t> Distinct(std::vector<int32_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// Collects edges frontier by frontier. Single-owner; made for one adjacency.
class PartialEdges {
 public:
  PartialEdges(const EdgeTables& tables, Direction direction)
      : tables_(tables), direction_(direction) {}

  /// False when a frontier grows too large.
  Result<bool> Collect(std::vector<int32_t> frontier, uint64_t hops);

  EdgeList Finish() { return EdgeList(std::move(from_), std::move(to_), std::move(rows_)); }

 private:
  /// Add the edges whose src (or dst) is in the frontier.
  Status AddIncident(const std::vector<int32_t>& frontier, bool by_src);

  EdgeTables tables_;
  Direction direction_;
  std::vector<Column> ends_;  // src, dst
  Column source_ids_;
  Column target_ids_;
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
  std::vector<int32_t> rows_;
};

Status PartialEdges::AddIncident(const std::vector<int32_t>& frontier, bool by_src) {
  const Column& near = ends_[by_src ? 0 : 1];
  const Column& near_ids = by_src ? source_ids_ : target_ids_;
  OG_ASSIGN_OR_RETURN(Column ids, TakeValues(near_ids, MakePositions(frontier)));
  if (!ids->type()->Equals(near->type())) {
    OG_ASSIGN_OR_RETURN(ids, compute::Cast(*ids, near->type()));
  }
  OG_ASSIGN_OR_RETURN(const arrow::Datum found,
                      compute::IndexIn(near, compute::SetLookupOptions(ids)));
  const auto matches = std::static_pointer_cast<arrow::Int32Array>(found.make_array());
  std::vector<int32_t>& near_positions = by_src ? from_ : to_;
  std::vector<int32_t>& far_positions = by_src ? to_ : from_;
  std::vector<int32_t> rows;
  for (int64_t i = 0; i < matches->length(); ++i) {
    if (matches->IsValid(i)) {
      rows.push_back(static_cast<int32_t>(i));
      near_positions.push_back(frontier[static_cast<size_t>(matches->Value(i))]);
    }
  }
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  OG_ASSIGN_OR_RETURN(const Column far,
                      TakeValues(ends_[by_src ? 1 : 0], MakePositions(std::move(rows))));
  OG_ASSIGN_OR_RETURN(const std::vector<int32_t> positions,
                      PositionsIn(far, by_src ? target_ids_ : source_ids_));
  far_positions.insert(far_positions.end(), positions.begin(), positions.end());
  return Status::OK();
}

Result<bool> PartialEdges::Collect(std::vector<int32_t> frontier, uint64_t hops) {
  OG_ASSIGN_OR_RETURN(source_ids_, tables_.sources->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(target_ids_, tables_.targets->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(ends_, tables_.edges->Scan({schema::kSrcColumn, schema::kDstColumn}));
  const bool is_reverse = direction_ == Direction::kReverse;
  const int64_t nodes = (is_reverse ? target_ids_ : source_ids_)->length();
  std::vector<int32_t> done;
  for (uint64_t hop = 1; hop <= hops && !frontier.empty(); ++hop) {
    if (static_cast<int64_t>(frontier.size()) > nodes / kNodesPerStart) {
      return false;
    }
    const size_t before = rows_.size();
    OG_RETURN_NOT_OK(AddIncident(frontier, !is_reverse));
    if (direction_ == Direction::kBoth) {
      OG_RETURN_NOT_OK(AddIncident(frontier, false));
    }
    std::vector<int32_t> reached;
    for (size_t i = before; i < rows_.size(); ++i) {
      reached.push_back(is_reverse ? from_[i] : to_[i]);
      if (direction_ == Direction::kBoth) {
        reached.push_back(from_[i]);
      }
    }
    std::erase(reached, -1);
    done.insert(done.end(), frontier.begin(), frontier.end());
    done = Distinct(std::move(done));
    reached = Distinct(std::move(reached));
    frontier.clear();
    std::set_difference(reached.begin(), reached.end(), done.begin(), done.end(),
                        std::back_inserter(frontier));
  }
  return true;
}

/// Both directions meet an edge once from each end: keep one of them.
EdgeList WithoutRepeats(const EdgeList& edges) {
  std::vector<std::pair<int32_t, size_t>> order;
  for (size_t i = 0; i < edges.from().size(); ++i) {
    order.emplace_back(edges.RowOf(i), i);
  }
  std::sort(order.begin(), order.end());
  std::vector<int32_t> from;
  std::vector<int32_t> to;
  std::vector<int32_t> rows;
  for (const auto& [row, i] : order) {
    if (rows.empty() || rows.back() != row) {
      from.push_back(edges.from()[i]);
      to.push_back(edges.to()[i]);
      rows.push_back(row);
    }
  }
  return {std::move(from), std::move(to), std::move(rows)};
}

}  // namespace

Result<std::shared_ptr<const Adjacency>> PartialAdjacency(const EdgeTables& tables,
                                                          Direction direction,
                                                          const arrow::Int32Array& starts,
                                                          uint64_t hops) {
  const int64_t nodes =
      direction == Direction::kReverse ? tables.targets->rows() : tables.sources->rows();
  if (hops > kHopsMax || starts.length() > nodes / kNodesPerStart) {
    return std::shared_ptr<const Adjacency>();
  }
  PartialEdges edges(tables, direction);
  OG_ASSIGN_OR_RETURN(
      const bool collected,
      edges.Collect(Distinct({starts.raw_values(), starts.raw_values() + starts.length()}), hops));
  if (!collected) {
    return std::shared_ptr<const Adjacency>();
  }
  return Adjacency::Make(WithoutRepeats(edges.Finish()), direction, nodes);
}

}  // namespace omnigraph::query
