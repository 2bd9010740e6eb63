#include "omnigraph/testing/oracle.h"

#include <algorithm>

#include "omnigraph/base/status.h"

namespace omnigraph::testing {
namespace {

std::string Describe(const std::string& key, const std::optional<std::string>& value) {
  return "'" + key + "' = " + (value.has_value() ? "'" + *value + "'" : "(deleted)");
}

}  // namespace

std::string Verdict::ToString() const {
  std::string text;
  for (const std::string& problem : problems) {
    text += problem + "\n";
  }
  return text;
}

Oracle::Ticket Oracle::Intend(std::string key, std::optional<std::string> value,
                              std::vector<std::string> ends) {
  std::vector<Ticket>& earlier = by_key_[key];
  for (const Ticket ticket : earlier) {
    OG_CHECK(!value.has_value() || writes_[ticket].value != value);
  }
  earlier.push_back(writes_.size());
  writes_.push_back(
      {.key = std::move(key), .value = std::move(value), .ends = std::move(ends), .begin = ++now_});
  return writes_.size() - 1;
}

void Oracle::Settle(Ticket ticket, Outcome outcome) {
  Write& write = writes_.at(ticket);
  OG_CHECK(write.outcome == Outcome::kOpen && outcome != Outcome::kOpen);
  write.outcome = outcome;
  write.end = ++now_;
}

void Oracle::SettleOpenAsUnknown() {
  ++now_;
  for (Write& write : writes_) {
    if (write.outcome == Outcome::kOpen) {
      write.outcome = Outcome::kUnknown;
      write.end = now_;
    }
  }
}

void Oracle::SettleAsLate(Ticket ticket) {
  Settle(ticket, Outcome::kUnknown);
  writes_.at(ticket).end = ~uint64_t{0};
}

std::string Oracle::History(const std::string& key) const {
  static constexpr const char* kOutcomes[] = {"open", "acked", "refused", "unknown"};
  std::string text;
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return text;
  }
  for (const Ticket ticket : found->second) {
    const Write& write = writes_[ticket];
    if (write.outcome == Outcome::kRefused) {
      continue;
    }
    text += "\n    " + std::to_string(write.begin) + " to " +
            (write.end == ~uint64_t{0} ? "ever" : std::to_string(write.end)) + " " +
            kOutcomes[static_cast<int>(write.outcome)] + " " + Describe(write.key, write.value);
    for (const std::string& end : write.ends) {
      text += " " + end;
    }
  }
  return text;
}

void Oracle::Learn(Ticket ticket, Outcome outcome) {
  Write& write = writes_.at(ticket);
  OG_CHECK(write.outcome == Outcome::kUnknown);
  write.outcome = outcome;
}

/// One run of Judge(): finds each observed row's write, then asks for each key whether the rest can
/// be.
struct Oracle::Judgement {
  explicit Judgement(const Oracle& of) : oracle(of), seen(of.writes_.size(), Seen::kNowhere) {}

  const Oracle& oracle;
  std::vector<Seen> seen;
  Verdict verdict;

  void Problem(std::string text) { verdict.problems.push_back(std::move(text)); }

  /// Find the write that an observed row came from, and note where it is.
  void Place(const std::string& key, const std::optional<std::string>& value, Seen where,
             const std::string& where_text) {
    const auto found = oracle.by_key_.find(key);
    bool known = false;
    if (found != oracle.by_key_.end()) {
      for (const Ticket ticket : found->second) {
        const Write& write = oracle.writes_[ticket];
        if (write.value != value) {
          continue;
        }
        known = true;
        if (seen[ticket] == Seen::kNowhere && write.outcome != Outcome::kRefused) {
          seen[ticket] = where;
          return;
        }
      }
    }
    Problem(known ? "G2, G3, G6: " + Describe(key, value) + " is " + where_text +
                        ", but was refused, or is seen twice"
                  : "G3: " + Describe(key, value) + " is " + where_text + ", but was never sent");
  }

  /// The writes of a key that may have deleted it, or (`puts`) certainly put it.
  std::vector<const Write*> WritesOf(const std::string& key, bool puts) const {
    std::vector<const Write*> out;
    const auto found = oracle.by_key_.find(key);
    if (found == oracle.by_key_.end()) {
      return out;
    }
    for (const Ticket ticket : found->second) {
      const Write& write = oracle.writes_[ticket];
      const bool counts = puts ? Folded(ticket) : write.outcome != Outcome::kRefused;
      if (write.value.has_value() == puts && counts) {
        out.push_back(&write);
      }
    }
    return out;
  }

  bool Folded(Ticket ticket) const {
    return oracle.writes_[ticket].outcome == Outcome::kAcked && seen[ticket] != Seen::kRejected &&
           seen[ticket] != Seen::kPending;
  }

  /// True if a delete of one of its ends may have taken the row along, or have come before it
  /// without a put of that end between them.
  bool MayHaveGone(const Write& edge) const {
    for (const std::string& end : edge.ends) {
      const std::vector<const Write*> puts = WritesOf(end, true);
      for (const Write* gone : WritesOf(end, false)) {
        const bool restored = std::any_of(puts.begin(), puts.end(), [&](const Write* put) {
          return put->begin > gone->end && put->end < edge.begin;
        });
        if (!restored) {
          return true;
        }
      }
    }
    return false;
  }

  /// True if `end` certainly existed when `edge` was sent, and no delete of it can have come since.
  bool SurelyStood(const std::string& end, const Write& edge) const {
    const std::vector<const Write*> deletes = WritesOf(end, false);
    for (const Write* put : WritesOf(end, true)) {
      const bool before_all = std::all_of(deletes.begin(), deletes.end(), [&](const Write* gone) {
        return gone->end < put->begin;
      });
      if (put->end < edge.begin && before_all) {
        return true;
      }
    }
    return false;
  }

  void JudgeWithoutEndpoint(const OracleRow& row) {
    for (const Write& write : oracle.writes_) {
      if (write.key != row.first || write.value != row.second) {
        continue;
      }
      const bool stood = std::all_of(write.ends.begin(), write.ends.end(),
                                     [&](const auto& end) { return SurelyStood(end, write); });
      if (stood) {
        Problem("G8: " + Describe(row.first, row.second) +
                " was rejected for an endpoint, but all of them were acked before it was sent");
      }
    }
  }

  /// True if `ticket` must have taken effect by now, one way or the other, and must be seen unless
  /// a write of its own key came after it.
  bool Applied(Ticket ticket) const {
    return Folded(ticket) && !MayHaveGone(oracle.writes_[ticket]);
  }

  /// True if no write that took effect began after `last` had ended.
  bool MayBeLast(Ticket last, const std::vector<Ticket>& tickets) const {
    for (const Ticket ticket : tickets) {
      if (Applied(ticket) && oracle.writes_[ticket].begin > oracle.writes_[last].end) {
        return false;
      }
    }
    return true;
  }

  /// Deletes leave nothing to see: the key may be absent if a delete may have been the last, or a
  /// row that then went with its endpoint.
  bool MayBeAbsent(const std::vector<Ticket>& tickets) const {
    bool any_applied = false;
    for (const Ticket ticket : tickets) {
      any_applied |= Applied(ticket);
      const Write& write = oracle.writes_[ticket];
      const bool may_have_deleted = seen[ticket] == Seen::kNowhere &&
                                    write.outcome != Outcome::kRefused &&
                                    (!write.value.has_value() || MayHaveGone(write));
      if (may_have_deleted && MayBeLast(ticket, tickets)) {
        return true;
      }
    }
    return !any_applied;
  }

  void JudgeVisible(Ticket visible, const std::vector<Ticket>& tickets) {
    const Write& write = oracle.writes_[visible];
    if (!MayBeLast(visible, tickets)) {
      Problem("G1, G4: " + Describe(write.key, write.value) +
              " is visible, but an acked write came after it");
    }
    for (const Ticket ticket : tickets) {
      if (seen[ticket] == Seen::kPending && oracle.writes_[ticket].end < write.begin) {
        Problem("G4: " + Describe(write.key, write.value) +
                " is visible, but a write before it is pending");
      }
    }
  }

  void JudgeKey(const std::string& key, const std::vector<Ticket>& tickets) {
    for (const Ticket ticket : tickets) {
      if (seen[ticket] == Seen::kVisible) {
        JudgeVisible(ticket, tickets);
        return;
      }
    }
    if (!MayBeAbsent(tickets)) {
      Problem("G1: '" + key + "' is nowhere, but a write of it was acked");
    }
  }

  void Count(Ticket ticket) {
    OracleCounts& counts = verdict.counts;
    const Outcome outcome = oracle.writes_[ticket].outcome;
    if (outcome == Outcome::kRefused) {
      ++counts.refused;
      return;
    }
    if (outcome != Outcome::kAcked && seen[ticket] == Seen::kNowhere) {
      ++counts.unknown;
      return;
    }
    ++counts.acked;
    switch (seen[ticket]) {
      case Seen::kVisible:
        ++counts.visible;
        break;
      case Seen::kRejected:
        ++counts.rejected;
        break;
      case Seen::kPending:
        ++counts.pending;
        break;
      case Seen::kNowhere:
        ++counts.superseded;
        break;
    }
  }
};

Verdict Oracle::Judge(const Observed& observed) const {
  Judgement judgement(*this);
  for (const auto& [key, value] : observed.visible) {
    judgement.Place(key, value, Seen::kVisible, "visible");
  }
  for (const auto& [key, value] : observed.rejected) {
    judgement.Place(key, value, Seen::kRejected, "rejected");
  }
  for (const auto& [key, value] : observed.pending) {
    judgement.Place(key, value, Seen::kPending, "pending");
  }
  for (const auto& [key, tickets] : by_key_) {
    judgement.JudgeKey(key, tickets);
  }
  for (const OracleRow& row : observed.without_endpoint) {
    judgement.JudgeWithoutEndpoint(row);
  }
  for (Ticket ticket = 0; ticket < writes_.size(); ++ticket) {
    judgement.Count(ticket);
  }
  return std::move(judgement.verdict);
}

}  // namespace omnigraph::testing
