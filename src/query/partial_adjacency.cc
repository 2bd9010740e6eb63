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
  /// Edges whose end in `near` is one of `ids`.
  Result<Positions> Incident(const Column& near, const Column& ids) const;
  Status AddEdges(const Positions& rows);

  EdgeTables tables_;
  Direction direction_;
  std::vector<Column> ends_;  // src, dst
  Column source_ids_;
  Column target_ids_;
  std::vector<int32_t> from_;
  std::vector<int32_t> to_;
  std::vector<int32_t> rows_;
};

Result<Positions> PartialEdges::Incident(const Column& near, const Column& ids) const {
  OG_ASSIGN_OR_RETURN(const arrow::Datum mask, compute::IsIn(near, compute::SetLookupOptions(ids)));
  OG_ASSIGN_OR_RETURN(const arrow::Datum indices, compute::CallFunction("indices_nonzero", {mask}));
  OG_ASSIGN_OR_RETURN(const Column rows, compute::Cast(*indices.make_array(), arrow::int32()));
  return std::static_pointer_cast<arrow::Int32Array>(rows);
}

Status PartialEdges::AddEdges(const Positions& rows) {
  OG_ASSIGN_OR_RETURN(const Column src, TakeValues(ends_[0], rows));
  OG_ASSIGN_OR_RETURN(const Column dst, TakeValues(ends_[1], rows));
  OG_ASSIGN_OR_RETURN(const std::vector<int32_t> from, PositionsIn(src, source_ids_));
  OG_ASSIGN_OR_RETURN(const std::vector<int32_t> to, PositionsIn(dst, target_ids_));
  from_.insert(from_.end(), from.begin(), from.end());
  to_.insert(to_.end(), to.begin(), to.end());
  rows_.insert(rows_.end(), rows->raw_values(), rows->raw_values() + rows->length());
  return Status::OK();
}

Result<bool> PartialEdges::Collect(std::vector<int32_t> frontier, uint64_t hops) {
  OG_ASSIGN_OR_RETURN(source_ids_, tables_.sources->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(target_ids_, tables_.targets->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(ends_, tables_.edges->Scan({schema::kSrcColumn, schema::kDstColumn}));
  const bool is_reverse = direction_ == Direction::kReverse;
  const Column& near_ids = is_reverse ? target_ids_ : source_ids_;
  std::vector<int32_t> done;
  for (uint64_t hop = 1; hop <= hops && !frontier.empty(); ++hop) {
    if (static_cast<int64_t>(frontier.size()) > near_ids->length() / kNodesPerStart) {
      return false;
    }
    OG_ASSIGN_OR_RETURN(const Column ids, TakeValues(near_ids, MakePositions(frontier)));
    const size_t before = rows_.size();
    OG_ASSIGN_OR_RETURN(const Positions rows, Incident(ends_[is_reverse ? 1 : 0], ids));
    OG_RETURN_NOT_OK(AddEdges(rows));
    if (direction_ == Direction::kBoth) {
      OG_ASSIGN_OR_RETURN(const Positions back, Incident(ends_[1], ids));
      OG_RETURN_NOT_OK(AddEdges(back));
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
