// The simulator itself: determinism, processes and kills, deadlocks, fail points.
#include "omnigraph/runtime/sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "omnigraph/base/hash.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/future.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/queue.h"
#include "omnigraph/runtime/random.h"
#include "omnigraph/runtime/thread.h"

namespace omnigraph::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

/// A "disk" for the scenario: what was written, in order.
struct Log {
  Mutex mutex;
  std::string bytes OG_GUARDED_BY(mutex);

  void Write(const std::string& text) {
    if (InKilledProcess()) {
      return;
    }
    const MutexLock lock(mutex);
    bytes += text + ";";
  }
  std::string Read() {
    const MutexLock lock(mutex);
    return bytes;
  }
};

/// Two processes with threads, a queue, timeouts and chance; one of them is killed.
void SmallScenario(Simulator& sim) {
  auto log = std::make_shared<Log>();
  sim.AddDigest("log", [log] { return XxHash64(log->Read()); });
  const auto run = [log](int me) {
    BoundedQueue<uint64_t> queue(2);
    Thread consumer = Thread::Start("consumer", [&] {
      while (auto item = queue.PopFor(milliseconds(3))) {
        log->Write(std::to_string(me) + ":" + std::to_string(*item));
      }
      queue.Close();
    });
    for (int i = 0; i < 30; ++i) {
      FailPoint("scenario.item");
      if (!queue.Push(RandomU64() % 1000)) {
        break;
      }
      SleepFor(Duration(static_cast<int64_t>(RandomU64() % 2'000'000)));
    }
    log->Write(NewUlid() + NewUuid().ToString());
  };
  const SimProcess first = sim.StartProcess("first", [&] { run(1); }, "host1");
  const SimProcess second = sim.StartProcess("second", [&] { run(2); }, "host2");
  SleepFor(milliseconds(static_cast<int64_t>(sim.NextRandomBelow(20))));
  sim.Kill(second);
  log->Write("killed");
  sim.MixIntoTrace(log->Read());
  sim.WaitForExit(first);
}

TEST(Simulation, SameSeed_GivesTheSameRun) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const SimOptions options{.seed = seed, .kill_at_fail_point = seed % 2 == 0 ? 0.02 : 0};
    const SimResult once = RunSimulation(options, SmallScenario);
    const SimResult twice = RunSimulation(options, SmallScenario);
    EXPECT_EQ(once.problem, "");
    EXPECT_EQ(once.trace_hash, twice.trace_hash) << seed;
    EXPECT_EQ(once.end_time, twice.end_time) << seed;
    EXPECT_EQ(once.next_random, twice.next_random) << seed;
    EXPECT_EQ(once.digests, twice.digests) << seed;
    EXPECT_TRUE(once == twice) << seed;
    ASSERT_EQ(once.digests.size(), 1u);
    hashes.insert(once.trace_hash);
  }
  EXPECT_EQ(hashes.size(), 20u) << "other seeds give other runs";
}

TEST(Simulation, Seeds_ReachEveryOrderOfThreeThreads) {
  std::set<std::string> orders;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::string order;
    RunSimulation({.seed = seed}, [&](Simulator&) {
      std::vector<Thread> threads;
      for (const char* name : {"a", "b", "c"}) {
        threads.push_back(Thread::Start(name, [&order, name] { order += name; }));
      }
    });
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 6u);
}

TEST(Simulation, WhenEverybodySleeps_TimeJumps) {
  const SimResult result = RunSimulation({.seed = 3}, [](Simulator& sim) {
    const Duration before = sim.Now();
    SleepFor(std::chrono::hours(5));
    EXPECT_GE(sim.Now() - before, std::chrono::hours(5));
    EXPECT_LT(sim.Now() - before, std::chrono::hours(5) + seconds(1));
  });
  EXPECT_TRUE(result.ok());
  EXPECT_LT(result.steps, 100u);
}

TEST(Simulation, WhenLocksAreTakenCrosswise_ReportsTheDeadlock) {
  int deadlocks = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const SimResult result = RunSimulation({.seed = seed}, [](Simulator&) {
      Mutex a;
      Mutex b;
      Thread left = Thread::Start("left", [&] {
        const MutexLock first(a);
        const MutexLock second(b);
      });
      Thread right = Thread::Start("right", [&] {
        const MutexLock first(b);
        const MutexLock second(a);
      });
    });
    if (!result.ok()) {
      ++deadlocks;
      EXPECT_THAT(result.problem, HasSubstr("deadlock"));
      EXPECT_THAT(result.problem,
                  HasSubstr("'left' of process 'test': waits for a mutex held by 'right'"));
      EXPECT_THAT(result.problem,
                  HasSubstr("'right' of process 'test': waits for a mutex held by 'left'"));
      EXPECT_THAT(result.problem,
                  HasSubstr("'test' of process 'test': waits for the end of a thread"));
    }
  }
  EXPECT_GT(deadlocks, 0);
  EXPECT_LT(deadlocks, 100);
}

TEST(Simulation, WhenAPromiseIsDropped_ReportsWhoWaits) {
  const SimResult result = RunSimulation({.seed = 1}, [](Simulator&) {
    const Future<int> future = Promise<int>().future();
    future.Get();
  });
  EXPECT_THAT(result.problem, HasSubstr("'test' of process 'test': waits for a condition"));
}

TEST(Simulation, WhenAHeartbeatHidesADeadlock_TimeRunsOut) {
  const SimResult result =
      RunSimulation({.seed = 1, .time_max = std::chrono::minutes(10)}, [](Simulator& sim) {
        sim.StartProcess("heart", [] {
          for (;;) {
            SleepFor(seconds(3));
          }
        });
        const Future<int> future = Promise<int>().future();
        future.Get();
      });
  EXPECT_THAT(result.problem, HasSubstr("virtual time ran out"));
  EXPECT_THAT(result.problem, HasSubstr("'test' of process 'test': waits for a condition"));
}

TEST(Simulation, WhenSomebodySpins_StepsRunOut) {
  const SimResult result = RunSimulation({.seed = 1, .steps_max = 10'000}, [](Simulator&) {
    for (;;) {
      (void)RandomU64();
      const Mutex mutex;
      SleepFor(Duration::zero());
    }
  });
  EXPECT_THAT(result.problem, HasSubstr("no progress"));
}

TEST(Kill, UnwindsEveryThreadOfTheProcessAndNoOther) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    int unwound = 0;
    int survived = 0;
    struct OnExit {
      int* count;
      ~OnExit() { ++*count; }
    };
    const SimResult result = RunSimulation({.seed = seed}, [&](Simulator& sim) {
      const SimProcess victim = sim.StartProcess("victim", [&] {
        const OnExit guard{&unwound};
        Mutex mutex;
        CondVar never;
        BoundedQueue<int> queue(1);
        Thread waits = Thread::Start("waits", [&] {
          const OnExit inner{&unwound};
          const MutexLock lock(mutex);
          for (;;) {
            never.Wait(mutex);
          }
        });
        Thread pops = Thread::Start("pops", [&] {
          const OnExit inner{&unwound};
          queue.Pop();
        });
        SleepFor(std::chrono::hours(1));
      });
      Thread bystander = Thread::Start("bystander", [&] {
        SleepFor(seconds(2));
        ++survived;
      });
      SleepFor(seconds(1));
      EXPECT_TRUE(sim.IsAlive(victim));
      const ProcessIdentity identity = sim.Identity(victim);
      sim.Kill(victim);
      EXPECT_FALSE(sim.IsAlive(victim));
      EXPECT_EQ(unwound, 3);
      EXPECT_NE(identity.id, CurrentProcess().id);
      sim.Kill(victim);
      sim.WaitForExit(victim);
    });
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(result.kills, 1u);
    EXPECT_EQ(result.parked, 0u);
    EXPECT_EQ(survived, 1);
  }
}

// A process killed at a moment the seed chooses, between locks, joins, waits and its own orderly
// end: it always goes, and it changes nothing any more.
TEST(Kill, AtAnyMoment_ChangesNothingAfterwards) {
  uint64_t parked = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    const SimResult result = RunSimulation({.seed = seed}, [&](Simulator& sim) {
      Log log;
      const SimProcess victim = sim.StartProcess("victim", [&] {
        BoundedQueue<int> queue(1);
        Mutex mutex;
        CondVar changed;
        int stopped = 0;
        const auto work = [&] {
          while (auto item = queue.Pop()) {
            log.Write(std::to_string(*item));
          }
          const MutexLock lock(mutex);
          ++stopped;
          changed.NotifyAll();
        };
        Thread one = Thread::Start("one", work);
        Thread two = Thread::Start("two", work);
        for (int i = 0; i < 40; ++i) {
          queue.Push(i);
          SleepFor(std::chrono::microseconds(100));
        }
        queue.Close();
        const MutexLock lock(mutex);
        while (stopped < 2) {
          changed.Wait(mutex);
        }
        log.Write("stopped");
      });
      SleepFor(std::chrono::microseconds(static_cast<int64_t>(sim.NextRandomBelow(5'000))));
      sim.Kill(victim);
      const std::string at_kill = log.Read();
      EXPECT_FALSE(sim.IsAlive(victim));
      SleepFor(seconds(10));
      EXPECT_EQ(log.Read(), at_kill) << "seed " << seed;
    });
    EXPECT_EQ(result.problem, "") << "seed " << seed;
    parked += result.parked;
  }
  EXPECT_EQ(parked, 0u);
}

/// Stops in its destructor, as our long-lived parts do, by lock, notification, wait and join.
class Part {
 public:
  explicit Part(bool waits_for_ever) : waits_for_ever_(waits_for_ever) {
    thread_ = Thread::Start("part", [this] {
      const MutexLock lock(mutex_);
      while (!stop_) {
        changed_.WaitFor(mutex_, milliseconds(1));
      }
      stopped_ = true;
      changed_.NotifyAll();
    });
  }
  ~Part() {
    const MutexLock lock(mutex_);
    stop_ = true;
    changed_.NotifyAll();
    while (waits_for_ever_ && !stopped_) {
      changed_.Wait(mutex_);
    }
  }

 private:
  const bool waits_for_ever_;
  Mutex mutex_;
  CondVar changed_;
  bool stop_ OG_GUARDED_BY(mutex_) = false;
  bool stopped_ OG_GUARDED_BY(mutex_) = false;
  Thread thread_;
};

TEST(Kill, WhenDestructorsLockAndJoin_TheyDoNotBlock) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const SimResult result = RunSimulation({.seed = seed}, [&](Simulator& sim) {
      const SimProcess victim = sim.StartProcess("victim", [&] {
        const Part outer(false);
        SleepFor(seconds(1));
        const Part inner(false);
        SleepFor(seconds(10));
      });
      SleepFor(milliseconds(static_cast<int64_t>(sim.NextRandomBelow(1'500))));
      sim.Kill(victim);
      EXPECT_FALSE(sim.IsAlive(victim));
    });
    EXPECT_EQ(result.problem, "");
  }
}

// The threads of a process leave in the order in which what they borrow from each other still lives
// (asan judges).
TEST(Kill, WhenAThreadDiesAtItsOwnFailPoint_WhatItBorrowsLivesLonger) {
  uint64_t kills = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const SimResult result =
        RunSimulation({.seed = seed, .kill_at_fail_point = 0.02}, [&](Simulator& sim) {
          const SimProcess process = sim.StartProcess("process", [] {
            const auto words = std::make_unique<std::vector<std::string>>(100, "word");
            Mutex mutex;
            const auto touch = [&] {
              for (int i = 0; i < 10; ++i) {
                FailPoint("touch.word");
                const MutexLock lock(mutex);
                words->at(static_cast<size_t>(i)) += "s";
              }
              const MutexLock lock(mutex);
              words->front() += "!";
            };
            Thread outer = Thread::Start("outer", [&] {
              const Thread inner = Thread::Start("inner", touch);
              touch();
            });
            touch();
          });
          sim.WaitForExit(process);
        });
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(result.parked, 0u);
    kills += result.kills;
  }
  EXPECT_GT(kills, 10u);
  EXPECT_LT(kills, 90u);
}

TEST(Kill, WhenADestructorWaitsForTheDead_TheThreadIsParked) {
  const SimResult result = RunSimulation({.seed = 1}, [&](Simulator& sim) {
    Mutex shared;
    const SimProcess victim = sim.StartProcess("victim", [&] {
      const MutexLock lock(shared);
      const Part part(true);
      SleepFor(seconds(10));
    });
    SleepFor(seconds(1));
    sim.Kill(victim);
    EXPECT_FALSE(sim.IsAlive(victim));
    const MutexLock lock(shared);  // the parked thread holds it no more
  });
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.parked, 1u);
}

TEST(Kill, WhenTheExceptionMeetsNoexcept_TheThreadIsParked) {
  const SimResult result = RunSimulation({.seed = 1}, [&](Simulator& sim) {
    const SimProcess victim = sim.StartProcess("victim", [] {
      const auto sleeps = []() noexcept { SleepFor(seconds(10)); };
      sleeps();
    });
    SleepFor(seconds(1));
    sim.Kill(victim);
    EXPECT_FALSE(sim.IsAlive(victim));
  });
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.parked, 1u);
}

TEST(Kill, WhenEverythingIsCaught_TheThreadIsParked) {
  const SimResult result = RunSimulation({.seed = 1}, [&](Simulator& sim) {
    const SimProcess victim = sim.StartProcess("victim", [] {
      for (;;) {
        try {
          SleepFor(seconds(10));
        } catch (...) {
        }
      }
    });
    SleepFor(seconds(1));
    sim.Kill(victim);
    EXPECT_FALSE(sim.IsAlive(victim));
  });
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.parked, 1u);
}

TEST(Kill, WhenItHoldsASharedLock_TheOthersGoOn) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    int done = 0;
    const SimResult result = RunSimulation({.seed = seed}, [&](Simulator& sim) {
      Mutex shared;
      const auto use = [&] {
        for (int i = 0; i < 20; ++i) {
          const MutexLock lock(shared);
          SleepFor(milliseconds(1));
        }
        ++done;
      };
      const SimProcess victim = sim.StartProcess("victim", use);
      const SimProcess other = sim.StartProcess("other", use);
      SleepFor(milliseconds(7));
      sim.Kill(victim);
      sim.WaitForExit(other);
    });
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(done, 1);
  }
}

TEST(Process, WhenMainReturns_TheRestIsKilled) {
  bool ended = false;
  bool timed_out = false;
  RunSimulation({.seed = 1}, [&](Simulator& sim) {
    std::optional<Thread> stray;
    const SimProcess process = sim.StartProcess("process", [&] {
      stray = Thread::Start("stray", [&] {
        SleepFor(seconds(10));
        timed_out = true;
      });
    });
    sim.WaitForExit(process);
    ended = true;
    EXPECT_LT(sim.Now(), seconds(1));
  });
  EXPECT_TRUE(ended);
  EXPECT_FALSE(timed_out);
}

// S9 in the simulator: the same host knows at once, another one does not.
TEST(Process, IsRunning_AnswersForTheSameHostAndBoot) {
  RunSimulation({.seed = 1}, [&](Simulator& sim) {
    const auto sleeps = [] { SleepFor(seconds(100)); };
    const SimProcess a = sim.StartProcess("a", sleeps, "host1");
    const ProcessIdentity identity = sim.Identity(a);
    const auto asks = [&](bool expected, const std::string& host) {
      sim.WaitForExit(
          sim.StartProcess("asks", [&] { EXPECT_EQ(IsRunning(identity), expected); }, host));
    };
    asks(true, "host1");
    sim.Kill(a);
    asks(false, "host1");
    asks(true, "host2");
    sim.PowerCut("host1");
    asks(true, "host1");
  });
}

TEST(FailPoint, KillAtFailPoint_KillsAtTheHit) {
  for (uint64_t hit = 1; hit <= 3; ++hit) {
    std::string done;
    const SimResult result = RunSimulation({.seed = hit}, [&](Simulator& sim) {
      sim.KillAtFailPoint("publish.before_put", hit);
      const SimProcess process = sim.StartProcess("process", [&] {
        for (int i = 0; i < 3; ++i) {
          FailPoint("publish.begin");
          done += "a";
          FailPoint("publish.before_put");
          done += "b";
        }
      });
      FailPoint("publish.before_put");  // the test's own process is not counted
      sim.WaitForExit(process);
      EXPECT_EQ(sim.FailPointHits().at("publish.before_put"), hit);
    });
    EXPECT_EQ(result.kills, 1u);
    EXPECT_EQ(done.size(), 2 * hit - 1);
  }
}

TEST(Outside, OneThread_MayUsePrimitives) {
  Mutex mutex;
  {
    const MutexLock lock(mutex);
  }
  mutex.Lock();
  mutex.Unlock();
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.Push(1));
  EXPECT_EQ(queue.Pop(), 1);
  const std::string first = NewUlid();
  EXPECT_LT(first, NewUlid());
  EXPECT_TRUE(IsRunning(CurrentProcess()));
}

}  // namespace
}  // namespace omnigraph::runtime
