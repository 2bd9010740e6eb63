// C5: a numbered chain whose old numbers are deleted. Two writers remember a version, walk, put at
// the next number and look back; a third process prunes. Every interleaving. Without either look
// back the chain breaks.
#include <gtest/gtest.h>

#include <algorithm>

#include "model_search.h"

namespace omnigraph::lance::testing {
namespace {

constexpr int kNumbers = 7;  // numbers 1 ... 6 are put; 0 is unused
constexpr int kWriters = 2;
constexpr int kTries = 6;
constexpr int kContents = kTries + 2;  // one a try, from 1

struct Rules {
  bool walk_looks_back = true;  // "a walk from n counts only if n still so stands at its end"
  bool put_looks_back = true;   // "a put at n + 1 counts only if n does after its positive answer"
  bool prune_ascending = true;  // "in ascending order, one by one"
  bool prune_keeps_newest = true;
};

enum Pc : uint8_t { kStart, kWalking, kEndOfWalk, kPut, kLookBack, kTakeAway, kList };

struct Writer {
  uint8_t pc;
  uint8_t known;          // the version that it remembers: number
  uint8_t known_content;  // and content
  uint8_t at;             // walking: the last number that it saw
  uint8_t at_content;
  uint8_t floor;    // the newest number of the chain when the walk began
  uint8_t content;  // what it puts; fresh for every try
};

struct Chain {
  uint8_t stands[kNumbers];     // content, 0: absent
  uint8_t to_prune;             // numbers that the pruner listed and has not deleted yet, as bits
  uint16_t history[kContents];  // of each content: itself and what it was built on, as bits
  uint8_t head;                 // the newest number of the chain
  uint8_t head_content;
  uint8_t next_content;
  uint8_t tries_left;
  Writer writers[kWriters];
};

uint8_t NewestListed(const Chain& chain) {
  uint8_t newest = 0;
  for (uint8_t number = 1; number < kNumbers; ++number) {
    newest = chain.stands[number] != 0 ? number : newest;
  }
  return newest;
}

Chain Start() {
  Chain chain = {};
  chain.stands[1] = 1;
  chain.history[1] = 1 << 1;
  chain.head = 1;
  chain.head_content = 1;
  chain.next_content = 2;
  chain.tries_left = kTries;
  for (Writer& writer : chain.writers) {
    writer = {kStart, 1, 1, 0, 0, 0, 0};
  }
  return chain;
}

class Model {
 public:
  explicit Model(Rules rules) : rules_(rules) {}

  void Expand(const Chain& chain, std::vector<Step<Chain>>* steps) const {
    for (int w = 0; w < kWriters; ++w) {
      Writers(chain, w, steps);
    }
    Prune(chain, steps);
  }

 private:
  static void Add(const Chain& next, const char* action, int actor, std::vector<Step<Chain>>* steps,
                  const char* violation = nullptr) {
    steps->push_back({next, action, actor, violation});
  }

  void Writers(const Chain& chain, int w, std::vector<Step<Chain>>* steps) const {
    Chain next = chain;
    Writer& writer = next.writers[w];
    switch (writer.pc) {
      case kStart:
        if (chain.tries_left > 0) {
          writer = {kWalking,
                    writer.known,
                    writer.known_content,
                    writer.known,
                    writer.known_content,
                    chain.head,
                    0};
          Add(next, "starts to walk", w, steps);
        }
        return;
      case kWalking:
        if (writer.at + 1 < kNumbers && chain.stands[writer.at + 1] != 0) {
          ++writer.at;
          writer.at_content = chain.stands[writer.at];
          Add(next, "walks on", w, steps);
        } else {
          writer.pc = kEndOfWalk;
          Add(next, "finds the next number absent", w, steps);
        }
        return;
      case kEndOfWalk:
        if (rules_.walk_looks_back && chain.stands[writer.known] != writer.known_content) {
          writer.pc = kList;
          Add(next, "finds its start gone", w, steps);
          return;
        }
        Found(next, w, "ends its walk", steps);
        return;
      case kList: {
        writer.at = NewestListed(chain);
        writer.at_content = chain.stands[writer.at];
        writer.known = writer.at;
        writer.known_content = writer.at_content;
        writer.pc = kWalking;
        Add(next, "lists", w, steps);
        return;
      }
      case kPut:
        Put(next, w, steps);
        return;
      case kLookBack:
        LookBack(chain, next, w, steps);
        return;
      case kTakeAway:
        if (chain.stands[writer.at + 1] == writer.content) {
          next.stands[writer.at + 1] = 0;
        }
        writer.pc = kList;
        Add(next, "takes its put away", w, steps);
        return;
      default:
        return;
    }
  }

  // What the walk answers must not be older than what counted when it began.
  static void Found(Chain next, int w, const char* action, std::vector<Step<Chain>>* steps) {
    Writer& writer = next.writers[w];
    const bool stale = writer.at < writer.floor;
    writer.pc = kPut;
    writer.known = writer.at;
    writer.known_content = writer.at_content;
    Add(next, action, w, steps,
        stale ? "a walk answered a version older than the newest at its start" : nullptr);
  }

  static void Put(Chain next, int w, std::vector<Step<Chain>>* steps) {
    Writer& writer = next.writers[w];
    if (writer.at + 1 >= kNumbers || next.tries_left == 0) {
      writer.pc = kStart;
      Add(next, "stops at the model's end", w, steps);
    } else if (next.stands[writer.at + 1] != 0) {
      writer.pc = kStart;
      Add(next, "loses the number", w, steps);
    } else {
      --next.tries_left;
      writer.content = next.next_content++;
      next.stands[writer.at + 1] = writer.content;
      next.history[writer.content] =
          static_cast<uint16_t>(next.history[writer.at_content] | (1U << writer.content));
      // It is part of the chain if it extends the newest, which stands; else it stands where a
      // number was pruned.
      if (next.head == writer.at && next.head_content == writer.at_content) {
        next.head = static_cast<uint8_t>(writer.at + 1);
        next.head_content = writer.content;
      }
      writer.pc = kLookBack;
      Add(next, "puts the next number", w, steps);
    }
  }

  static bool InHistory(const Chain& chain, uint8_t of, uint8_t content) {
    return (chain.history[of] >> content & 1) != 0;
  }

  void LookBack(const Chain& chain, Chain next, int w, std::vector<Step<Chain>>* steps) const {
    Writer& writer = next.writers[w];
    const uint8_t ours = static_cast<uint8_t>(writer.at + 1);
    const uint8_t newest = chain.stands[NewestListed(chain)];
    const bool base_stands = chain.stands[writer.at] == writer.at_content;
    const bool counts =
        !rules_.put_looks_back || base_stands || InHistory(chain, newest, writer.content);
    const bool in_chain = InHistory(chain, chain.head_content, writer.content);
    if (counts) {
      writer.pc = kStart;
      writer.known = ours;
      writer.known_content = writer.content;
      Add(next, "counts its put", w, steps,
          in_chain ? nullptr : "a put counted that is no part of the chain");
    } else {
      writer.pc = kTakeAway;
      Add(next, "finds that its put does not count", w, steps,
          in_chain ? "a put that is part of the chain did not count" : nullptr);
    }
  }

  // The pruner lists, then deletes one number at a time; what it listed may be old by then.
  void Prune(const Chain& chain, std::vector<Step<Chain>>* steps) const {
    if (chain.to_prune == 0) {
      Chain next = chain;
      const uint8_t newest = NewestListed(chain);
      for (uint8_t number = 1; number < kNumbers; ++number) {
        const bool kept = rules_.prune_keeps_newest && number == newest;
        if (chain.stands[number] != 0 && !kept) {
          next.to_prune = static_cast<uint8_t>(next.to_prune | (1U << number));
        }
      }
      if (next.to_prune != 0) {
        Add(next, "lists what to prune", kWriters, steps);
      }
      return;
    }
    for (uint8_t number = 1; number < kNumbers; ++number) {
      if ((chain.to_prune >> number & 1) == 0) {
        continue;
      }
      Chain next = chain;
      next.stands[number] = 0;
      next.to_prune = static_cast<uint8_t>(next.to_prune & ~(1U << number));
      Add(next, "prunes a number", kWriters, steps);
      if (rules_.prune_ascending) {
        return;
      }
    }
  }

  Rules rules_;
};

SearchResult SearchChain(Rules rules) {
  const Model model(rules);
  return Search(
      Start(),
      [&](const Chain& chain, std::vector<Step<Chain>>* steps) { model.Expand(chain, steps); },
      [](const Chain&) -> const char* { return nullptr; });
}

TEST(ChainModel, WithAllOfC5_HoldsInEveryState) {
  const SearchResult result = SearchChain({});
  EXPECT_EQ(result.violation, "") << Describe(result);
  EXPECT_GT(result.states, 1000);
  RecordProperty("states", static_cast<int>(result.states));
}

TEST(ChainModel, WithoutLookingBackAfterAWalk_Breaks) {
  EXPECT_BREAKS(SearchChain({.walk_looks_back = false}));
}

TEST(ChainModel, WithoutLookingBackAfterAPut_Breaks) {
  EXPECT_BREAKS(SearchChain({.put_looks_back = false}));
}

TEST(ChainModel, WhenPrunedInAnyOrder_Breaks) {
  EXPECT_BREAKS(SearchChain({.prune_ascending = false}));
}

TEST(ChainModel, WhenTheNewestMayBePruned_Breaks) {
  EXPECT_BREAKS(SearchChain({.prune_keeps_newest = false}));
}

}  // namespace
}  // namespace omnigraph::lance::testing
