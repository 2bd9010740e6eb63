// What every machine promises (the headers of runtime). Compiled twice: with real threads and with
// the simulator.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "machine.h"
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

TEST(Clock, WhenSlept_HasAdvancedAtLeastThatFar) {
  OnMachine([] {
    const Duration before = MonotonicNow();
    SleepFor(milliseconds(5));
    EXPECT_GE(MonotonicNow() - before, milliseconds(5));
    SleepFor(milliseconds(-1));
  });
}

TEST(Clock, WallNow_IsAfter2020) {
  OnMachine([] { EXPECT_GT(WallNow(), std::chrono::seconds(1'577'836'800)); });
}

TEST(Thread, WhenHandleGoes_BodyHasReturned) {
  OnMachine([] {
    bool done = false;
    {
      const Thread thread = Thread::Start("worker", [&] {
        SleepFor(milliseconds(1));
        done = true;
      });
      EXPECT_TRUE(thread.joinable());
    }
    EXPECT_TRUE(done);
  });
}

TEST(Thread, WhenMovedInto_JoinsTheOneHeldBefore) {
  OnMachine([] {
    bool first = false;
    bool second = false;
    Thread thread = Thread::Start("first", [&] { first = true; });
    thread = Thread::Start("second", [&] { second = true; });
    EXPECT_TRUE(first);
    thread.Join();
    EXPECT_TRUE(second);
    EXPECT_FALSE(thread.joinable());
    thread.Join();
  });
}

TEST(Mutex, UnderContention_ExcludesOthers) {
  OnMachine([] {
    Mutex mutex;
    int inside = 0;
    int most_inside = 0;
    int64_t total = 0;
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.push_back(Thread::Start("adder", [&] {
        for (int i = 0; i < 100; ++i) {
          const MutexLock lock(mutex);
          most_inside = std::max(most_inside, ++inside);
          // A scheduling point with the lock held, so that the others really meet it.
          total += RandomU64() != 0 ? 1 : 0;
          --inside;
        }
      }));
    }
    threads.clear();
    EXPECT_EQ(total, 400);
    EXPECT_EQ(most_inside, 1);
  });
}

bool CanLock(Mutex& mutex) {
  if (!mutex.TryLock()) {
    return false;
  }
  mutex.Unlock();
  return true;
}

TEST(Mutex, TryLock_WhenHeld_Declines) {
  OnMachine([] {
    Mutex mutex;
    mutex.Lock();
    Thread::Start("other", [&] { EXPECT_FALSE(CanLock(mutex)); }).Join();
    mutex.Unlock();
    Thread::Start("other", [&] { EXPECT_TRUE(CanLock(mutex)); }).Join();
    EXPECT_TRUE(CanLock(mutex));
  });
}

TEST(CondVar, WhenNotifiedInTurn_PlaysPingPong) {
  OnMachine([] {
    Mutex mutex;
    CondVar changed;
    int turn = 0;
    const auto play = [&](int me) {
      for (int i = 0; i < 50; ++i) {
        const MutexLock lock(mutex);
        while (turn % 2 != me) {
          changed.Wait(mutex);
        }
        ++turn;
        changed.NotifyOne();
      }
    };
    Thread ping = Thread::Start("ping", [&] { play(0); });
    Thread pong = Thread::Start("pong", [&] { play(1); });
    ping.Join();
    pong.Join();
    EXPECT_EQ(turn, 100);
  });
}

TEST(CondVar, NotifyAll_WakesEverybody) {
  OnMachine([] {
    Mutex mutex;
    CondVar changed;
    bool open = false;
    int through = 0;
    std::vector<Thread> threads;
    for (int t = 0; t < 5; ++t) {
      threads.push_back(Thread::Start("waiter", [&] {
        const MutexLock lock(mutex);
        while (!open) {
          changed.Wait(mutex);
        }
        ++through;
      }));
    }
    {
      const MutexLock lock(mutex);
      open = true;
      changed.NotifyAll();
    }
    threads.clear();
    EXPECT_EQ(through, 5);
  });
}

TEST(CondVar, WaitUntil_WhenNobodyNotifies_TimesOutWithTheLockHeld) {
  OnMachine([] {
    Mutex mutex;
    CondVar changed;
    const Duration before = MonotonicNow();
    const MutexLock lock(mutex);
    const Duration deadline = before + milliseconds(3);
    while (changed.WaitUntil(mutex, deadline)) {
    }
    EXPECT_GE(MonotonicNow() - before, milliseconds(3));
    while (changed.WaitFor(mutex, Duration(-1))) {
    }
  });
}

TEST(BoundedQueue, ManyToMany_DeliversEachItemOnceInOrderOfItsProducer) {
  OnMachine([] {
    BoundedQueue<std::pair<int, int>> queue(3);
    Mutex mutex;
    std::array<std::vector<std::pair<int, int>>, 2> taken;
    std::vector<Thread> producers;
    for (int p = 0; p < 3; ++p) {
      producers.push_back(Thread::Start("producer", [&queue, p] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_TRUE(queue.Push({p, i}));
        }
      }));
    }
    std::vector<Thread> consumers;
    for (size_t c = 0; c < taken.size(); ++c) {
      consumers.push_back(Thread::Start("consumer", [&queue, &out = taken[c]] {
        while (auto item = queue.Pop()) {
          out.push_back(*item);
          EXPECT_LE(queue.size(), queue.capacity());
        }
      }));
    }
    producers.clear();
    queue.Close();
    consumers.clear();
    std::set<std::pair<int, int>> seen;
    for (const auto& items : taken) {
      std::array<int, 3> last = {-1, -1, -1};
      for (const auto& [producer, i] : items) {
        EXPECT_GT(i, last[static_cast<size_t>(producer)]);
        last[static_cast<size_t>(producer)] = i;
        EXPECT_TRUE(seen.emplace(producer, i).second);
      }
    }
    EXPECT_EQ(seen.size(), 60u);
  });
}

TEST(BoundedQueue, WhenFullOrClosed_TryPushLeavesTheItem) {
  OnMachine([] {
    BoundedQueue<std::unique_ptr<int>> queue(1);
    auto first = std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    EXPECT_TRUE(queue.TryPush(first));
    EXPECT_FALSE(queue.TryPush(second));
    EXPECT_NE(second, nullptr);
    queue.Close();
    EXPECT_FALSE(queue.Push(std::move(second)));
    EXPECT_EQ(**queue.Pop(), 1);
    EXPECT_FALSE(queue.Pop().has_value());
    EXPECT_FALSE(queue.TryPop().has_value());
    EXPECT_TRUE(queue.closed());
  });
}

TEST(BoundedQueue, PopFor_WhenEmpty_TimesOut) {
  OnMachine([] {
    BoundedQueue<int> queue(1);
    const Duration before = MonotonicNow();
    EXPECT_FALSE(queue.PopFor(milliseconds(2)).has_value());
    EXPECT_GE(MonotonicNow() - before, milliseconds(2));
    EXPECT_FALSE(queue.closed());
  });
}

TEST(BoundedQueue, WhenClosed_ReleasesABlockedProducer) {
  OnMachine([] {
    BoundedQueue<int> queue(1);
    ASSERT_TRUE(queue.Push(1));
    bool pushed = true;
    Thread producer = Thread::Start("producer", [&] { pushed = queue.Push(2); });
    SleepFor(milliseconds(1));
    queue.Close();
    producer.Join();
    EXPECT_FALSE(pushed);
  });
}

TEST(Future, WhenSet_EveryCopySeesIt) {
  OnMachine([] {
    Promise<std::string> promise;
    const Future<std::string> future = promise.future();
    EXPECT_FALSE(future.ready());
    EXPECT_FALSE(future.WaitFor(milliseconds(1)));
    std::vector<Thread> readers;
    for (int i = 0; i < 3; ++i) {
      readers.push_back(Thread::Start("reader", [future] { EXPECT_EQ(future.Get(), "done"); }));
    }
    Thread setter = Thread::Start("setter", [promise]() mutable { promise.Set("done"); });
    readers.clear();
    setter.Join();
    EXPECT_TRUE(future.ready());
    EXPECT_TRUE(future.WaitFor(Duration::zero()));
  });
}

TEST(Random, Bytes_AreFilledWhateverTheSize) {
  OnMachine([] {
    for (const size_t size : {0u, 1u, 7u, 8u, 100u, 513u, 5000u}) {
      std::vector<uint8_t> bytes(size, 0);
      RandomBytes(bytes);
      if (size >= 100) {
        EXPECT_GT(std::set<uint8_t>(bytes.begin(), bytes.end()).size(), 20u);
        EXPECT_NE(std::vector<uint8_t>(bytes.end() - 16, bytes.end()), std::vector<uint8_t>(16, 0));
      }
    }
    EXPECT_NE(RandomU64(), RandomU64());
  });
}

TEST(Ids, NewUlid_StrictlyIncreasesAcrossThreads) {
  OnMachine([] {
    Mutex mutex;
    std::string last;
    std::vector<Thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.push_back(Thread::Start("maker", [&] {
        for (int i = 0; i < 50; ++i) {
          const MutexLock lock(mutex);
          const std::string id = NewUlid();
          EXPECT_TRUE(IsUlid(id));
          EXPECT_LT(last, id);
          last = id;
        }
      }));
    }
  });
}

TEST(Ids, UuidsAndIds_AreFresh) {
  OnMachine([] {
    EXPECT_NE(NewUuid(), NewUuid());
    EXPECT_EQ(NewUuid().ToString()[14], '4');
    EXPECT_NE(NewId64(), 0u);
    EXPECT_NE(NewId64(), NewId64());
  });
}

TEST(Process, CurrentProcess_IsOneAndRuns) {
  OnMachine([] {
    const ProcessIdentity& self = CurrentProcess();
    EXPECT_TRUE(IsUlid(self.id));
    EXPECT_FALSE(self.host_boot_id.empty());
    EXPECT_GT(self.pid, 0);
    EXPECT_GT(self.start_time, 0);
    EXPECT_TRUE(IsRunning(self));
    EXPECT_FALSE(HostName().empty());
    Thread::Start("other", [&] { EXPECT_EQ(CurrentProcess(), self); }).Join();
  });
}

// S9: a pid that somebody else uses now is gone; another boot or host is for the heartbeat to
// judge.
TEST(Process, IsRunning_KnowsAReusedPidAndDoubtsOtherHosts) {
  OnMachine([] {
    ProcessIdentity reused = CurrentProcess();
    reused.start_time += 1;
    EXPECT_FALSE(IsRunning(reused));
    ProcessIdentity absent = CurrentProcess();
    absent.pid = 4'194'305;  // above the largest pid of Linux
    EXPECT_FALSE(IsRunning(absent));
    ProcessIdentity elsewhere = absent;
    elsewhere.host_boot_id = "another";
    EXPECT_TRUE(IsRunning(elsewhere));
    EXPECT_TRUE(IsRunning(ProcessIdentity{}));
  });
}

TEST(FailPoint, InTheLivingProcess_DoesNothing) {
  OnMachine([] {
    FailPoint("test.point");
    EXPECT_FALSE(InKilledProcess());
  });
}

}  // namespace
}  // namespace omnigraph::runtime
