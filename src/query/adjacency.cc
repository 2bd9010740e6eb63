#include "adjacency.h"

#include <arrow/compute/api.h>

#include <algorithm>
#include <string>
#include <utility>

#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::query {

namespace {

std::vector<int32_t> OrMinusOne(const arrow::Int32Array& indices) {
  std::vector<int32_t> positions(static_cast<size_t>(indices.length()));
  for (int64_t i = 0; i < indices.length(); ++i) {
    positions[static_cast<size_t>(i)] = indices.IsNull(i) ? -1 : indices.Value(i);
  }
  return positions;
}

Result<std::shared_ptr<arrow::Int32Array>> IndexIn(const Column& texts, const Column& set) {
  OG_ASSIGN_OR_RETURN(const arrow::Datum found,
                      arrow::compute::IndexIn(texts, arrow::compute::SetLookupOptions(set)));
  return std::static_pointer_cast<arrow::Int32Array>(found.make_array());
}

/// For few texts: look every id up among them, which needs no hash table of all ids.
Result<std::vector<int32_t>> PositionsOfFew(const Column& texts, const Column& ids) {
  OG_ASSIGN_OR_RETURN(const arrow::Datum encoded, arrow::compute::DictionaryEncode(texts));
  const auto codes = std::static_pointer_cast<arrow::DictionaryArray>(encoded.make_array());
  OG_ASSIGN_OR_RETURN(const auto matches, IndexIn(ids, codes->dictionary()));
  std::vector<int32_t> of_code(static_cast<size_t>(codes->dictionary()->length()), -1);
  for (int64_t i = 0; i < matches->length(); ++i) {
    if (matches->IsValid(i)) {
      of_code[static_cast<size_t>(matches->Value(i))] = static_cast<int32_t>(i);
    }
  }
  std::vector<int32_t> positions(static_cast<size_t>(texts->length()));
  for (int64_t i = 0; i < texts->length(); ++i) {
    positions[static_cast<size_t>(i)] = of_code[static_cast<size_t>(codes->GetValueIndex(i))];
  }
  return positions;
}

}  // namespace

Result<std::vector<int32_t>> PositionsIn(const Column& texts, const Column& ids) {
  Column values = texts;
  if (!texts->type()->Equals(ids->type())) {
    OG_ASSIGN_OR_RETURN(values, arrow::compute::Cast(*texts, ids->type()));
  }
  if (values->length() < ids->length() / 4) {
    return PositionsOfFew(values, ids);
  }
  OG_ASSIGN_OR_RETURN(const auto indices, IndexIn(values, ids));
  return OrMinusOne(*indices);
}

namespace {

/// Positions of the first row of each run of equal texts.
Result<std::shared_ptr<arrow::Int32Array>> RunStarts(const arrow::StringArray& texts) {
  arrow::Int32Builder starts;
  for (int64_t i = 0; i < texts.length(); ++i) {
    if (i == 0 || texts.GetView(i) != texts.GetView(i - 1)) {
      OG_RETURN_NOT_OK(starts.Append(static_cast<int32_t>(i)));
    }
  }
  OG_ASSIGN_OR_RETURN(const auto array, starts.Finish());
  return std::static_pointer_cast<arrow::Int32Array>(array);
}

/// The same as PositionsIn. Edges mostly come in runs of one source, and comparing a text with the
/// one before it is much cheaper than a lookup.
Result<std::vector<int32_t>> IndexRuns(const Column& texts, const Column& ids) {
  if (texts->type_id() != arrow::Type::STRING) {
    return PositionsIn(texts, ids);
  }
  OG_ASSIGN_OR_RETURN(const auto starts, RunStarts(static_cast<const arrow::StringArray&>(*texts)));
  if (starts->length() > texts->length() / 2) {
    return PositionsIn(texts, ids);
  }
  OG_ASSIGN_OR_RETURN(const Column heads, TakeValues(texts, starts));
  OG_ASSIGN_OR_RETURN(const std::vector<int32_t> found, PositionsIn(heads, ids));
  std::vector<int32_t> positions(static_cast<size_t>(texts->length()));
  for (int64_t run = 0; run < starts->length(); ++run) {
    const int64_t end = run + 1 < starts->length() ? starts->Value(run + 1) : texts->length();
    std::fill(positions.begin() + starts->Value(run), positions.begin() + end,
              found[static_cast<size_t>(run)]);
  }
  return positions;
}

/// One edge seen from one of its ends.
struct Half {
  int32_t at;
  int32_t other;
  int32_t edge;
};

std::vector<Half> HalvesOf(const EdgeList& edges, Direction direction) {
  std::vector<Half> halves;
  const size_t count = edges.from().size();
  halves.reserve(direction == Direction::kBoth ? 2 * count : count);
  for (size_t i = 0; i < count; ++i) {
    const int32_t from = edges.from()[i];
    const int32_t to = edges.to()[i];
    if (from < 0 || to < 0) {
      continue;
    }
    if (direction != Direction::kReverse) {
      halves.push_back({from, to, edges.RowOf(i)});
    }
    if (direction == Direction::kReverse || (direction == Direction::kBoth && from != to)) {
      halves.push_back({to, from, edges.RowOf(i)});
    }
  }
  return halves;
}

/// Stable counting sort by one member.
std::vector<Half> SortBy(const std::vector<Half>& halves, int32_t Half::* member, int64_t values) {
  std::vector<uint32_t> next(static_cast<size_t>(values) + 1, 0);
  for (const Half& half : halves) {
    ++next[static_cast<size_t>(half.*member) + 1];
  }
  for (size_t i = 1; i < next.size(); ++i) {
    next[i] += next[i - 1];
  }
  std::vector<Half> sorted(halves.size());
  for (const Half& half : halves) {
    sorted[next[static_cast<size_t>(half.*member)]++] = half;
  }
  return sorted;
}

}  // namespace

Result<std::shared_ptr<const EdgeList>> EdgeList::Make(const EdgeTables& tables) {
  OG_ASSIGN_OR_RETURN(const std::vector<Column> ends,
                      tables.edges->Scan({schema::kSrcColumn, schema::kDstColumn}));
  OG_ASSIGN_OR_RETURN(const Column source_ids, tables.sources->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(const Column target_ids, tables.targets->Get(schema::kIdColumn));
  OG_ASSIGN_OR_RETURN(std::vector<int32_t> from, IndexRuns(ends[0], source_ids));
  OG_ASSIGN_OR_RETURN(std::vector<int32_t> to, IndexRuns(ends[1], target_ids));
  return std::make_shared<const EdgeList>(std::move(from), std::move(to));
}

std::shared_ptr<const Adjacency> Adjacency::Make(const EdgeList& edges, Direction direction,
                                                 int64_t nodes) {
  std::vector<Half> halves = HalvesOf(edges, direction);
  int32_t others = 0;
  for (const Half& half : halves) {
    others = std::max(others, half.other);
  }
  halves = SortBy(SortBy(halves, &Half::other, int64_t{others} + 1), &Half::at, nodes);
  auto made = std::make_shared<Adjacency>();
  made->begin_.assign(static_cast<size_t>(nodes) + 1, 0);
  made->neighbours_.reserve(halves.size());
  made->edges_.reserve(halves.size());
  for (const Half& half : halves) {
    ++made->begin_[static_cast<size_t>(half.at) + 1];
    made->neighbours_.push_back(half.other);
    made->edges_.push_back(half.edge);
  }
  for (size_t i = 1; i < made->begin_.size(); ++i) {
    made->begin_[i] += made->begin_[i - 1];
  }
  return made;
}

int64_t Adjacency::bytes() const {
  return static_cast<int64_t>((begin_.size() + neighbours_.size() + edges_.size()) * 4);
}

namespace {

std::string KeyOf(const EdgeTables& tables, std::string_view what) {
  return std::string(what) + "\n" + tables.edges->key() + "\n" + tables.sources->key() + "\n" +
         tables.targets->key();
}

std::string KeyOf(const EdgeTables& tables, Direction direction) {
  return KeyOf(tables, direction == Direction::kForward   ? "forward"
                       : direction == Direction::kReverse ? "reverse"
                                                          : "both");
}

}  // namespace

std::shared_ptr<const Adjacency> FindAdjacency(const EdgeTables& tables, Direction direction,
                                               QueryCache* cache) {
  return std::static_pointer_cast<const Adjacency>(cache->Find(KeyOf(tables, direction)));
}

Result<std::shared_ptr<const Adjacency>> AdjacencyOf(const EdgeTables& tables, Direction direction,
                                                     QueryCache* cache) {
  using EntryRef = std::shared_ptr<const QueryCache::Entry>;
  const auto make_edges = [&]() -> Result<EntryRef> { return EdgeList::Make(tables); };
  const auto make = [&]() -> Result<EntryRef> {
    OG_ASSIGN_OR_RETURN(const EntryRef list, cache->GetOrMake(KeyOf(tables, "edges"), make_edges));
    const auto& near = direction == Direction::kReverse ? *tables.targets : *tables.sources;
    return Adjacency::Make(static_cast<const EdgeList&>(*list), direction, near.rows());
  };
  OG_ASSIGN_OR_RETURN(const EntryRef entry, cache->GetOrMake(KeyOf(tables, direction), make));
  return std::static_pointer_cast<const Adjacency>(entry);
}

}  // namespace omnigraph::query
