#include "match.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "expand.h"

namespace omnigraph::query {
namespace {

/// Adds the parts of `expr` that must all hold.
void AddConjuncts(const BoundExpr& expr, std::vector<const BoundExpr*>* conjuncts) {
  if (expr.kind != BoundExpr::Kind::kAnd) {
    conjuncts->push_back(&expr);
    return;
  }
  for (const BoundExpr& arg : expr.args) {
    AddConjuncts(arg, conjuncts);
  }
}

/// Adds the columns of `variable` that `expr` reads.
void AddColumns(const BoundExpr& expr, int variable, std::set<std::string>* columns) {
  if (expr.kind == BoundExpr::Kind::kColumn && expr.index == variable) {
    columns->insert(expr.column);
  }
  for (const BoundExpr& arg : expr.args) {
    AddColumns(arg, variable, columns);
  }
}

Positions PositionsOf(const arrow::BooleanArray& mask) {
  std::vector<int32_t> positions;
  positions.reserve(static_cast<size_t>(mask.true_count()));
  for (int64_t i = 0; i < mask.length(); ++i) {
    if (mask.Value(i)) {
      positions.push_back(static_cast<int32_t>(i));
    }
  }
  return MakePositions(std::move(positions));
}

/// Executes one pattern on top of the rows that it is given. Single-owner; made for one pattern.
///
/// Order of work: conditions on one variable first, on whole columns; then grow from the variable
/// with the fewest candidates along hops, closing cycles before opening new ends; conditions on
/// several variables as soon as all are bound; cross join what nothing connects; blocks last.
class PatternMatch {
 public:
  PatternMatch(Session* session, const Pattern& pattern, Relation relation)
      : session_(session), pattern_(pattern), relation_(std::move(relation)) {}

  Result<Relation> Run();

 private:
  Status SortFilters();
  Status MakeCandidates(int variable, const std::vector<const BoundExpr*>& conditions);
  Status ApplyPending();
  Status ApplyBlock(const BoundBlock& block);
  Result<bool> FollowOneHop();
  Status Follow(const BoundHop& hop);
  Result<int64_t> CandidateCount(int variable);
  Result<bool> StartOneVariable();
  Status Start(int variable);
  Status FinishEmpty();
  bool IsIntroduced(int variable) const {
    return std::find(pattern_.variables.begin(), pattern_.variables.end(), variable) !=
           pattern_.variables.end();
  }

  Session* session_;
  const Pattern& pattern_;
  Relation relation_;
  std::vector<const BoundExpr*> conjuncts_;
  std::list<const BoundExpr*> pending_;
  std::list<const BoundHop*> hops_;
  std::map<int, std::shared_ptr<arrow::BooleanArray>> candidates_;  // absent: all rows
};

Result<Relation> PatternMatch::Run() {
  for (const BoundExpr& filter : pattern_.filters) {
    AddConjuncts(filter, &conjuncts_);
  }
  OG_RETURN_NOT_OK(SortFilters());
  for (const BoundHop& hop : pattern_.hops) {
    hops_.push_back(&hop);
  }
  OG_RETURN_NOT_OK(ApplyPending());
  while (relation_.rows > 0) {
    OG_ASSIGN_OR_RETURN(bool progress, FollowOneHop());
    if (!progress) {
      OG_ASSIGN_OR_RETURN(progress, StartOneVariable());
    }
    if (!progress) {
      break;
    }
    OG_RETURN_NOT_OK(ApplyPending());
  }
  for (const BoundBlock& block : pattern_.blocks) {
    if (relation_.rows > 0) {
      OG_RETURN_NOT_OK(ApplyBlock(block));
    }
  }
  OG_RETURN_NOT_OK(FinishEmpty());
  return std::move(relation_);
}

/// Conditions on one new node become candidates; all others wait for their variables.
Status PatternMatch::SortFilters() {
  std::map<int, std::vector<const BoundExpr*>> local;
  for (const BoundExpr* conjunct : conjuncts_) {
    const std::vector<int> variables = conjunct->Variables();
    const bool is_local = variables.size() == 1 && IsIntroduced(variables[0]) &&
                          !session_->query().variables[static_cast<size_t>(variables[0])].is_edge();
    if (is_local) {
      local[variables[0]].push_back(conjunct);
    } else {
      pending_.push_back(conjunct);
    }
  }
  for (const auto& [variable, conditions] : local) {
    OG_RETURN_NOT_OK(MakeCandidates(variable, conditions));
  }
  return Status::OK();
}

Status PatternMatch::MakeCandidates(int variable, const std::vector<const BoundExpr*>& conditions) {
  OG_ASSIGN_OR_RETURN(TableColumns * table, session_->TableOf(variable));
  std::set<std::string> columns;
  BoundExpr all;
  all.kind = BoundExpr::Kind::kAnd;
  for (const BoundExpr* condition : conditions) {
    AddColumns(*condition, variable, &columns);
    all.args.push_back(*condition);
  }
  OG_RETURN_NOT_OK(table->Load(columns));
  OG_ASSIGN_OR_RETURN(candidates_[variable],
                      EvaluateMask(all, session_->OverTable(variable, table->rows())));
  return Status::OK();
}

Status PatternMatch::ApplyPending() {
  for (auto it = pending_.begin(); it != pending_.end();) {
    const std::vector<int> variables = (*it)->Variables();
    const bool is_ready = std::all_of(variables.begin(), variables.end(),
                                      [&](int variable) { return relation_.IsBound(variable); });
    if (!is_ready) {
      ++it;
      continue;
    }
    OG_ASSIGN_OR_RETURN(const auto mask, EvaluateMask(**it, session_->OverRelation(relation_)));
    OG_ASSIGN_OR_RETURN(relation_, relation_.Filter(*mask));
    it = pending_.erase(it);
  }
  return Status::OK();
}

Result<bool> PatternMatch::FollowOneHop() {
  auto chosen = hops_.end();
  for (auto it = hops_.begin(); it != hops_.end(); ++it) {
    const bool from = relation_.IsBound((*it)->from);
    const bool to = relation_.IsBound((*it)->to);
    if (from && to) {
      chosen = it;  // only takes rows away: first
      break;
    }
    if ((from || to) && chosen == hops_.end()) {
      chosen = it;
    }
  }
  if (chosen == hops_.end()) {
    return false;
  }
  const BoundHop* hop = *chosen;
  hops_.erase(chosen);
  OG_RETURN_NOT_OK(Follow(*hop));
  return true;
}

Status PatternMatch::Follow(const BoundHop& hop) {
  const bool from_is_bound = relation_.IsBound(hop.from);
  const bool is_closing = from_is_bound && relation_.IsBound(hop.to);
  const int known = from_is_bound ? hop.from : hop.to;
  const int other = from_is_bound ? hop.to : hop.from;
  HopSpec spec;
  spec.min = hop.min;
  spec.max = hop.max;
  if (hop.edge->source != hop.edge->target) {
    spec.max = 1;  // no second hop starts where the first one ends
  }
  spec.per_edge = hop.edge_variable >= 0;
  spec.rows_max = session_->options().rows_max;
  const Direction direction = hop.undirected  ? Direction::kBoth
                              : from_is_bound ? Direction::kForward
                                              : Direction::kReverse;
  const auto& known_column = *relation_.columns[static_cast<size_t>(known)];
  OG_ASSIGN_OR_RETURN(spec.adjacency,
                      session_->AdjacencyFor(*hop.edge, direction, known_column, spec.max));
  Expansion expansion;
  if (spec.min > spec.max) {
    expansion = {MakePositions({}), MakePositions({}), MakePositions({})};
  } else if (is_closing) {
    OG_ASSIGN_OR_RETURN(
        expansion, Connect(known_column, *relation_.columns[static_cast<size_t>(other)], spec));
  } else {
    const auto ends = candidates_.find(other);
    spec.ends = ends == candidates_.end() ? nullptr : ends->second;
    OG_ASSIGN_OR_RETURN(expansion, Expand(known_column, spec));
  }
  OG_ASSIGN_OR_RETURN(relation_, relation_.TakeRows(expansion.rows));
  relation_.columns[static_cast<size_t>(other)] = expansion.ends;
  if (hop.edge_variable >= 0) {
    relation_.columns[static_cast<size_t>(hop.edge_variable)] = expansion.edges;
  }
  return Status::OK();
}

Result<int64_t> PatternMatch::CandidateCount(int variable) {
  if (const auto found = candidates_.find(variable); found != candidates_.end()) {
    return found->second->true_count();
  }
  OG_ASSIGN_OR_RETURN(TableColumns * table, session_->TableOf(variable));
  return table->rows();
}

/// Start the component of the variable that has the fewest candidates.
Result<bool> PatternMatch::StartOneVariable() {
  int best = -1;
  int64_t best_count = 0;
  for (const int variable : pattern_.variables) {
    if (relation_.IsBound(variable) ||
        session_->query().variables[static_cast<size_t>(variable)].is_edge()) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(const int64_t count, CandidateCount(variable));
    if (best < 0 || count < best_count) {
      best = variable;
      best_count = count;
    }
  }
  if (best < 0) {
    return false;
  }
  OG_RETURN_NOT_OK(Start(best));
  return true;
}

Status PatternMatch::Start(int variable) {
  OG_ASSIGN_OR_RETURN(TableColumns * table, session_->TableOf(variable));
  const auto found = candidates_.find(variable);
  const Positions positions =
      found == candidates_.end() ? AllPositions(table->rows()) : PositionsOf(*found->second);
  const int64_t count = positions->length();
  if (count > 0 && relation_.rows > session_->options().rows_max / count) {
    return TooManyRows(session_->options().rows_max);
  }
  // Cross join; the first variable meets the one row without columns.
  std::vector<int32_t> rows;
  std::vector<int32_t> values;
  rows.reserve(static_cast<size_t>(count * relation_.rows));
  values.reserve(static_cast<size_t>(count * relation_.rows));
  for (int64_t row = 0; row < relation_.rows; ++row) {
    rows.insert(rows.end(), static_cast<size_t>(count), static_cast<int32_t>(row));
    values.insert(values.end(), positions->raw_values(), positions->raw_values() + count);
  }
  OG_ASSIGN_OR_RETURN(relation_, relation_.TakeRows(MakePositions(std::move(rows))));
  relation_.columns[static_cast<size_t>(variable)] = MakePositions(std::move(values));
  return Status::OK();
}

Status PatternMatch::ApplyBlock(const BoundBlock& block) {
  Relation inner = relation_;
  inner.origin = AllPositions(relation_.rows);
  OG_ASSIGN_OR_RETURN(const Relation matched,
                      PatternMatch(session_, block.pattern, std::move(inner)).Run());
  std::vector<bool> has_match(static_cast<size_t>(relation_.rows), false);
  for (int64_t row = 0; row < matched.rows; ++row) {
    has_match[static_cast<size_t>(matched.origin->Value(row))] = true;
  }
  std::vector<int32_t> kept;
  for (int64_t row = 0; row < relation_.rows; ++row) {
    if (has_match[static_cast<size_t>(row)] != block.negated) {
      kept.push_back(static_cast<int32_t>(row));
    }
  }
  OG_ASSIGN_OR_RETURN(relation_, relation_.TakeRows(MakePositions(std::move(kept))));
  return Status::OK();
}

/// A match that ran empty stops early; give the variables that it never reached empty columns.
Status PatternMatch::FinishEmpty() {
  for (const int variable : pattern_.variables) {
    if (!relation_.IsBound(variable)) {
      OG_CHECK(relation_.rows == 0);
      relation_.columns[static_cast<size_t>(variable)] = MakePositions({});
    }
  }
  return Status::OK();
}

}  // namespace

Result<Relation> ExecuteMatch(Session* session) {
  Relation unit;
  unit.columns.resize(session->query().variables.size());
  return PatternMatch(session, session->query().match, std::move(unit)).Run();
}

}  // namespace omnigraph::query
