#include "soak_world.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "omnigraph/graph/ingest/rejects.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::soak {
namespace {

using testing::Oracle;
using testing::Outcome;

std::string NodeLine(std::string_view type, std::string_view name, int value,
                     std::string_view email) {
  return fmt::format(R"({{"type":"{}","data":{{"name":"{}","v":{}{}}}}})"
                     "\n",
                     type, name, value,
                     email.empty() ? std::string() : fmt::format(R"(,"email":"{}")", email));
}

std::string EdgeLine(std::string_view type, std::string_view id, std::string_view from,
                     std::string_view to, int value) {
  return fmt::format(R"({{"edge":"{}",{}"from":"{}","to":"{}","data":{{"v":{}}}}})"
                     "\n",
                     type, id.empty() ? std::string() : fmt::format(R"("id":"{}",)", id), from, to,
                     value);
}

/// The number behind `"v":` in a line of ours; empty: none.
std::string ValueIn(std::string_view line) {
  const size_t at = line.rfind("\"v\":");
  if (at == std::string_view::npos) {
    return "";
  }
  const size_t end = line.find_first_not_of("0123456789", at + 4);
  return std::string(line.substr(at + 4, end - at - 4));
}

}  // namespace

Row World::MakeRow(int type, bool deletes) {
  Row out;
  out.type = type;
  const int value = ++next_value_;
  const std::string_view name = kTypes[type];
  out.value = std::to_string(value);
  const bool edge = name == "Knows" || name == "LivesIn";
  const std::string n = std::to_string(Below(mix_.nodes));
  const bool may_delete =
      edge || (name == "City" && mix_.delete_cities) || (name == "Person" && mix_.delete_persons);
  if (deletes && may_delete && Chance(name == "Person" ? 4 : 12)) {
    const std::string id = edge ? "e" + n : (name == "City" ? "c" : "p") + n;
    out.key = fmt::format("{}/{}", name, id);
    out.value = std::nullopt;
    out.line = fmt::format(R"({{"{}":"{}","id":"{}","op":"delete"}})"
                           "\n",
                           edge ? "edge" : "type", name, id);
    return out;
  }
  if (!edge) {
    const std::string id = (name == "City" ? "c" : "p") + n;
    if (name == "Person" && mix_.emails && Chance(30)) {
      out.email = fmt::format("m{}", Below(mix_.nodes));
    }
    out.key = fmt::format("{}/{}", name, id);
    out.line = NodeLine(name, id, value, out.email);
    return out;
  }
  const std::string from = "p" + n;
  const uint64_t to_number = Below(mix_.nodes + (mix_.dangle ? 2 : 0));  // the last never exist
  const std::string to = fmt::format("{}{}", name == "Knows" ? "p" : "c", to_number);
  const bool minted = Chance(40);
  const std::string id = minted ? "" : fmt::format("e{}", Below(mix_.nodes));
  // A minted id is not known here: the value tells the row.
  out.key = minted ? fmt::format("{}/#{}", name, value) : fmt::format("{}/{}", name, id);
  out.ends = {"Person/" + from, (name == "Knows" ? "Person/" : "City/") + to};
  out.line = EdgeLine(name, id, from, to, value);
  return out;
}

Oracle::Ticket World::Intend(const Row& row, int slot, bool streamed) {
  const Oracle::Ticket ticket = oracle.Intend(row.key, row.value, row.ends);
  OG_CHECK(ticket == sent_.size());
  sent_.push_back(Sent{row, ticket, streamed});
  open_[slot].insert(ticket);
  slot_of_[ticket] = slot;
  return ticket;
}

void World::Settle(Oracle::Ticket ticket, Outcome outcome) {
  const auto slot = slot_of_.find(ticket);
  if (slot == slot_of_.end()) {
    return;  // settled already: the process was taken for dead
  }
  open_[slot->second].erase(ticket);
  slot_of_.erase(slot);
  const Sent& sent = sent_[ticket];
  if (outcome == Outcome::kUnknown && sent.streamed && late_effects) {
    oracle.SettleAsLate(ticket);
  } else {
    oracle.Settle(ticket, outcome);
  }
  if (outcome == Outcome::kAcked && sent.streamed) {
    ++acked_[sent.row.type];
    --rows_left;
  }
  ++events[outcome == Outcome::kAcked     ? "rows acked"
           : outcome == Outcome::kRefused ? "rows refused"
                                          : "rows unknown"];
}

void World::Died(int slot) {
  const std::set<size_t> open = open_[slot];
  for (const size_t ticket : open) {
    Settle(ticket, Outcome::kUnknown);
  }
}

void World::NoteReceipt(int type, uint64_t epoch, uint64_t position) {
  std::map<uint64_t, uint64_t>& log = epochs_[type];
  const auto [at, fresh] = log.try_emplace(position, epoch);
  const bool below = at != log.begin() && std::prev(at)->second > epoch;
  const bool above = std::next(at) != log.end() && std::next(at)->second < epoch;
  if (at->second != epoch || below || above) {
    Problem(
        fmt::format("G7: `{}` was acked at position {} in epoch {}, against the order of the "
                    "epochs around it",
                    kTypes[type], position, epoch));
  }
}

void World::Problem(std::string text) {
  constexpr size_t kMost = 20;
  if (problems.size() < kMost) {
    problems.push_back(fmt::format("[{} ms] {}", sim.Now() / std::chrono::milliseconds(1), text));
  }
}

uint64_t World::last_position(int type) const {
  const auto log = epochs_.find(type);
  return log == epochs_.end() || log->second.empty() ? 0 : log->second.rbegin()->first;
}

void World::CheckStatus(std::string_view doing, const Status& status) {
  if (status.ok()) {
    return;
  }
  ++events[fmt::format("{}: {}", doing, CodeOf(status))];
  if (torn_allowed && CodeOf(status) == "memwal.entry_torn") {
    return;
  }
  const ErrorKind kind = KindOf(status);
  if (kind == ErrorKind::kCorruption || kind == ErrorKind::kInternal) {
    Problem(fmt::format("{}: {}", doing, status.ToString()));
  }
}

uint64_t World::unknown(int type) const {
  // Every row that was sent and neither acked nor surely refused may have come to stand.
  return static_cast<uint64_t>(std::count_if(sent_.begin(), sent_.end(), [&](const Sent& sent) {
    return sent.streamed && sent.row.type == type &&
           oracle.OutcomeOf(sent.ticket) == Outcome::kUnknown;
  }));
}

namespace {

/// One type's rows of a snapshot, as columns of text.
struct TypeRows {
  std::vector<std::string> ids;
  std::vector<std::string> values;
  std::vector<std::string> sources;
  std::vector<std::string> targets;
  std::vector<std::string> emails;
};

Result<TypeRows> ReadRows(graph::Graph& graph, const graph::TableState& state) {
  OG_ASSIGN_OR_RETURN(const auto table, graph.OpenTable(state));
  OG_ASSIGN_OR_RETURN(const auto reader, table->Scan());
  TypeRows out;
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      return out;
    }
    const auto texts = [&batch](const char* column, std::vector<std::string>* to) {
      const auto array = batch->GetColumnByName(column);
      for (int64_t row = 0; array != nullptr && row < array->length(); ++row) {
        to->push_back(array->IsNull(row)
                          ? ""
                          : static_cast<const arrow::StringArray&>(*array).GetString(row));
      }
    };
    texts("id", &out.ids);
    texts("src", &out.sources);
    texts("dst", &out.targets);
    texts("email", &out.emails);
    const auto& values = static_cast<const arrow::Int32Array&>(*batch->GetColumnByName("v"));
    for (int64_t row = 0; row < values.length(); ++row) {
      out.values.push_back(std::to_string(values.Value(row)));
    }
  }
}

/// What the oracle calls a row: minted ids by their value.
std::string KeyOf(const World& world, std::string_view type, std::string_view id,
                  const std::string& value) {
  const std::string minted = fmt::format("{}/#{}", type, value);
  return world.oracle.Knows(minted) ? minted : fmt::format("{}/{}", type, id);
}

void CheckEdges(std::string_view type, const TypeRows& rows, Picture* out) {
  const std::string target_type = type == "Knows" ? "Person" : "City";
  std::map<std::string, int> per_source;
  for (size_t i = 0; i < rows.ids.size(); ++i) {
    if (!out->ids["Person"].contains(rows.sources[i]) ||
        !out->ids[target_type].contains(rows.targets[i])) {
      out->problems.push_back(fmt::format("G8: {} {} dangles: {} > {}", type, rows.ids[i],
                                          rows.sources[i], rows.targets[i]));
    }
    if (type == "LivesIn" && ++per_source[rows.sources[i]] > 1) {
      out->problems.push_back(fmt::format("G8: {} lives in two cities", rows.sources[i]));
    }
  }
}

}  // namespace

Result<Picture> TakePicture(graph::Graph& graph, const graph::Snapshot& snapshot,
                            const World& world) {
  Picture out;
  for (const std::string_view type : kTypes) {
    const bool edge = type == "Knows" || type == "LivesIn";
    const graph::TableState* state =
        snapshot.FindTable(edge ? graph::TableKind::kEdge : graph::TableKind::kNode, type);
    OG_CHECK(state != nullptr);
    OG_ASSIGN_OR_RETURN(const TypeRows rows, ReadRows(graph, *state));
    std::set<std::string> emails;
    for (size_t i = 0; i < rows.ids.size(); ++i) {
      if (!out.ids[std::string(type)].insert(rows.ids[i]).second) {
        out.problems.push_back(fmt::format("G6: {} {} stands twice", type, rows.ids[i]));
      }
      if (!rows.emails.empty() && !rows.emails[i].empty() &&
          !emails.insert(rows.emails[i]).second) {
        out.problems.push_back(fmt::format("G8: two persons have email {}", rows.emails[i]));
      }
      out.observed.visible[KeyOf(world, type, rows.ids[i], rows.values[i])] = rows.values[i];
    }
    if (edge) {
      CheckEdges(type, rows, &out);
    }
    if (static_cast<uint64_t>(state->rows) != rows.ids.size()) {
      out.problems.push_back(fmt::format("the snapshot says {} rows of {}, {} stand there",
                                         state->rows, type, rows.ids.size()));
    }
  }
  OG_ASSIGN_OR_RETURN(const std::vector<graph::Reject> rejects,
                      graph::ListRejects(graph, snapshot, {.limit = 1'000'000}));
  std::map<std::string, uint64_t> rejected;
  for (const graph::Reject& reject : rejects) {
    const std::string value = ValueIn(reject.row);
    const testing::OracleRow row{KeyOf(world, reject.type, reject.entity_id, value), value};
    out.observed.rejected.push_back(row);
    if (reject.code == graph::kRejectEndpointMissing) {
      out.observed.without_endpoint.insert(row);
    }
    ++rejected[reject.type];
  }
  for (const auto& [id, table] : snapshot.tables) {
    if (table.kind != graph::TableKind::kRejects && table.rejected != rejected[table.name]) {
      out.problems.push_back(fmt::format("G2: {} counts {} rejected rows, {} stand in the rejects",
                                         table.name, table.rejected, rejected[table.name]));
    }
    if (table.acked != table.visible + table.superseded + table.rejected) {
      out.problems.push_back(fmt::format("G2: the counters of {} do not add up", table.name));
    }
  }
  return out;
}

void CheckStatusRows(const graph::IngestStatus& status, const std::vector<uint64_t>& acked_before,
                     int slot, World* world) {
  for (const graph::ShardStatus& shard : status.shards) {
    if (shard.acked != shard.visible + shard.superseded + shard.rejected + shard.pending) {
      world->Problem(fmt::format("G2: acked is not the sum of the ends of `{}`", shard.type));
    }
    for (int type = 0; type < kStreamed; ++type) {
      if (shard.type != kTypes[type] || !shard.last_error.empty() ||
          (shard.owned_here && world->owner[type] != slot)) {
        continue;
      }
      if (shard.acked < acked_before[static_cast<size_t>(type)]) {
        world->Problem(
            fmt::format("G2: a status knows {} acked rows of `{}`, but {} were acked "
                        "before it was asked for (folded {}, tip {}, pending {})",
                        shard.acked, shard.type, acked_before[static_cast<size_t>(type)],
                        shard.folded_position, shard.tip_position, shard.pending));
      }
    }
  }
}

}  // namespace omnigraph::soak
