#include "omnigraph/engine/json.h"

#include <fmt/core.h>

#include <boost/json.hpp>
#include <cmath>

namespace omnigraph::engine {
namespace json = boost::json;
namespace {

constexpr uint64_t kExactInDouble = 1ull << 53;

/// Numbers that JavaScript cannot hold exactly travel as strings.
json::value Number(uint64_t value) {
  if (value > kExactInDouble) {
    return json::value(std::to_string(value));
  }
  return json::value(static_cast<int64_t>(value));
}

double Rounded(double value, double unit) {
  return std::round(value / unit) * unit;
}

void PutText(json::object* out, std::string_view name, const std::string& value) {
  if (!value.empty()) {
    (*out)[name] = value;
  }
}

void AppendText(const json::value& value, std::string* out) {
  if (value.is_object()) {
    char before = '{';
    for (const auto& [name, member] : value.as_object()) {
      *out += before + json::serialize(json::string(name)) + ":";
      AppendText(member, out);
      before = ',';
    }
    *out += before == '{' ? "{}" : "}";
  } else if (value.is_array()) {
    char before = '[';
    for (const json::value& item : value.as_array()) {
      *out += before;
      AppendText(item, out);
      before = ',';
    }
    *out += before == '[' ? "[]" : "]";
  } else if (value.is_double() && std::isfinite(value.as_double())) {
    *out += fmt::format("{}", value.as_double());
  } else {
    *out += json::serialize(value);
  }
}

const char* RetryName(Retry retry) {
  switch (retry) {
    case Retry::kNever:
      return "never";
    case Retry::kSameRequest:
      return "same_request";
    case Retry::kAfterRefresh:
      return "after_refresh";
  }
  return "never";
}

json::object ToJson(const graph::Refusal& refusal) {
  json::object out;
  out["line"] = refusal.line;
  if (refusal.column > 0) {
    out["column"] = refusal.column;
  }
  PutText(&out, "property", refusal.property);
  out["code"] = refusal.code;
  out["message"] = refusal.message;
  return out;
}

json::object ToJson(const graph::ShardStatus& shard) {
  json::object out;
  out["kind"] = shard.kind;
  out["type"] = shard.type;
  out["shard"] = shard.shard.ToString();
  PutText(&out, "owner", shard.owner);
  PutText(&out, "address", shard.address);
  out["owned_here"] = shard.owned_here;
  out["epoch"] = shard.epoch;
  out["folded_position"] = shard.folded_position;
  out["tip_position"] = shard.tip_position;
  out["replay_after"] = shard.replay_after;
  out["acked"] = shard.acked;
  out["visible"] = shard.visible;
  out["superseded"] = shard.superseded;
  out["rejected"] = shard.rejected;
  out["pending"] = shard.pending;
  out["pending_bytes"] = shard.pending_bytes;
  out["oldest_pending_s"] = Rounded(shard.oldest_pending_s, 0.001);
  out["paused"] = shard.paused;
  PutText(&out, "last_error", shard.last_error);
  return out;
}

const char* LoadModeName(write::LoadMode mode) {
  switch (mode) {
    case write::LoadMode::kAppend:
      return "append";
    case write::LoadMode::kMerge:
      return "merge";
    case write::LoadMode::kOverwrite:
      return "overwrite";
  }
  return "append";
}

}  // namespace

json::object CountsToJson(const std::map<std::string, int64_t>& counts) {
  json::object out;
  for (const auto& [name, count] : counts) {
    out[name] = count;
  }
  return out;
}

void TakeEnds(const graph::StreamIngest& ingest, const graph::IngestCounts& before,
              IngestOutcome* outcome) {
  const graph::IngestCounts after = ingest.Counts();
  outcome->pending = after.pending;
  uint64_t folded = 0;
  for (graph::FoldReport& report : ingest.ReportsAfter(before.sequence)) {
    if (report.sequence <= after.sequence) {
      folded += static_cast<uint64_t>(report.rows);
      outcome->folds.push_back(std::move(report));
    }
  }
  const uint64_t acked = static_cast<uint64_t>(outcome->session.acked);
  outcome->ends_known =
      before.pending == 0 && after.acked - before.acked == acked && folded + after.pending == acked;
}

json::object ToJson(const IngestOutcome& outcome) {
  const graph::SessionSummary& session = outcome.session;
  std::map<std::string, int64_t> rejected;
  json::array commit_ids;
  int64_t visible = 0;
  int64_t superseded = 0;
  double fold_s = 0;
  for (const graph::FoldReport& fold : outcome.folds) {
    fold_s += fold.seconds;
    if (!fold.commit_id.empty()) {
      commit_ids.emplace_back(fold.commit_id);
    }
    visible += fold.visible;
    superseded += fold.superseded;
    for (const auto& [code, count] : fold.rejected_by_code) {
      rejected[code] += count;
    }
  }
  json::array errors;
  for (const graph::Refusal& refusal : session.errors) {
    errors.emplace_back(ToJson(refusal));
  }
  json::object out;
  out["branch"] = outcome.branch;
  out["lines"] = session.lines;
  out["blank"] = session.blank;
  out["acked"] = session.acked;
  out["refused"] = session.refused;
  out["failed"] = session.failed;
  out["unknown"] = session.unknown;
  out["refused_by_code"] = CountsToJson(session.refused_by_code);
  out["errors"] = std::move(errors);
  out["pending"] = outcome.pending;
  out["waiting"] = 0;
  if (outcome.ends_known) {
    out["visible"] = visible;
    out["superseded"] = superseded;
    out["rejected_by_code"] = CountsToJson(rejected);
  }
  out["folds"] = commit_ids.size();
  out["commit_ids"] = std::move(commit_ids);
  out["fold_s"] = Rounded(fold_s, 0.001);
  out["ack_ms"] = json::object{{"p50", Rounded(session.ack_p50_ms, 0.001)},
                               {"p99", Rounded(session.ack_p99_ms, 0.001)}};
  out["elapsed_s"] = Rounded(outcome.elapsed_s, 0.001);
  if (!outcome.fold_error.ok()) {
    out["fold_error"] = ErrorToJson(outcome.fold_error);
  }
  return out;
}

json::object ToJson(const graph::FoldReport& report) {
  json::object out;
  if (!report.commit_id.empty()) {
    out["commit_id"] = report.commit_id;
    out["sequence"] = report.sequence;
  }
  out["rows"] = report.rows;
  out["visible"] = report.visible;
  out["superseded"] = report.superseded;
  out["rejected"] = report.rejected;
  out["rejected_by_code"] = CountsToJson(report.rejected_by_code);
  out["cascaded_edges"] = report.cascaded_edges;
  out["elapsed_s"] = Rounded(report.seconds, 0.001);
  return out;
}

json::object ToJson(const graph::IngestStatus& status) {
  json::object out;
  out["graph_id"] = status.graph_id;
  out["branch"] = status.branch;
  out["sequence"] = status.sequence;
  uint64_t acked = 0;
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;
  uint64_t pending = 0;
  json::array shards;
  for (const graph::ShardStatus& shard : status.shards) {
    acked += shard.acked;
    visible += shard.visible;
    superseded += shard.superseded;
    rejected += shard.rejected;
    pending += shard.pending;
    shards.emplace_back(ToJson(shard));
  }
  out["acked"] = acked;
  out["visible"] = visible;
  out["superseded"] = superseded;
  out["rejected"] = rejected;
  out["pending"] = pending;
  out["shards"] = std::move(shards);
  out["folds"] = status.folds;
  PutText(&out, "last_commit_id", status.last_commit_id);
  out["last_fold_s"] = Rounded(status.last_fold_s, 0.001);
  PutText(&out, "last_fold_error", status.last_fold_error);
  out["open_rejects_by_code"] = CountsToJson(status.open_rejects_by_code);
  json::array notes;
  for (const std::string& note : status.notes) {
    notes.emplace_back(note);
  }
  out["notes"] = std::move(notes);
  return out;
}

json::object ToJson(const graph::Reject& reject) {
  json::object out;
  out["id"] = reject.id;
  out["state"] = reject.state;
  out["acked_at"] = reject.acked_at.count();
  out["rejected_at"] = reject.rejected_at.count();
  out["branch"] = reject.branch;
  out["kind"] = reject.kind;
  out["type"] = reject.type;
  PutText(&out, "entity_id", reject.entity_id);
  out["row"] = reject.row;
  out["code"] = reject.code;
  out["message"] = reject.message;
  PutText(&out, "actor", reject.actor);
  out["shard"] = reject.shard.ToString();
  out["epoch"] = reject.epoch;
  out["position"] = reject.position;
  out["commit_id"] = reject.commit_id;
  return out;
}

json::object ToJson(const graph::CommitRecord& commit) {
  json::object out;
  out["graph_commit_id"] = commit.id;
  if (!commit.parents.empty()) {
    out["parent_commit_id"] = commit.parents.front();
  }
  if (commit.parents.size() > 1) {
    out["merged_parent_commit_id"] = commit.parents[1];
  }
  out["created_at"] = commit.time.count();
  PutText(&out, "actor_id", commit.actor);
  out["op"] = graph::CommitOpName(commit.op);
  PutText(&out, "message", commit.message);
  json::array tables;
  for (const graph::TableEffect& effect : commit.tables) {
    json::object table;
    table["type"] = effect.type;
    table["from_version"] = Number(effect.from_version);
    table["to_version"] = Number(effect.to_version);
    table["inserted"] = effect.inserted;
    table["updated"] = effect.updated;
    table["deleted"] = effect.deleted;
    tables.emplace_back(std::move(table));
  }
  out["tables"] = std::move(tables);
  return out;
}

json::object ToJson(const TableInfo& table) {
  json::object out;
  out["kind"] = table.kind;
  PutText(&out, "type", table.type);
  out["path"] = table.path;
  out["rows"] = table.rows;
  out["version"] = Number(table.version);
  out["streamed"] = table.streamed;
  return out;
}

json::object ToJson(const write::LoadReport& report, write::LoadMode mode) {
  json::array nodes;
  json::array edges;
  for (const write::LoadCounts& counts : report.types) {
    json::object type;
    type["name"] = counts.type;
    type["entities_loaded"] = counts.inserted + counts.updated;
    type["inserted"] = counts.inserted;
    type["updated"] = counts.updated;
    type["deleted"] = counts.deleted;
    (counts.kind == "node" ? nodes : edges).emplace_back(std::move(type));
  }
  json::array errors;
  for (const write::LineError& error : report.errors) {
    json::object line;
    line["line"] = error.line;
    if (error.column > 0) {
      line["column"] = error.column;
    }
    PutText(&line, "type", error.type);
    PutText(&line, "property", error.property);
    line["code"] = error.code;
    line["message"] = error.message;
    errors.emplace_back(std::move(line));
  }
  json::object out;
  out["branch"] = "main";
  out["branch_created"] = false;
  out["mode"] = LoadModeName(mode);
  out["lines"] = report.lines;
  out["blank"] = report.blank;
  out["nodes"] = std::move(nodes);
  out["edges"] = std::move(edges);
  out["total_entities"] = report.rows;
  out["error_count"] = report.error_count;
  out["errors"] = std::move(errors);
  if (!report.commit_id.empty()) {
    out["commit_id"] = report.commit_id;
  }
  return out;
}

json::object ErrorToJson(const Status& status) {
  const ErrorKindFacts& facts = ErrorKindInfo(KindOf(status));
  json::object out;
  out["error"] = status.message();
  out["code"] = CodeOf(status).empty() ? std::string(facts.name) : CodeOf(status);
  out["kind"] = facts.name;
  out["retry"] = RetryName(facts.retry);
  const ErrorDetail* detail = GetErrorDetail(status);
  if (detail == nullptr) {
    return out;
  }
  if (detail->effect_unknown()) {
    out["effect"] = "unknown";
  }
  json::object place;
  PutText(&place, "object", detail->place().object);
  if (detail->place().line > 0) {
    place["line"] = detail->place().line;
  }
  if (detail->place().column > 0) {
    place["column"] = detail->place().column;
  }
  PutText(&place, "property", detail->place().property);
  PutText(&place, "key", detail->place().key);
  if (!place.empty()) {
    out["place"] = std::move(place);
  }
  return out;
}

std::string Serialize(const json::value& value) {
  std::string out;
  AppendText(value, &out);
  return out;
}

std::string PlacePrefix(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  if (detail == nullptr) {
    return {};
  }
  std::string prefix = detail->place().object;
  if (detail->place().line > 0) {
    prefix += (prefix.empty() ? "line " : ":") + std::to_string(detail->place().line);
    if (detail->place().column > 0) {
      prefix += ":" + std::to_string(detail->place().column);
    }
  }
  return prefix.empty() ? prefix : prefix + ": ";
}

}  // namespace omnigraph::engine
