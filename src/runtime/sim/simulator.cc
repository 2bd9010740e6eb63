// The interface for tests: processes, kills, time, digests.
#include "omnigraph/base/hash.h"
#include "omnigraph/base/status.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/sim.h"
#include "scheduler.h"

namespace omnigraph::runtime {
namespace {

using internal::Scheduler;
using internal::SimProcessState;

Scheduler& Sim() {
  Scheduler* sim = Scheduler::Current();
  OG_CHECK(sim != nullptr);
  return *sim;
}

SimProcessState* StateOf(SimProcess process) {
  return Sim().processes.at(static_cast<size_t>(process.index)).get();
}

}  // namespace

SimProcess Simulator::StartProcess(std::string name, std::function<void()> main, std::string host) {
  Scheduler& sim = Sim();
  sim.Point();
  SimProcessState* process = sim.AddProcess(name, std::move(host));
  process->identity.id = process->ulids.Next();
  sim.StartThread(process, name + ".main", std::move(main));
  sim.YieldByChance();
  return SimProcess{process->index};
}

void Simulator::Kill(SimProcess process) {
  Scheduler& sim = Sim();
  sim.Point();
  if (!sim.Killed()) {
    sim.Kill(StateOf(process));
    sim.ThrowIfKilled();
  }
}

void Simulator::PowerCut(const std::string& host) {
  Scheduler& sim = Sim();
  sim.Point();
  if (sim.Killed()) {
    return;
  }
  for (size_t i = 1; i < sim.processes.size(); ++i) {
    if (sim.processes[i]->host == host) {
      sim.Kill(sim.processes[i].get());
    }
  }
  sim.RebootHost(host);
  sim.ThrowIfKilled();
}

void Simulator::WaitForExit(SimProcess process) {
  Scheduler& sim = Sim();
  SimProcessState* state = StateOf(process);
  sim.Point();
  while (!state->ended() && !sim.Killed()) {
    state->exit_waiters.push_back(Scheduler::Self());
    sim.Block("the end of a process", internal::kNever);
    sim.ThrowIfKilled();
  }
}

bool Simulator::IsAlive(SimProcess process) const {
  return !StateOf(process)->ended();
}

const ProcessIdentity& Simulator::Identity(SimProcess process) const {
  return StateOf(process)->identity;
}

void Simulator::KillAtFailPoint(std::string name, uint64_t hit) {
  OG_CHECK(hit > 0);
  Sim().planned_kills.push_back({std::move(name), hit});
}

const std::map<std::string, uint64_t>& Simulator::FailPointHits() const {
  return Sim().fail_point_hits;
}

Duration Simulator::Now() const {
  return Sim().now;
}

uint64_t Simulator::TraceHash() const {
  return Sim().trace_hash;
}

uint64_t Simulator::NextRandom() {
  return Sim().test_random.Next();
}

uint64_t Simulator::NextRandomBelow(uint64_t bound) {
  OG_CHECK(bound > 0);
  return Sim().test_random.Below(bound);
}

void Simulator::MixIntoTrace(std::string_view bytes) {
  Sim().Trace(XxHash64(bytes), bytes.size());
}

void Simulator::AddDigest(std::string name, std::function<uint64_t()> digest) {
  Sim().digests.emplace_back(std::move(name), std::move(digest));
}

SimResult RunSimulation(const SimOptions& options, const std::function<void(Simulator&)>& body) {
  Scheduler sim(options);
  sim.Run([&] {
    Simulator simulator;
    SimProcessState* self = Scheduler::Self()->process;
    self->identity.id = self->ulids.Next();
    body(simulator);
  });

  SimResult result;
  result.seed = options.seed;
  result.problem = sim.problem;
  result.trace_hash = sim.trace_hash;
  result.end_time = sim.now;
  result.next_random = sim.machine_random.Peek();
  result.steps = sim.steps;
  result.switches = sim.switches;
  result.kills = sim.kills;
  result.parked = sim.parked;
  for (const auto& [name, digest] : sim.digests) {
    result.digests.emplace_back(name, digest());
  }
  return result;
}

}  // namespace omnigraph::runtime
