/// \file
/// A small explicit-state search: every interleaving of a model's actions, each state once, with
/// the trace of the first violation. A model is a plain value (no pointers, no padding) and a
/// function that lists what may happen next.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "omnigraph/base/hash.h"

namespace omnigraph::lance::testing {

/// What a search found.
struct SearchResult {
  std::string violation;           ///< empty: the invariants hold in every state
  std::vector<std::string> trace;  ///< the actions that lead to it
  size_t states = 0;
};

/// One step from a state.
template <typename State>
struct Step {
  State next;
  const char* action;
  int actor;
  const char* violation;  ///< of the step itself, or nullptr
};

/// Search depth first from `start`. `expand` appends the steps from a state; `check` names a broken
/// invariant of a state. The state set holds 128-bit fingerprints: two states share one with a
/// probability that does not matter here.
template <typename State, typename Expand, typename Check>
SearchResult Search(const State& start, Expand expand, Check check) {
  static_assert(std::has_unique_object_representations_v<State>,
                "padding would tell equal states apart");
  struct Fingerprint {
    size_t operator()(const Hash128& hash) const { return static_cast<size_t>(hash.low); }
  };
  struct Frame {
    std::vector<Step<State>> steps;
    size_t next = 0;
  };
  const auto fingerprint = [](const State& state) {
    return XxHash128({reinterpret_cast<const char*>(&state), sizeof(State)});
  };

  SearchResult result;
  std::unordered_set<Hash128, Fingerprint> seen;
  std::vector<Frame> stack(1);
  seen.insert(fingerprint(start));
  expand(start, &stack.back().steps);
  while (!stack.empty()) {
    Frame& top = stack.back();
    if (top.next == top.steps.size()) {
      stack.pop_back();
      continue;
    }
    const Step<State>& step = top.steps[top.next++];
    const char* violation = step.violation != nullptr ? step.violation : check(step.next);
    if (violation != nullptr) {
      result.violation = violation;
      for (const Frame& frame : stack) {
        const Step<State>& taken = frame.steps[frame.next - 1];
        result.trace.push_back(std::to_string(taken.actor) + " " + taken.action);
      }
      break;
    }
    if (seen.insert(fingerprint(step.next)).second) {
      Frame frame;
      expand(step.next, &frame.steps);
      stack.push_back(std::move(frame));
    }
  }
  result.states = seen.size();
  return result;
}

/// The trace on one line, for failure messages.
inline std::string Describe(const SearchResult& result) {
  std::string text = result.violation + " after:";
  for (const std::string& action : result.trace) {
    text += " [" + action + "]";
  }
  return text;
}

}  // namespace omnigraph::lance::testing

/// The search found a schedule that breaks an invariant. The schedule goes into the test's log.
#define EXPECT_BREAKS(search)                                                                \
  do {                                                                                       \
    const ::omnigraph::lance::testing::SearchResult _og_search = (search);                   \
    EXPECT_NE(_og_search.violation, "") << "no schedule breaks the model without this rule"; \
    ::testing::Test::RecordProperty("schedule",                                              \
                                    ::omnigraph::lance::testing::Describe(_og_search));      \
  } while (false)
