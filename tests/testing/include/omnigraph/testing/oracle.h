/// \file
/// The oracle: a tiny model of streamed writes that judges what a system shows after crashes and
/// lost answers. It notes the intent before a call and the outcome after the reply; where there was
/// no reply, both outcomes stay possible.
///
/// It checks G1 (acked is durable), G2 (acked has exactly one end, and the counts agree), G3 (not
/// acked is whole or absent), G4 (order per key), G6 (applied once), and of G8 that no edge is
/// rejected for an endpoint that stood when it was sent (F1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace omnigraph::testing {

/// What the client was told about one row.
enum class Outcome : uint8_t {
  kOpen,     ///< nothing yet
  kAcked,    ///< durable
  kRefused,  ///< not written, and never will be
  kUnknown,  ///< no answer, or one that says so
};

/// One row: its key and its value, nothing for a delete.
using OracleRow = std::pair<std::string, std::optional<std::string>>;

/// What the system shows at one moment, between two folds.
struct Observed {
  std::map<std::string, std::string> visible;  ///< key to value
  std::vector<OracleRow> rejected;             ///< rows of the rejects table
  std::vector<OracleRow> pending;              ///< rows in the log behind the folded positions
  /// Those of `rejected` that were rejected because an endpoint did not exist.
  std::set<OracleRow> without_endpoint{};
};

/// Where the rows are: G2's sum, acked = visible + superseded + rejected + pending. Rows of unknown
/// outcome that were found somewhere count as acked.
struct OracleCounts {
  uint64_t acked = 0;
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;
  uint64_t pending = 0;
  uint64_t refused = 0;
  uint64_t unknown = 0;  ///< of unknown outcome and found nowhere: never written, or superseded
};

struct Verdict {
  OracleCounts counts;
  std::vector<std::string> problems;  ///< one sentence each, with the guarantee that it breaks

  bool ok() const { return problems.empty(); }
  /// The problems, one per line, for a test's message.
  std::string ToString() const;
};

/// Thread-compatible.
class Oracle {
 public:
  using Ticket = size_t;

  /// Note that a row is about to be sent.
  ///
  /// `ends`: keys of the nodes that an edge hangs on. Deleting one may take the edge with it, or
  /// supersede a row of it that is not folded yet (F4).
  ///
  /// REQUIRES: among the writes of one key no value comes twice (deletes may): a value tells which
  /// write is seen.
  Ticket Intend(std::string key, std::optional<std::string> value,
                std::vector<std::string> ends = {});
  /// Note the reply. REQUIRES: the ticket is open; outcome is not kOpen.
  void Settle(Ticket ticket, Outcome outcome);
  /// The client or the server died: every open ticket's outcome is unknown.
  void SettleOpenAsUnknown();
  /// The same for one ticket whose effect may still come: a put that was lost on its way may land
  /// after anything.
  void SettleAsLate(Ticket ticket);
  /// Something else tells how a write of unknown outcome ended. When it ended stays as noted.
  void Learn(Ticket ticket, Outcome outcome);

  /// Judge what the system shows. Rows of one key must take effect in an order that respects real
  /// time: a write that was sent after another one's reply comes after it; writes that overlap may
  /// come in either order.
  Verdict Judge(const Observed& observed) const;

  /// The writes of a key, for a message.
  std::string History(const std::string& key) const;

  size_t size() const { return writes_.size(); }
  Outcome OutcomeOf(Ticket ticket) const { return writes_.at(ticket).outcome; }
  /// True if a write of `key` was noted.
  bool Knows(const std::string& key) const { return by_key_.contains(key); }

 private:
  struct Write {
    std::string key;
    std::optional<std::string> value;
    std::vector<std::string> ends;
    Outcome outcome = Outcome::kOpen;
    uint64_t begin = 0;           ///< when it was sent
    uint64_t end = ~uint64_t{0};  ///< when its outcome was noted
  };
  enum class Seen : uint8_t { kNowhere, kVisible, kRejected, kPending };
  struct Judgement;

  std::vector<Write> writes_;
  std::map<std::string, std::vector<Ticket>> by_key_;
  uint64_t now_ = 0;
};

}  // namespace omnigraph::testing
