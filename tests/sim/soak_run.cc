#include "soak_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "omnigraph/base/hash.h"
#include "omnigraph/graph/manifest/sweeper.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/local_store.h"
#include "omnigraph/store/memory_store.h"
#include "soak_life.h"
#include "soak_world.h"

namespace omnigraph::soak {
namespace {

using runtime::SimProcess;
using runtime::Simulator;
using store::SimulatedDisk;
using namespace std::chrono_literals;

constexpr int kServers = 2;
constexpr uint64_t kMillion = 1'000'000;

/// What one seed may do to the system. Each seed switches some of it off: a fault that is always
/// there hides the others.
struct Plan {
  bool on_disk = true;
  bool two_hosts = false;
  bool kills = false;
  bool fail_points = false;
  bool power_cuts = false;
  bool sync_failures = false;
  bool stalls = false;      ///< a host's store calls take so long that it is taken for dead
  bool partitions = false;  ///< a host does not reach its store
  bool folder = false;
  bool long_downs = false;  ///< a dead process stays away until the other has taken over
  uint64_t nemesis_ms = 100;
  store::FaultPlan faults;
  RowMix mix;
  LifePlan life;
};

/// The machine room of one run. Single-owner: the test's own process.
class Room {
 public:
  Room(Simulator& sim, const SoakOptions& options)
      : sim_(sim), options_(options), plan_(Draw()), world_(sim, plan_.mix) {
    world_.rows_left = options.rows > 0 ? options.rows : 40 + static_cast<int64_t>(Below(160));
    // A power cut after a put that failed in its last sync (any disk), or in the middle of an
    // ordered put (without a journal), may leave a last entry that is not whole and was not acked.
    world_.torn_allowed =
        plan_.on_disk && (plan_.sync_failures || options.model == store::DiskModel::kNoJournal);
    world_.late_effects = !plan_.on_disk;
    harms_left_ = 3 + static_cast<int>(Below(30));
    if (plan_.on_disk) {
      store::SimulatedDiskOptions disk;
      disk.model = options.model;
      disk.sync_time = std::chrono::microseconds(20 + Below(400));
      disk.unnamed_files = !world_.Chance(10);
      disk_ = std::make_shared<SimulatedDisk>(disk);
      sim.AddDigest("disk", [disk = disk_] {
        std::string all;
        for (const auto& [path, bytes] : disk->Image()) {
          all += path + "=" + bytes + ";";
        }
        return XxHash64(all);
      });
    } else {
      memory_ = std::make_shared<store::MemoryStore>();
      for (int host = 0; host < (plan_.two_hosts ? 2 : 1); ++host) {
        store::FaultPlan faults = plan_.faults;
        faults.seed += static_cast<uint64_t>(host);
        links_.push_back(std::make_shared<store::FaultyStore>(memory_, faults));
      }
      sim.AddDigest("memory", [memory = memory_] { return DigestOf(*memory); });
    }
  }

  /// The whole run; the problems are in the world.
  void Run() {
    const auto created = graph::Graph::Init(CleanStore(), kSchema, "test");
    world_.CheckStatus("init", created.status());
    if (!created.ok()) {
      return world_.Problem("init failed: " + created.status().ToString());
    }
    for (int i = 0; i < kServers + (plan_.folder ? 1 : 0); ++i) {
      slots_.push_back(Slot{.down_until = runtime::MonotonicNow()});
    }
    const runtime::Duration give_up = runtime::MonotonicNow() + 10min;
    while (world_.rows_left > 0 && runtime::MonotonicNow() < give_up) {
      Revive();
      runtime::SleepFor(std::chrono::microseconds(Below(2'000 * plan_.nemesis_ms + 1)));
      Harm();
    }
    if (world_.rows_left > 0) {
      ++world_.events["ran out of time"];
    }
    Heal();
    Judge();
    for (const auto& [name, hits] : sim_.FailPointHits()) {
      world_.events["fail point " + name] += hits;
    }
  }

  World& world() { return world_; }

 private:
  struct Slot {
    SimProcess process;
    bool started = false;
    runtime::Duration down_until{};
  };

  static uint64_t DigestOf(store::ObjectStore& memory) {
    std::string all;
    const auto objects = store::ListAll(memory, "");
    for (const store::ObjectInfo& object : *objects) {
      all += object.path + "=" + (*memory.Get(object.path))->ToString() + ";";
    }
    return XxHash64(all);
  }

  uint64_t Below(uint64_t bound) { return sim_.NextRandomBelow(bound); }
  bool Chance(uint64_t percent) { return Below(100) < percent; }

  Plan Draw() {
    Plan out;
    out.on_disk = options_.place == SoakOptions::Place::kAny
                      ? Chance(50)
                      : options_.place == SoakOptions::Place::kDisk;
    out.two_hosts = !out.on_disk && Chance(75);
    out.kills = Chance(60);
    out.fail_points = Chance(60);
    out.power_cuts = Chance(50);
    out.sync_failures = out.on_disk && Chance(20);
    out.stalls = !out.on_disk && Chance(35);
    out.partitions = !out.on_disk && Chance(25);
    out.folder = Chance(35);
    out.long_downs = Chance(30);
    const uint64_t paces[] = {30, 150, 1'500};
    out.nemesis_ms = paces[Below(3)];
    if (!out.on_disk) {
      DrawFaults(&out.faults);
    }
    out.mix.delete_cities = Chance(70);
    out.mix.delete_persons = Chance(50);
    out.mix.dangle = Chance(60);
    out.mix.emails = Chance(60);
    out.mix.nodes = 3 + Below(8);
    DrawLife(&out.life);
    return out;
  }

  void DrawFaults(store::FaultPlan* faults) {
    faults->seed = sim_.NextRandom();
    faults->slow_ppm = Chance(50) ? 20'000 : 0;
    faults->fail_before_ppm = Chance(50) ? 6'000 : 0;
    faults->fail_after_ppm = Chance(50) ? 6'000 : 0;
    faults->late_effect_ppm = Chance(50) ? 4'000 : 0;
    faults->throttled_ppm = Chance(30) ? 10'000 : 0;
    faults->slow_max = 80ms;
    faults->late_calls_max = Chance(50) ? 8 : 200;
  }

  void DrawLife(LifePlan* life) {
    life->loads = Chance(50);
    life->folds = Chance(60);
    life->leaves = Chance(50);
    life->pause_ms = Chance(70) ? 5 : 60;
    graph::IngestOptions& ingest = life->ingest;
    ingest.fold_age = Chance(80) ? 40ms : 1500ms;
    ingest.wait_max = 5s;
    ingest.takeover_after = Chance(50) ? 15s : 7s;
    if (Chance(25)) {
      ingest.pending_bytes_max = 1;  // W3: everything is read back
      ingest.in_flight_bytes_max = 3'000;
    }
    if (Chance(25)) {
      ingest.fold_cut_bytes_max = 1'500;  // F1: cuts are shortened
    }
    if (Chance(25)) {
      ingest.key_cache_bytes = 1;
    }
  }

  std::string HostOf(size_t slot) const {
    return plan_.two_hosts ? fmt::format("host{}", 1 + slot % 2) : "host1";
  }
  size_t LinkOf(size_t slot) const { return plan_.two_hosts ? slot % 2 : 0; }

  std::shared_ptr<store::ObjectStore> CleanStore() {
    if (plan_.on_disk) {
      store::LocalStoreOptions local;
      local.open_ahead = 0;
      return store::LocalStore::Make(disk_, local);
    }
    return memory_;
  }

  /// Start what is down and due.
  void Revive() {
    for (size_t i = 0; i < slots_.size(); ++i) {
      Slot& slot = slots_[i];
      if (slot.started && sim_.IsAlive(slot.process)) {
        continue;
      }
      if (slot.started) {
        slot.started = false;
        world_.Died(static_cast<int>(i));
        const bool away = plan_.long_downs && Chance(25);
        slot.down_until = runtime::MonotonicNow() +
                          (away ? runtime::Duration(25s) : std::chrono::milliseconds(Below(50)));
        ++world_.events["lives"];
      }
      if (runtime::MonotonicNow() >= slot.down_until) {
        Start(i);
      }
    }
  }

  void Start(size_t i) {
    const bool folder = i >= kServers;
    const uint64_t open_ahead = Chance(30) ? 2 : 0;
    slots_[i].started = true;
    slots_[i].process = sim_.StartProcess(
        folder ? "folder" : fmt::format("server{}", i),
        [this, i, folder, open_ahead] {
          std::shared_ptr<store::ObjectStore> store;
          if (plan_.on_disk) {
            store::LocalStoreOptions local;
            local.open_ahead = open_ahead;
            store = store::LocalStore::Make(disk_, local);
          } else {
            store = links_[LinkOf(i)];
          }
          if (folder) {
            RunFolder(world_, plan_.life, store);
          } else {
            RunServer(world_, plan_.life, static_cast<int>(i), store);
          }
        },
        HostOf(i));
  }

  // --- nemeses ---

  void Harm() {
    std::vector<void (Room::*)()> enabled;
    const std::pair<bool, void (Room::*)()> all[] = {
        {plan_.kills, &Room::KillOne},       {plan_.fail_points, &Room::KillAtFailPoint},
        {plan_.power_cuts, &Room::CutPower}, {plan_.sync_failures, &Room::FailSync},
        {plan_.stalls, &Room::Stall},        {plan_.partitions, &Room::Partition},
    };
    for (const auto& [on, nemesis] : all) {
      if (on) {
        enabled.push_back(nemesis);
      }
    }
    if (!enabled.empty() && harms_left_ > 0 && Chance(60)) {
      --harms_left_;
      (this->*enabled[Below(enabled.size())])();
    }
  }

  void KillOne() {
    const Slot& slot = slots_[Below(slots_.size())];
    if (slot.started && sim_.IsAlive(slot.process)) {
      sim_.Kill(slot.process);
      ++world_.events["kills"];
    }
  }

  void KillAtFailPoint() {
    static constexpr const char* kPoints[] = {"",
                                              "",
                                              "fold.after_cut",
                                              "fold.after_data",
                                              "fold.before_advance",
                                              "memwal.append.after_put",
                                              "memwal.claim.after_manifest",
                                              "memwal.claim.after_sentinel",
                                              "memwal.collect.after_delete",
                                              "memwal.manifest.after_prune",
                                              "memwal.manifest.after_put",
                                              "promote.before_put",
                                              "publish.after",
                                              "publish.after_detached",
                                              "publish.after_put",
                                              "publish.before_put"};
    const std::string point = kPoints[Below(std::size(kPoints))];
    sim_.KillAtFailPoint(point, 1 + Below(point.empty() ? 40 : 4));
    ++world_.events["kills at fail points planned"];
  }

  void CutPower() {
    const std::string host = HostOf(Below(kServers));
    sim_.PowerCut(host);
    if (disk_ != nullptr) {
      disk_->PowerCut(sim_.NextRandom());
    }
    ++world_.events["power cuts"];
  }

  void FailSync() {
    disk_->FailSync(1 + Below(20));
    ++world_.events["failed syncs planned"];
  }

  /// For a while every call of one host's store is slow, or goes unanswered; the other goes on.
  void Impair(const store::FaultPlan& faults, const char* what) {
    const size_t link = Below(links_.size());
    links_[link]->SetPlan(faults);
    ++world_.events[what];
    const runtime::Duration until =
        runtime::MonotonicNow() + std::chrono::milliseconds(2'000 + Below(40'000));
    while (runtime::MonotonicNow() < until && world_.rows_left > 0) {
      runtime::SleepFor(500ms);
      Revive();
    }
    store::FaultPlan normal = plan_.faults;
    normal.seed = sim_.NextRandom();
    links_[link]->SetPlan(normal);
  }

  void Stall() {
    store::FaultPlan faults = plan_.faults;
    faults.seed = sim_.NextRandom();
    faults.slow_ppm = 900'000;
    faults.slow_max = 30s;
    Impair(faults, "stalls");
  }

  void Partition() {
    store::FaultPlan faults;
    faults.seed = sim_.NextRandom();
    faults.fail_before_ppm = 600'000;
    faults.fail_after_ppm = 200'000;
    faults.late_effect_ppm = 200'000;
    faults.late_calls_max = plan_.faults.late_calls_max;
    Impair(faults, "partitions");
  }

  // --- the end ---

  void Heal() {
    for (const auto& link : links_) {
      link->SetPlan({});
    }
    world_.stopping = true;
    const bool gently = Chance(50);
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].started) {
        continue;
      }
      if (gently) {
        sim_.WaitForExit(slots_[i].process);
      } else {
        sim_.Kill(slots_[i].process);
      }
      world_.Died(static_cast<int>(i));
    }
    for (const auto& link : links_) {
      link->ReleaseLate();
    }
  }

  /// One process is left, nothing fails any more: it claims every shard, folds to empty, and shows
  /// what is there.
  void Judge() {
    auto graph = graph::Graph::Open(CleanStore());
    world_.CheckStatus("open at the end", graph.status());
    if (!graph.ok()) {
      return world_.Problem("the graph does not open: " + graph.status().ToString());
    }
    graph::IngestOptions last;
    last.fold_in_background = false;
    auto ingest = graph::StreamIngest::Start(*graph, last);
    OG_CHECK_OK(ingest);
    const bool fold_first = Chance(50);
    if (fold_first) {
      world_.CheckStatus("fold at the end", (*ingest)->Fold().status());
    }
    std::set<std::string> stopped;
    for (int type = 0; type < kStreamed; ++type) {
      if (!ClaimByARow(**ingest, type)) {
        stopped.insert(std::string(kTypes[type]));
      }
    }
    const Result<graph::FoldReport> folded = (*ingest)->Fold();
    if (!folded.ok()) {
      return world_.Problem("the last fold failed: " + folded.status().ToString());
    }
    JudgeStatus(**ingest, stopped);
    JudgePicture(**graph);
    world_.CheckStatus("stop at the end", (*ingest)->Stop());
    ingest->reset();
    JudgeSweep();
  }

  /// False: the shard stands still for a torn tail, which is allowed and was never acked.
  bool ClaimByARow(graph::StreamIngest& ingest, int type) {
    std::string last_error;
    for (int tries = 0; tries < 20; ++tries) {
      const Row row = world_.MakeRow(type, /*deletes=*/false);
      const testing::Oracle::Ticket ticket = world_.Intend(row, kServers + 1, true);
      auto session = ingest.OpenSession({.actor = "judge"});
      OG_CHECK_OK(session);
      const Status pushed = (*session)->Push(row.line);
      const Status finished = (*session)->Finish();
      const graph::SessionSummary summary = (*session)->Summary();
      world_.Settle(ticket, summary.acked == 1     ? testing::Outcome::kAcked
                            : summary.unknown == 1 ? testing::Outcome::kUnknown
                                                   : testing::Outcome::kRefused);
      if (summary.acked == 1) {
        return true;
      }
      if (world_.torn_allowed && CodeOf(pushed) == "memwal.entry_torn") {
        ++world_.events["shards stopped for a torn tail"];
        return false;
      }
      last_error = pushed.ok() ? finished.ToString() : pushed.ToString();
      runtime::SleepFor(5s);
    }
    world_.Problem(fmt::format("`{}` takes no rows, though nothing fails any more: {}",
                               kTypes[type], last_error));
    return true;
  }

  void JudgeStatus(graph::StreamIngest& ingest, const std::set<std::string>& stopped) {
    const Result<graph::IngestStatus> status = ingest.Status();
    if (!status.ok()) {
      return world_.Problem("no status at the end: " + status.status().ToString());
    }
    for (const graph::ShardStatus& shard : status->shards) {
      const auto at = std::find(std::begin(kTypes), std::end(kTypes), shard.type);
      const int type = static_cast<int>(at - std::begin(kTypes));
      const uint64_t acked = world_.acked(type);
      const uint64_t most = acked + world_.unknown(type);
      if (shard.pending != 0) {
        world_.Problem(fmt::format("G2: {} rows of `{}` are pending after the last fold",
                                   shard.pending, shard.type));
      }
      if (shard.acked != shard.visible + shard.superseded + shard.rejected + shard.pending) {
        world_.Problem(fmt::format("G2: the ends of `{}` do not add up", shard.type));
      }
      if (shard.acked < acked || shard.acked > most) {
        world_.Problem(fmt::format("G2, G6: `{}` counts {} acked rows; clients know {} to {}",
                                   shard.type, shard.acked, acked, most));
      }
      if (stopped.contains(shard.type) && world_.last_position(type) > shard.tip_position) {
        world_.Problem(fmt::format("G1: `{}` stands still at position {}, but {} was acked",
                                   shard.type, shard.tip_position, world_.last_position(type)));
      }
    }
  }

  void JudgePicture(graph::Graph& graph) {
    const auto picture = TakePicture(graph, *graph.snapshot(), world_);
    if (!picture.ok()) {
      return world_.Problem("the graph cannot be read: " + picture.status().ToString());
    }
    for (const auto& [note, tickets] : world_.doubtful_loads) {
      const bool committed = picture->observed.visible.contains("Note/" + note);
      for (const testing::Oracle::Ticket ticket : tickets) {
        if (world_.oracle.OutcomeOf(ticket) == testing::Outcome::kUnknown) {
          world_.oracle.Learn(ticket,
                              committed ? testing::Outcome::kAcked : testing::Outcome::kRefused);
        }
      }
    }
    const testing::Verdict verdict = world_.oracle.Judge(picture->observed);
    for (const std::string& problem : verdict.problems) {
      world_.Problem(problem + HistoryOfKeyIn(problem));
    }
    for (const std::string& problem : picture->problems) {
      world_.Problem("at the end: " + problem);
    }
    world_.events["rows visible"] += verdict.counts.visible;
    world_.events["rows superseded"] += verdict.counts.superseded;
    world_.events["rows rejected"] += verdict.counts.rejected;
  }

  /// The writes of the key that a problem names, and of the nodes that these hang on.
  std::string HistoryOfKeyIn(const std::string& problem) const {
    const size_t from = problem.find('\'');
    const size_t to = problem.find('\'', from + 1);
    if (from == std::string::npos || to == std::string::npos) {
      return "";
    }
    const std::string key = problem.substr(from + 1, to - from - 1);
    std::string out = world_.oracle.History(key);
    std::set<std::string> ends;
    for (const Sent& sent : world_.all_sent()) {
      if (sent.row.key == key) {
        ends.insert(sent.row.ends.begin(), sent.row.ends.end());
      }
    }
    for (const std::string& end : ends) {
      out += world_.oracle.History(end);
    }
    return out;
  }

  /// C6: after a day the orphans of all the deaths go, and nothing else does.
  void JudgeSweep() {
    runtime::SleepFor(25h);
    auto graph = graph::Graph::Open(CleanStore());
    OG_CHECK_OK(graph);
    const auto before = TakePicture(**graph, *(*graph)->snapshot(), world_);
    const auto report = graph::Sweep(**graph, {});
    if (!report.ok()) {
      return world_.Problem("the sweep failed: " + report.status().ToString());
    }
    world_.events["objects swept"] += static_cast<uint64_t>(report->deleted);
    graph = graph::Graph::Open(CleanStore());
    const auto after = graph.ok() ? TakePicture(**graph, *(*graph)->snapshot(), world_)
                                  : Result<Picture>(graph.status());
    if (!before.ok() || !after.ok()) {
      return world_.Problem("the graph cannot be read after a sweep: " + after.status().ToString());
    }
    if (before->observed.visible != after->observed.visible ||
        before->observed.rejected != after->observed.rejected) {
      world_.Problem("C6: a sweep changed what the graph shows");
    }
  }

  Simulator& sim_;
  const SoakOptions options_;
  const Plan plan_;
  World world_;
  std::shared_ptr<SimulatedDisk> disk_;
  std::shared_ptr<store::MemoryStore> memory_;
  std::vector<std::shared_ptr<store::FaultyStore>> links_;  ///< of each host to the object store
  std::vector<Slot> slots_;
  int harms_left_ = 0;  ///< so that a run ends
};

}  // namespace

std::string SoakResult::ToString() const {
  std::string out = sim.problem;
  for (const std::string& problem : problems) {
    out += problem + "\n";
  }
  return out;
}

SoakResult RunSoak(const SoakOptions& options) {
  SoakResult out;
  runtime::SimOptions sim;
  sim.seed = options.seed;
  sim.time_max = 100h;
  out.sim = runtime::RunSimulation(sim, [&](Simulator& simulator) {
    const auto room = std::make_unique<Room>(simulator, options);
    room->Run();
    out.problems = room->world().problems;
    out.events = room->world().events;
  });
  out.events["runs"] = 1;
  out.events["virtual seconds"] = static_cast<uint64_t>(out.sim.end_time / 1s) % (25 * 3600);
  return out;
}

}  // namespace omnigraph::soak
