#include "expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace omnigraph::query {
namespace {

/// Ends of hops of several steps, by breadth-first search, one search per distinct start.
///
/// A node counts once per start, at its least distance, so cycles are cut. The start itself counts
/// only by an edge to itself, at distance 1.
class Reach {
 public:
  explicit Reach(const HopSpec& spec)
      : spec_(spec),
        seen_(static_cast<size_t>(spec.adjacency->nodes()), -1),
        known_(static_cast<size_t>(spec.adjacency->nodes()), {-1, -1}) {}

  /// The ends from a start; valid until the next call.
  std::span<const int32_t> From(int32_t start) {
    auto& [begin, end] = known_[static_cast<size_t>(start)];
    if (begin < 0) {
      begin = static_cast<int64_t>(found_.size());
      Search(start);
      end = static_cast<int64_t>(found_.size());
    }
    return {found_.data() + begin, static_cast<size_t>(end - begin)};
  }

 private:
  bool Counts(int32_t node) const { return spec_.ends == nullptr || spec_.ends->Value(node); }

  void Search(int32_t start) {
    const Adjacency& adjacency = *spec_.adjacency;
    const auto own = adjacency.Neighbours(start);
    if (spec_.min == 1 && Counts(start) && std::binary_search(own.begin(), own.end(), start)) {
      found_.push_back(start);
    }
    seen_[static_cast<size_t>(start)] = start;
    frontier_.assign(1, start);
    for (uint64_t depth = 1; depth <= spec_.max && !frontier_.empty(); ++depth) {
      next_.clear();
      for (const int32_t node : frontier_) {
        for (const int32_t neighbour : adjacency.Neighbours(node)) {
          if (seen_[static_cast<size_t>(neighbour)] == start) {
            continue;
          }
          seen_[static_cast<size_t>(neighbour)] = start;
          next_.push_back(neighbour);
          if (depth >= spec_.min && Counts(neighbour)) {
            found_.push_back(neighbour);
          }
        }
      }
      frontier_.swap(next_);
    }
  }

  const HopSpec& spec_;
  std::vector<int32_t> seen_;  // the start that saw the node last
  std::vector<std::pair<int64_t, int64_t>> known_;
  std::vector<int32_t> found_;
  std::vector<int32_t> frontier_;
  std::vector<int32_t> next_;
};

/// Collects the rows of an expansion up to a bound. Single-owner.
class Sink {
 public:
  explicit Sink(const HopSpec& spec) : spec_(spec) {}

  Status Add(int64_t row, int32_t end, int32_t edge) {
    if (static_cast<int64_t>(rows_.size()) >= spec_.rows_max) {
      return TooManyRows(spec_.rows_max);
    }
    rows_.push_back(static_cast<int32_t>(row));
    ends_.push_back(end);
    if (spec_.per_edge) {
      edges_.push_back(edge);
    }
    return Status::OK();
  }

  Expansion Finish() {
    Expansion expansion;
    expansion.rows = MakePositions(std::move(rows_));
    expansion.ends = MakePositions(std::move(ends_));
    if (spec_.per_edge) {
      expansion.edges = MakePositions(std::move(edges_));
    }
    return expansion;
  }

 private:
  const HopSpec& spec_;
  std::vector<int32_t> rows_;
  std::vector<int32_t> ends_;
  std::vector<int32_t> edges_;
};

/// One step from one row.
Status ExpandStep(int64_t row, int32_t start, const HopSpec& spec, Sink* sink) {
  const auto neighbours = spec.adjacency->Neighbours(start);
  const auto edges = spec.adjacency->Edges(start);
  for (size_t i = 0; i < neighbours.size(); ++i) {
    const int32_t end = neighbours[i];
    const bool is_parallel = i > 0 && neighbours[i - 1] == end;
    if ((is_parallel && !spec.per_edge) || (spec.ends != nullptr && !spec.ends->Value(end))) {
      continue;
    }
    OG_RETURN_NOT_OK(sink->Add(row, end, edges[i]));
  }
  return Status::OK();
}

/// One step from one row to one end.
Status ConnectStep(int64_t row, int32_t start, int32_t end, const HopSpec& spec, Sink* sink) {
  const auto neighbours = spec.adjacency->Neighbours(start);
  const auto edges = spec.adjacency->Edges(start);
  const auto [first, last] = std::equal_range(neighbours.begin(), neighbours.end(), end);
  for (auto it = first; it != last; ++it) {
    OG_RETURN_NOT_OK(sink->Add(row, end, edges[static_cast<size_t>(it - neighbours.begin())]));
    if (!spec.per_edge) {
      break;
    }
  }
  return Status::OK();
}

}  // namespace

Status TooManyRows(int64_t rows_max) {
  return Exhausted("query.too_many_rows",
                   fmt::format("the match has more than {} rows; add conditions, or connect what "
                               "stands side by side",
                               rows_max));
}

Positions MakePositions(std::vector<int32_t> values) {
  const auto length = static_cast<int64_t>(values.size());
  return std::make_shared<arrow::Int32Array>(length, arrow::Buffer::FromVector(std::move(values)));
}

Result<Expansion> Expand(const arrow::Int32Array& from, const HopSpec& spec) {
  Sink sink(spec);
  if (spec.max == 1) {
    for (int64_t row = 0; row < from.length(); ++row) {
      OG_RETURN_NOT_OK(ExpandStep(row, from.Value(row), spec, &sink));
    }
    return sink.Finish();
  }
  Reach reach(spec);
  for (int64_t row = 0; row < from.length(); ++row) {
    for (const int32_t end : reach.From(from.Value(row))) {
      OG_RETURN_NOT_OK(sink.Add(row, end, -1));
    }
  }
  return sink.Finish();
}

Result<Expansion> Connect(const arrow::Int32Array& from, const arrow::Int32Array& to,
                          const HopSpec& spec) {
  Sink sink(spec);
  if (spec.max == 1) {
    for (int64_t row = 0; row < from.length(); ++row) {
      OG_RETURN_NOT_OK(ConnectStep(row, from.Value(row), to.Value(row), spec, &sink));
    }
    return sink.Finish();
  }
  Reach reach(spec);
  for (int64_t row = 0; row < from.length(); ++row) {
    const auto ends = reach.From(from.Value(row));
    if (std::find(ends.begin(), ends.end(), to.Value(row)) != ends.end()) {
      OG_RETURN_NOT_OK(sink.Add(row, to.Value(row), -1));
    }
  }
  return sink.Finish();
}

}  // namespace omnigraph::query
