#include "soak_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "omnigraph/graph/write/load.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"

namespace omnigraph::soak {
namespace {

using graph::AckEvent;
using testing::Outcome;
using Tickets = std::vector<testing::Oracle::Ticket>;

bool EffectUnknown(const Status& status) {
  const ErrorDetail* detail = GetErrorDetail(status);
  return detail == nullptr || detail->effect_unknown();
}

/// One life of a server. Single-owner: the process's main thread, but for acks.
class Server {
 public:
  Server(World& world, const LifePlan& plan, int slot) : world_(world), plan_(plan), slot_(slot) {}

  void Run(const std::shared_ptr<store::ObjectStore>& store) {
    Result<std::shared_ptr<graph::Graph>> graph = graph::Graph::Open(store);
    world_.CheckStatus("open", graph.status());
    if (!graph.ok()) {
      Pause(500);
      return;
    }
    graph_ = *graph;
    auto ingest = graph::StreamIngest::Start(graph_, plan_.ingest);
    world_.CheckStatus("start", ingest.status());
    if (!ingest.ok()) {
      return;
    }
    ingest_ = std::move(*ingest);
    while (!world_.stopping && world_.rows_left > 0 && !leaving_) {
      Act();
      Pause(plan_.pause_ms);
    }
    if (world_.Chance(50)) {
      world_.CheckStatus("stop", ingest_->Stop());
    }  // else the destructor does it
  }

 private:
  void Pause(uint64_t mean_ms) {
    runtime::SleepFor(std::chrono::microseconds(world_.Below(2'000 * mean_ms + 1)));
  }

  void Act() {
    const uint64_t dice = world_.Below(100);
    if (dice < 80) {
      Push();
    } else if (dice < 85) {
      LookAtStatus();
    } else if (dice < 90) {
      LookAtGraph();
    } else if (dice < 94 && plan_.folds) {
      const Result<graph::FoldReport> report = ingest_->Fold();
      world_.CheckStatus("fold", report.status());
    } else if (dice < 98 && plan_.loads) {
      Load();
    } else if (dice == 99 && plan_.leaves && world_.Chance(20)) {
      leaving_ = true;
    }
  }

  /// A type that this server is believed to own; now and then any.
  int ChooseType() {
    for (int tries = 0; tries < 4; ++tries) {
      const int type = static_cast<int>(world_.Below(kStreamed));
      if (world_.owner[type] == slot_ || world_.Chance(8)) {
        return type;
      }
    }
    return -1;
  }

  /// Some rows in one session; each is settled by its ack.
  void Push() {
    Tickets tickets;
    std::string chunk;
    for (uint64_t rows = 1 + world_.Below(5); rows > 0; --rows) {
      if (const int type = ChooseType(); type >= 0) {
        const Row row = world_.MakeRow(type, /*deletes=*/true);
        tickets.push_back(world_.Intend(row, slot_, /*streamed=*/true));
        chunk += row.line;
      }
    }
    if (tickets.empty()) {
      Pause(200);
      return;
    }
    bool fenced = false;
    graph::SessionOptions options;
    options.actor = fmt::format("client{}", slot_);
    options.on_ack = [this, &tickets, &fenced](const AckEvent& event) {
      Acked(event, tickets, &fenced);
    };
    auto session = ingest_->OpenSession(std::move(options));
    world_.CheckStatus("session", session.status());
    if (session.ok()) {
      const size_t half = world_.Chance(30) ? world_.Below(chunk.size()) : chunk.size();
      Status pushed = (*session)->Push(std::string_view(chunk).substr(0, half));
      if (pushed.ok() && half < chunk.size()) {
        pushed = (*session)->Push(std::string_view(chunk).substr(half));
      }
      world_.CheckStatus("push", pushed);
      world_.CheckStatus("finish", (*session)->Finish());
      fenced = fenced || IsFenced(pushed);
      if (!pushed.ok()) {
        ++world_.events["pushes that failed"];
      }
      for (const graph::Refusal& refusal : (*session)->Summary().errors) {
        if (!pushed.ok() && refusal.code == "row.incomplete") {
          continue;  // the rest of the input was not pushed
        }
        world_.Problem(fmt::format("refused: {} {}", refusal.code, refusal.message));
      }
    }
    for (const testing::Oracle::Ticket ticket : tickets) {
      world_.Settle(ticket, Outcome::kRefused);  // those that were never taken
    }
    if (fenced) {
      // The owner is elsewhere, or this process lost a shard and does not claim it back (S9).
      leaving_ = world_.Chance(10);
      Pause(400);
    }
  }

  /// Runs on a thread of a log. What the destructors of a killed process say reaches no client.
  void Acked(const AckEvent& event, const Tickets& tickets, bool* fenced) {
    if (runtime::InKilledProcess()) {
      return;
    }
    const Outcome outcome = event.outcome == AckEvent::Outcome::kAcked     ? Outcome::kAcked
                            : event.outcome == AckEvent::Outcome::kUnknown ? Outcome::kUnknown
                                                                           : Outcome::kRefused;
    world_.CheckStatus("ack", event.status);
    *fenced = *fenced || IsFenced(event.status);
    for (const int64_t line : event.lines) {
      const testing::Oracle::Ticket ticket = tickets[static_cast<size_t>(line - 1)];
      const int type = world_.sent(ticket).row.type;
      world_.Settle(ticket, outcome);
      if (outcome == Outcome::kAcked) {
        world_.NoteReceipt(type, event.epoch, event.position);
        world_.owner[type] = slot_;
      }
    }
  }

  void LookAtStatus() {
    std::vector<uint64_t> before;
    for (int type = 0; type < kStreamed; ++type) {
      before.push_back(world_.acked(type));
    }
    const Result<graph::IngestStatus> status = ingest_->Status();
    world_.CheckStatus("status", status.status());
    if (status.ok()) {
      CheckStatusRows(*status, before, slot_, &world_);
    }
  }

  void LookAtGraph() {
    const Result<graph::SnapshotRef> snapshot = graph_->Refresh();
    world_.CheckStatus("refresh", snapshot.status());
    if (!snapshot.ok()) {
      return;
    }
    const Result<Picture> picture = TakePicture(*graph_, **snapshot, world_);
    world_.CheckStatus("read", picture.status());
    if (picture.ok()) {
      ++world_.events["snapshots read"];
      for (const std::string& problem : picture->problems) {
        world_.Problem(fmt::format("snapshot {}: {}", (*snapshot)->sequence, problem));
      }
    }
  }

  /// G12: what was acked before is folded first; then one commit of rows by load.
  void Load() {
    Tickets tickets;
    std::string text;
    std::set<std::string> keys;
    const uint64_t kinds = world_.Chance(60) ? 2 : kStreamed;  // edges may find no endpoint
    for (uint64_t rows = 2 + world_.Below(5); rows > 0; --rows) {
      const Row row = world_.MakeRow(static_cast<int>(world_.Below(kinds)), /*deletes=*/false);
      if (keys.insert(row.key).second) {
        tickets.push_back(world_.Intend(row, slot_, /*streamed=*/false));
        text += row.line;
      }
    }
    const std::string note = fmt::format("load{}", tickets.front());
    Row mark;
    mark.type = kStreamed;
    mark.key = "Note/" + note;
    mark.value = std::to_string(tickets.front());
    mark.line =
        fmt::format(R"({{"type":"Note","data":{{"name":"{}","v":{}}}}})", note, tickets.front());
    tickets.push_back(world_.Intend(mark, slot_, /*streamed=*/false));
    text += mark.line + "\n";
    world_.doubtful_loads[note] = tickets;
    const Outcome outcome = FoldAndLoad(text);
    for (const testing::Oracle::Ticket ticket : tickets) {
      world_.Settle(ticket, outcome);
    }
    if (outcome != Outcome::kUnknown) {
      world_.doubtful_loads.erase(note);
    }
  }

  Outcome FoldAndLoad(const std::string& text) {
    const Result<graph::FoldReport> folded = ingest_->Fold();
    world_.CheckStatus("fold", folded.status());
    if (!folded.ok()) {
      return Outcome::kRefused;
    }
    write::TextSource source(text);
    write::LoadOptions options;
    options.mode = world_.Chance(85) ? write::LoadMode::kMerge : write::LoadMode::kAppend;
    options.actor = fmt::format("loader{}", slot_);
    const Result<write::LoadReport> report = write::Load(graph_.get(), &source, options);
    world_.CheckStatus("load", report.status());
    if (!report.ok()) {
      return EffectUnknown(report.status()) ? Outcome::kUnknown : Outcome::kRefused;
    }
    ++world_.events[report->errors.empty() ? "loads" : "loads refused"];
    return report->errors.empty() ? Outcome::kAcked : Outcome::kRefused;
  }

  World& world_;
  const LifePlan& plan_;
  const int slot_;
  bool leaving_ = false;
  std::shared_ptr<graph::Graph> graph_;
  std::unique_ptr<graph::StreamIngest> ingest_;  ///< last: its threads use the graph
};

}  // namespace

void RunServer(World& world, const LifePlan& plan, int slot,
               const std::shared_ptr<store::ObjectStore>& store) {
  Server(world, plan, slot).Run(store);
}

void RunFolder(World& world, const LifePlan& plan,
               const std::shared_ptr<store::ObjectStore>& store) {
  while (!world.stopping && world.rows_left > 0) {
    const auto graph = graph::Graph::Open(store);
    world.CheckStatus("open", graph.status());
    if (graph.ok()) {
      const auto report = graph::FoldFromLog(**graph, plan.ingest);
      world.CheckStatus("fold from log", report.status());
      const std::vector<uint64_t> before = {world.acked(0), world.acked(1), world.acked(2),
                                            world.acked(3)};
      const auto status = graph::StatusFromLog(**graph);
      world.CheckStatus("status from log", status.status());
      if (status.ok()) {
        CheckStatusRows(*status, before, -1, &world);
      }
    }
    runtime::SleepFor(std::chrono::milliseconds(30 + world.Below(200)));
  }
}

}  // namespace omnigraph::soak
