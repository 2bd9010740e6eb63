#include "render.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "progress.h"

namespace omnigraph::cli {
namespace json = boost::json;
namespace {

int64_t Int(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? 0 : value->to_number<int64_t>();
}

double Real(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value == nullptr ? 0 : value->to_number<double>();
}

std::string Text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) {
    return {};
  }
  return value->is_string() ? std::string(value->as_string()) : json::serialize(*value);
}

const json::object& Object(const json::object& object, std::string_view name) {
  static const json::object empty;
  const json::value* value = object.if_contains(name);
  return value == nullptr ? empty : value->as_object();
}

std::string CountsLine(const json::object& counts) {
  std::string line;
  for (const auto& [name, count] : counts) {
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", std::string(name),
                        WithThousands(count.to_number<int64_t>()));
  }
  return line;
}

int64_t Sum(const json::object& counts) {
  int64_t sum = 0;
  for (const auto& [name, count] : counts) {
    sum += count.to_number<int64_t>();
  }
  return sum;
}

std::string CountRow(std::string_view label, int64_t count, const std::string& note) {
  std::string row = fmt::format("  {:<10} {:>12}", label, WithThousands(count));
  if (!note.empty()) {
    row += "   " + note;
  }
  return row + "\n";
}

std::string TimeOf(int64_t unix_us) {
  const std::chrono::sys_time<std::chrono::microseconds> time{std::chrono::microseconds(unix_us)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::milliseconds>(time - day));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string RenderErrors(const json::object& outcome, int64_t total) {
  const json::value* errors = outcome.if_contains("errors");
  if (errors == nullptr || errors->as_array().empty()) {
    return {};
  }
  constexpr size_t kShown = 10;
  std::string text;
  size_t shown = 0;
  for (const json::value& error : errors->as_array()) {
    if (shown++ == kShown) {
      break;
    }
    const json::object& line = error.as_object();
    text += fmt::format("  line {}", Int(line, "line"));
    if (Int(line, "column") > 0) {
      text += fmt::format(" column {}", Int(line, "column"));
    }
    text += fmt::format(": {} [{}]\n", Text(line, "message"), Text(line, "code"));
  }
  if (total > static_cast<int64_t>(kShown)) {
    text += fmt::format("  ... {} more; --json lists the first 100\n",
                        WithThousands(total - static_cast<int64_t>(kShown)));
  }
  return text;
}

bool IsNumber(const std::string& cell) {
  return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == ',' || c == '.' || c == '-';
  });
}

/// Columns of text that is UTF-8: code points, which is right for what these tables hold.
size_t WidthOf(const std::string& cell) {
  return static_cast<size_t>(std::count_if(
      cell.begin(), cell.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) {
  rows_.push_back(std::move(header));
}

void TextTable::Add(std::vector<std::string> row) {
  rows_.push_back(std::move(row));
}

std::string TextTable::ToString() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, rows_.size() > 1);
  for (size_t r = 0; r < rows_.size(); ++r) {
    for (size_t c = 0; c < columns; ++c) {
      widths[c] = std::max(widths[c], WidthOf(rows_[r][c]));
      numeric[c] = numeric[c] && (r == 0 || IsNumber(rows_[r][c]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t c = 0; c < columns; ++c) {
      const std::string padding(widths[c] - WidthOf(row[c]), ' ');
      line += (c == 0 ? "" : "  ") + (numeric[c] ? padding + row[c] : row[c] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string RenderIngest(const json::object& outcome) {
  const int64_t lines = Int(outcome, "lines");
  const double seconds = Real(outcome, "elapsed_s");
  const json::object& ack = Object(outcome, "ack_ms");
  std::string text = fmt::format("{} lines in {:.2f} s", WithThousands(lines), seconds);
  if (seconds > 0 && Int(outcome, "acked") > 0) {
    text += fmt::format(
        " ({} rows/s)",
        WithThousands(static_cast<int64_t>(static_cast<double>(Int(outcome, "acked")) / seconds)));
  }
  text += "\n";
  text += CountRow("acked", Int(outcome, "acked"),
                   Int(outcome, "acked") == 0 ? std::string()
                                              : fmt::format("p50 {:.2f} ms, p99 {:.2f} ms",
                                                            Real(ack, "p50"), Real(ack, "p99")));
  text +=
      CountRow("refused", Int(outcome, "refused"), CountsLine(Object(outcome, "refused_by_code")));
  text += RenderErrors(outcome, Int(outcome, "refused"));
  if (Int(outcome, "failed") > 0) {
    text += CountRow("failed", Int(outcome, "failed"), "not in the log; send them again");
  }
  if (Int(outcome, "unknown") > 0) {
    text += CountRow("unknown", Int(outcome, "unknown"),
                     "the store did not say whether they are in the log");
  }
  // A server leaves out what it cannot tell of one stream among several.
  if (outcome.contains("visible")) {
    text += CountRow("visible", Int(outcome, "visible"), {});
  }
  if (Int(outcome, "superseded") > 0) {
    text += CountRow("superseded", Int(outcome, "superseded"), "a later row of the same key won");
  }
  if (outcome.contains("rejected_by_code")) {
    const json::object& rejected = Object(outcome, "rejected_by_code");
    text += CountRow("rejected", Sum(rejected), CountsLine(rejected));
  }
  text += CountRow("pending", Int(outcome, "pending"), {});
  std::string commits;
  const json::value* ids = outcome.if_contains("commit_ids");
  if (ids != nullptr) {
    constexpr size_t kShown = 8;
    const json::array& all = ids->as_array();
    for (size_t i = 0; i < all.size() && i < kShown; ++i) {
      commits += (i == 0 ? "" : " ") + std::string(all[i].as_string());
    }
    if (all.size() > kShown) {
      commits += fmt::format(" ... {} more", all.size() - kShown);
    }
  }
  text += CountRow("folds", Int(outcome, "folds"), commits);
  return text;
}

std::string RenderFold(const json::object& report) {
  if (Text(report, "commit_id").empty()) {
    return "Nothing was pending.\n";
  }
  std::string text =
      fmt::format("Folded {} rows into commit {}: {} visible, {} superseded, {} rejected",
                  WithThousands(Int(report, "rows")), Text(report, "commit_id"),
                  WithThousands(Int(report, "visible")), WithThousands(Int(report, "superseded")),
                  WithThousands(Int(report, "rejected")));
  const std::string reasons = CountsLine(Object(report, "rejected_by_code"));
  if (!reasons.empty()) {
    text += " (" + reasons + ")";
  }
  return text + "\n";
}

std::string RenderStatus(const json::object& status) {
  std::string text = fmt::format("graph {} branch {} sequence {}\n", Text(status, "graph_id"),
                                 Text(status, "branch"), Text(status, "sequence"));
  text +=
      fmt::format("acked {} = visible {} + superseded {} + rejected {} + pending {}\n",
                  WithThousands(Int(status, "acked")), WithThousands(Int(status, "visible")),
                  WithThousands(Int(status, "superseded")), WithThousands(Int(status, "rejected")),
                  WithThousands(Int(status, "pending")));
  const json::array& shards = status.at("shards").as_array();
  if (shards.empty()) {
    text += "No type has been streamed to yet.\n";
  } else {
    TextTable table({"type", "acked", "visible", "superseded", "rejected", "pending", "lag s",
                     "epoch", "folded", "tip", "owner"});
    for (const json::value& value : shards) {
      const json::object& shard = value.as_object();
      const std::string address = Text(shard, "address");
      std::string owner = Text(shard, "owner").empty() ? "nobody"
                          : address.empty()            ? Text(shard, "owner")
                                                       : address;
      if (value.at("paused").as_bool()) {
        owner += " (paused)";
      }
      table.Add({Text(shard, "type"), WithThousands(Int(shard, "acked")),
                 WithThousands(Int(shard, "visible")), WithThousands(Int(shard, "superseded")),
                 WithThousands(Int(shard, "rejected")), WithThousands(Int(shard, "pending")),
                 fmt::format("{:.1f}", Real(shard, "oldest_pending_s")), Text(shard, "epoch"),
                 Text(shard, "folded_position"), Text(shard, "tip_position"), owner});
    }
    text += table.ToString();
  }
  const std::string rejects = CountsLine(Object(status, "open_rejects_by_code"));
  if (!rejects.empty()) {
    text += "open rejects: " + rejects + "\n";
  }
  if (!Text(status, "last_fold_error").empty()) {
    text += "last fold failed: " + Text(status, "last_fold_error") + "\n";
  }
  for (const json::value& note : status.at("notes").as_array()) {
    text += "note: " + std::string(note.as_string()) + "\n";
  }
  return text;
}

std::string RenderLoad(const json::object& report) {
  const int64_t errors = Int(report, "error_count");
  if (errors > 0) {
    return fmt::format("Nothing was loaded: {} of {} lines have errors.\n", WithThousands(errors),
                       WithThousands(Int(report, "lines"))) +
           RenderErrors(report, errors);
  }
  TextTable table({"type", "inserted", "updated", "deleted"});
  for (const std::string_view kind : {"nodes", "edges"}) {
    for (const json::value& value : report.at(kind).as_array()) {
      const json::object& type = value.as_object();
      table.Add({Text(type, "name"), WithThousands(Int(type, "inserted")),
                 WithThousands(Int(type, "updated")), WithThousands(Int(type, "deleted"))});
    }
  }
  return fmt::format("Loaded {} rows as commit {}\n", WithThousands(Int(report, "total_entities")),
                     Text(report, "commit_id")) +
         table.ToString();
}

std::string RenderRejects(const json::array& rejects) {
  if (rejects.empty()) {
    return "No rejected rows.\n";
  }
  std::string text;
  for (const json::value& value : rejects) {
    const json::object& reject = value.as_object();
    text += fmt::format("{}  {}  {} [{}]\n    {}\n", Text(reject, "id"),
                        TimeOf(Int(reject, "rejected_at")), Text(reject, "message"),
                        Text(reject, "code"), Text(reject, "row"));
  }
  return text;
}

std::string RenderCounts(const json::object& counts) {
  if (counts.empty()) {
    return "No rejected rows.\n";
  }
  TextTable table({"reason", "rows"});
  for (const auto& [code, count] : counts) {
    table.Add({std::string(code), WithThousands(count.to_number<int64_t>())});
  }
  return table.ToString();
}

std::string RenderCommits(const json::array& commits) {
  TextTable table({"commit", "time", "op", "actor", "inserted", "updated", "deleted", "message"});
  for (const json::value& value : commits) {
    const json::object& commit = value.as_object();
    int64_t inserted = 0;
    int64_t updated = 0;
    int64_t deleted = 0;
    for (const json::value& effect : commit.at("tables").as_array()) {
      inserted += Int(effect.as_object(), "inserted");
      updated += Int(effect.as_object(), "updated");
      deleted += Int(effect.as_object(), "deleted");
    }
    table.Add({Text(commit, "graph_commit_id"), TimeOf(Int(commit, "created_at")),
               Text(commit, "op"), Text(commit, "actor_id"), WithThousands(inserted),
               WithThousands(updated), WithThousands(deleted), Text(commit, "message")});
  }
  return table.ToString();
}

std::string RenderTables(const json::array& tables) {
  TextTable table({"type", "kind", "rows", "streamed", "folder"});
  for (const json::value& value : tables) {
    const json::object& entry = value.as_object();
    table.Add({Text(entry, "type").empty() ? "-" : Text(entry, "type"), Text(entry, "kind"),
               WithThousands(Int(entry, "rows")), value.at("streamed").as_bool() ? "yes" : "no",
               Text(entry, "path")});
  }
  return table.ToString();
}

}  // namespace omnigraph::cli
