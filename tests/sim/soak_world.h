/// \file
/// What all processes and the judge of one simulated run share: the schema, the oracle, the random
/// rows, and what the clients were told.
///
/// Nothing here is locked: one simulated thread runs at a time, and nothing here is a scheduling
/// point.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/runtime/sim.h"
#include "omnigraph/testing/oracle.h"

namespace omnigraph::soak {

/// `Note` takes no stream: a row of it in each load tells afterwards whether the load was
/// committed.
inline constexpr std::string_view kSchema =
    "node City @stream { name: String @key v: I32 }\n"
    "node Person @stream { name: String @key v: I32 email: String? @unique }\n"
    "node Note { name: String @key v: I32 }\n"
    "edge Knows: Person -> Person @stream { v: I32 }\n"
    "edge LivesIn: Person -> City @card(0..1) @stream { v: I32 }\n";
inline constexpr int kStreamed = 4;
inline constexpr std::string_view kTypes[] = {"City", "Person", "Knows", "LivesIn", "Note"};

/// One row on its way: what is sent, and what the oracle knows it by.
struct Row {
  int type = 0;  ///< index into kTypes
  std::string key;
  std::optional<std::string> value;
  std::vector<std::string> ends;
  std::string email;  ///< of a Person
  std::string line;   ///< with its line end
};

/// What the random rows of a run are like.
struct RowMix {
  bool delete_cities = true;
  bool delete_persons = true;
  bool dangle = true;  ///< edges to nodes that never exist
  bool emails = true;  ///< @unique values that clash
  uint64_t nodes = 6;  ///< names per node type
};

/// What a client noted about one streamed row.
struct Sent {
  Row row;
  testing::Oracle::Ticket ticket = 0;
  bool streamed = true;
};

/// The world of one run. Single-owner: whoever runs.
class World {
 public:
  World(runtime::Simulator& simulator, RowMix mix) : sim(simulator), mix_(mix) {}

  /// A random row of a type; `deletes` allows a tombstone.
  Row MakeRow(int type, bool deletes);
  /// Note that the row is about to be sent by process `slot`.
  testing::Oracle::Ticket Intend(const Row& row, int slot, bool streamed);
  void Settle(testing::Oracle::Ticket ticket, testing::Outcome outcome);
  /// Process `slot` died: what it had sent and not settled is unknown.
  void Died(int slot);

  /// A receipt, for G7: epochs only grow along a log.
  void NoteReceipt(int type, uint64_t epoch, uint64_t position);
  /// Errors that must never come, whatever fails: corruption and bugs.
  void CheckStatus(std::string_view doing, const Status& status);
  void Problem(std::string text);

  /// Rows of a type that were acked so far.
  uint64_t acked(int type) const { return acked_[static_cast<size_t>(type)]; }
  uint64_t unknown(int type) const;
  /// The last position of a type's log that was acked.
  uint64_t last_position(int type) const;
  const Sent& sent(testing::Oracle::Ticket ticket) const { return sent_.at(ticket); }
  const std::vector<Sent>& all_sent() const { return sent_; }
  uint64_t Below(uint64_t bound) { return sim.NextRandomBelow(bound); }
  bool Chance(uint64_t percent) { return sim.NextRandomBelow(100) < percent; }

  runtime::Simulator& sim;
  testing::Oracle oracle;
  std::vector<std::string> problems;
  int64_t rows_left = 0;      ///< rows that are still to be acked
  bool torn_allowed = false;  ///< a shard may stop for a torn, unacked tail
  /// Puts may land long after their sender gave up: rows of unknown outcome have no order.
  bool late_effects = false;
  bool stopping = false;  ///< processes leave
  /// Which process slot answered last for a type; clients ask there first.
  int owner[kStreamed] = {0, 0, 0, 0};
  /// Loads whose outcome is unknown: their tickets, by the name of their note.
  std::map<std::string, std::vector<testing::Oracle::Ticket>> doubtful_loads;
  /// Events of the run, for the summary of a test.
  std::map<std::string, uint64_t> events;

 private:
  const RowMix mix_;
  int next_value_ = 0;
  std::vector<Sent> sent_;                ///< by ticket
  std::map<int, std::set<size_t>> open_;  ///< tickets without an answer, by process slot
  std::map<size_t, int> slot_of_;         ///< of open tickets
  uint64_t acked_[kStreamed] = {0, 0, 0, 0};
  std::map<int, std::map<uint64_t, uint64_t>> epochs_;  ///< type to position to epoch
};

/// A graph as a snapshot shows it.
struct Picture {
  testing::Observed observed;
  std::map<std::string, std::set<std::string>> ids;  ///< by type
  std::vector<std::string> problems;                 ///< G5, G8: what no snapshot may show
};

/// Read every row of a snapshot, and the rejects; check what must hold of any snapshot: no edge
/// dangles, no id stands twice, `@unique` and `@card` hold.
Result<Picture> TakePicture(graph::Graph& graph, const graph::Snapshot& snapshot,
                            const World& world);
/// G2 of a status: the equation for each type, and no fewer acked rows than `acked_before` (by
/// type) were acked before process `slot` was asked for it. A deposed owner that does not know it
/// yet answers for its own rows only.
void CheckStatusRows(const graph::IngestStatus& status, const std::vector<uint64_t>& acked_before,
                     int slot, World* world);

}  // namespace omnigraph::soak
