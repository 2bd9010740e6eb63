/// \file
/// Adaptive group commit: many callers, one put at a time. Who holds the turn writes the next
/// entry; the turn passes from leader to leader, so that a lone caller writes in its own thread and
/// a crowd shares each sync. Knows nothing of epochs or stores: an EntrySink writes.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/thread.h"

namespace omnigraph::lance {

/// How the put of one entry ended.
struct EntryOutcome {
  Status status;        ///< OK: `entry` stands in the log
  bool retire = false;  ///< nothing may be written any more
  LogEntry entry;
};

/// Rows that go into one entry.
struct EntryRows {
  std::shared_ptr<arrow::RecordBatch> batch;
  EntryMark mark;
};

/// Writes entries, one call at a time.
using EntrySink = std::function<EntryOutcome(EntryRows)>;

struct GroupCommitOptions {
  int64_t queue_bytes_max;
  int64_t entry_rows_max;
  int64_t entry_bytes_max;
  Uuid shard;
  std::function<void(LogEntry)> on_entry;
};

/// The queue in front of one sink. Thread-safe.
///
/// INVARIANT: the queue is not empty only while somebody has the turn; the turn's holder alone
/// takes rows from it. Outcomes are delivered in log order, one entry at a time, with no lock held.
class GroupCommit {
 public:
  GroupCommit(GroupCommitOptions options, EntrySink sink);
  /// Cancels what is queued, waits for the entry in flight.
  ~GroupCommit();

  Status Append(AppendRequest request);
  Result<Receipt> AppendAndWait(AppendRequest request);
  /// Wait until everything queued so far is delivered.
  void WaitDelivered();
  /// Refuse new rows with `reason`; what is queued fails with it. The first reason stays.
  void Retire(const Status& reason);
  /// Refuse new rows with `reason`; what is queued is still written. Then end the thread.
  void Stop(const Status& reason);

  Status status() const;
  int64_t queued_bytes() const;
  int64_t queued_rows() const;

 private:
  // A caller that blocks. Lives on its stack: gone once it has its result.
  struct Waiter {
    runtime::Mutex mutex;
    runtime::CondVar changed;
    bool has_turn = false;
    std::optional<Result<Receipt>> result;
  };
  struct Queued {
    AppendRequest request;
    int64_t bytes = 0;
    Waiter* waiter = nullptr;
  };
  struct Delivery {
    std::vector<Queued> group;
    EntryOutcome outcome;
  };

  Status Enqueue(AppendRequest request, Waiter* waiter, bool* got_turn);
  void TakeTurn();
  std::vector<Queued> TakeGroup() OG_REQUIRES(mutex_);
  std::vector<Queued> TakeAll() OG_REQUIRES(mutex_);
  Waiter* PassTurn() OG_REQUIRES(mutex_);
  EntryOutcome Write(const std::vector<Queued>& group);
  void DeliverAll();
  void Deliver(Delivery& delivery);
  void RunThread();
  void JoinThread();

  const GroupCommitOptions options_;
  const EntrySink sink_;

  mutable runtime::Mutex mutex_;
  runtime::CondVar thread_wake_;
  runtime::CondVar delivered_changed_;
  std::deque<Queued> queue_ OG_GUARDED_BY(mutex_);
  std::deque<Delivery> deliveries_ OG_GUARDED_BY(mutex_);
  Status refuse_ OG_GUARDED_BY(mutex_);   // not OK: no new rows
  Status retired_ OG_GUARDED_BY(mutex_);  // not OK: nothing is written any more
  bool turn_taken_ OG_GUARDED_BY(mutex_) = false;
  bool thread_has_turn_ OG_GUARDED_BY(mutex_) = false;
  bool thread_exit_ OG_GUARDED_BY(mutex_) = false;
  bool delivering_ OG_GUARDED_BY(mutex_) = false;
  int64_t queued_bytes_ OG_GUARDED_BY(mutex_) = 0;
  int64_t queued_rows_ OG_GUARDED_BY(mutex_) = 0;
  uint64_t enqueued_ OG_GUARDED_BY(mutex_) = 0;   // requests, ever
  uint64_t delivered_ OG_GUARDED_BY(mutex_) = 0;  // of them
  int delivered_waiters_ OG_GUARDED_BY(mutex_) = 0;
  runtime::Thread thread_;
};

}  // namespace omnigraph::lance
