#include "group_commit.h"

#include <arrow/memory_pool.h>
#include <arrow/util/utf8.h>
#include <fmt/format.h>

#include <numeric>

namespace omnigraph::lance {
namespace {

int64_t RowsOf(const std::vector<EntryRun>& runs) {
  return std::accumulate(runs.begin(), runs.end(), int64_t{0},
                         [](int64_t sum, const EntryRun& run) { return sum + run.rows; });
}

// What rows are told that no put was tried for, because the one before them retired the writer for
// `why`: their effect is known.
Status NeverPut(const Status& why) {
  return WithContext(WithKnownEffect(why), "append to the log: its writer retired before");
}

bool SameSchema(const AppendRequest& a, const AppendRequest& b) {
  return a.schema_hash == b.schema_hash &&
         (a.batch->schema() == b.batch->schema() ||
          a.batch->schema()->Equals(*b.batch->schema(), /*check_metadata=*/true));
}

}  // namespace

GroupCommit::GroupCommit(GroupCommitOptions options, EntrySink sink)
    : options_(std::move(options)), sink_(std::move(sink)) {
  thread_ = runtime::Thread::Start("shard-log", [this] { RunThread(); });
}

GroupCommit::~GroupCommit() {
  Retire(Cancelled("memwal.stopped", "append to the log: its writer was dropped", {}));
  JoinThread();
}

Status GroupCommit::status() const {
  runtime::MutexLock lock(mutex_);
  return refuse_;
}

int64_t GroupCommit::queued_bytes() const {
  runtime::MutexLock lock(mutex_);
  return queued_bytes_;
}

int64_t GroupCommit::queued_rows() const {
  runtime::MutexLock lock(mutex_);
  return queued_rows_;
}

Status GroupCommit::Enqueue(AppendRequest request, Waiter* waiter, bool* got_turn) {
  const int64_t bytes = EstimateEntryBytes(*request.batch);
  const int64_t rows = request.batch->num_rows();
  for (const EntryRun& run : request.runs) {
    if (!arrow::util::ValidateUTF8(run.actor) || !arrow::util::ValidateUTF8(run.producer)) {
      return Invalid("memwal.batch", "append to the log: its actor or producer is not UTF-8");
    }
  }
  if (rows < 1 || rows > options_.entry_rows_max ||
      (rows > 1 && bytes > options_.entry_bytes_max) || RowsOf(request.runs) != rows) {
    return Invalid(
        "memwal.batch",
        fmt::format(
            "append {} rows of {} bytes, marked as {} rows: an entry holds 1 to {} rows and {} "
            "bytes, and its mark counts them",
            rows, bytes, RowsOf(request.runs), options_.entry_rows_max, options_.entry_bytes_max));
  }
  runtime::MutexLock lock(mutex_);
  OG_RETURN_NOT_OK(refuse_);
  if (queued_bytes_ > 0 && queued_bytes_ + bytes > options_.queue_bytes_max) {
    return Exhausted("memwal.queue_full",
                     fmt::format("append {} bytes: {} wait for the log already, of at most {}",
                                 bytes, queued_bytes_, options_.queue_bytes_max));
  }
  queue_.push_back({std::move(request), bytes, waiter});
  queued_bytes_ += bytes;
  queued_rows_ += rows;
  ++enqueued_;
  *got_turn = !turn_taken_;
  turn_taken_ = true;
  if (*got_turn && waiter == nullptr) {
    thread_has_turn_ = true;
    thread_wake_.NotifyOne();
  }
  return Status::OK();
}

Status GroupCommit::Append(AppendRequest request) {
  bool got_turn = false;
  return Enqueue(std::move(request), nullptr, &got_turn);
}

Result<Receipt> GroupCommit::AppendAndWait(AppendRequest request) {
  Waiter waiter;
  bool has_turn = false;
  OG_RETURN_NOT_OK(Enqueue(std::move(request), &waiter, &has_turn));
  while (true) {
    if (has_turn) {
      TakeTurn();
    }
    runtime::MutexLock lock(waiter.mutex);
    while (!waiter.result.has_value() && !waiter.has_turn) {
      waiter.changed.Wait(waiter.mutex);
    }
    if (waiter.result.has_value()) {
      return *std::move(waiter.result);
    }
    has_turn = true;
    waiter.has_turn = false;
  }
}

// Write one entry from the head of the queue, pass the turn on, then tell everybody.
void GroupCommit::TakeTurn() {
  std::vector<Queued> group;
  Status retired;
  {
    runtime::MutexLock lock(mutex_);
    retired = retired_;
    group = retired.ok() ? TakeGroup() : TakeAll();
  }
  Delivery delivery{std::move(group), {}};
  if (retired.ok()) {
    delivery.outcome = Write(delivery.group);
  } else {
    delivery.outcome.status = retired;
  }
  Waiter* next = nullptr;
  {
    runtime::MutexLock lock(mutex_);
    if (delivery.outcome.retire && retired_.ok()) {
      retired_ = NeverPut(delivery.outcome.status);
      refuse_ = refuse_.ok() ? retired_ : refuse_;
    }
    deliveries_.push_back(std::move(delivery));
    next = PassTurn();
  }
  if (next != nullptr) {
    runtime::MutexLock lock(next->mutex);
    next->has_turn = true;
    next->changed.NotifyOne();
  }
  DeliverAll();
}

std::vector<GroupCommit::Queued> GroupCommit::TakeGroup() {
  std::vector<Queued> group;
  int64_t rows = 0;
  int64_t bytes = 0;
  while (!queue_.empty()) {
    Queued& head = queue_.front();
    const int64_t head_rows = head.request.batch->num_rows();
    if (!group.empty() && (rows + head_rows > options_.entry_rows_max ||
                           bytes + head.bytes > options_.entry_bytes_max ||
                           !SameSchema(group.front().request, head.request))) {
      break;
    }
    rows += head_rows;
    bytes += head.bytes;
    group.push_back(std::move(head));
    queue_.pop_front();
  }
  return group;
}

std::vector<GroupCommit::Queued> GroupCommit::TakeAll() {
  std::vector<Queued> all(std::make_move_iterator(queue_.begin()),
                          std::make_move_iterator(queue_.end()));
  queue_.clear();
  return all;
}

// Whose turn it is now: nobody's, a blocked caller's (returned), or the thread's.
GroupCommit::Waiter* GroupCommit::PassTurn() {
  if (queue_.empty()) {
    turn_taken_ = false;
    return nullptr;
  }
  if (queue_.front().waiter != nullptr) {
    return queue_.front().waiter;
  }
  thread_has_turn_ = true;
  thread_wake_.NotifyOne();
  return nullptr;
}

EntryOutcome GroupCommit::Write(const std::vector<Queued>& group) {
  EntryRows rows;
  rows.mark.schema = group.front().request.schema_hash;
  arrow::RecordBatchVector batches;
  for (const Queued& queued : group) {
    batches.push_back(queued.request.batch);
    rows.mark.runs.insert(rows.mark.runs.end(), queued.request.runs.begin(),
                          queued.request.runs.end());
  }
  if (batches.size() == 1) {
    rows.batch = batches.front();
  } else {
    Result<std::shared_ptr<arrow::RecordBatch>> all =
        arrow::ConcatenateRecordBatches(batches, arrow::default_memory_pool());
    if (!all.ok()) {
      return {.status = all.status(), .retire = false, .entry = {}};
    }
    rows.batch = *std::move(all);
  }
  return sink_(std::move(rows));
}

// Deliver in log order; whoever comes while another delivers leaves its part to that one.
void GroupCommit::DeliverAll() {
  while (true) {
    Delivery delivery;
    {
      runtime::MutexLock lock(mutex_);
      if (delivering_ || deliveries_.empty()) {
        return;
      }
      delivering_ = true;
      delivery = std::move(deliveries_.front());
      deliveries_.pop_front();
    }
    Deliver(delivery);
    runtime::MutexLock lock(mutex_);
    delivering_ = false;
    for (const Queued& queued : delivery.group) {
      queued_bytes_ -= queued.bytes;
      queued_rows_ -= queued.request.batch->num_rows();
    }
    delivered_ += delivery.group.size();
    if (delivered_waiters_ > 0) {
      delivered_changed_.NotifyAll();
    }
  }
}

void GroupCommit::Deliver(Delivery& delivery) {
  const EntryOutcome& outcome = delivery.outcome;
  const uint64_t epoch = outcome.entry.epoch;
  const uint64_t position = outcome.entry.position;
  if (outcome.status.ok() && options_.on_entry) {
    options_.on_entry(std::move(delivery.outcome.entry));
  }
  int64_t first_row = 0;
  for (const Queued& queued : delivery.group) {
    const int64_t rows = queued.request.batch->num_rows();
    const Receipt receipt{options_.shard, epoch, position, first_row, rows};
    const Result<Receipt> result =
        outcome.status.ok() ? Result<Receipt>(receipt) : Result<Receipt>(outcome.status);
    first_row += rows;
    if (queued.request.on_settled) {
      queued.request.on_settled(result);
    }
    if (queued.waiter != nullptr) {
      runtime::MutexLock lock(queued.waiter->mutex);
      queued.waiter->result = result;
      queued.waiter->changed.NotifyOne();
    }
  }
}

void GroupCommit::WaitDelivered() {
  runtime::MutexLock lock(mutex_);
  const uint64_t ticket = enqueued_;
  ++delivered_waiters_;
  while (delivered_ < ticket) {
    delivered_changed_.Wait(mutex_);
  }
  --delivered_waiters_;
}

void GroupCommit::Retire(const Status& reason) {
  runtime::MutexLock lock(mutex_);
  retired_ = retired_.ok() ? reason : retired_;
  refuse_ = refuse_.ok() ? retired_ : refuse_;
}

void GroupCommit::Stop(const Status& reason) {
  {
    runtime::MutexLock lock(mutex_);
    refuse_ = refuse_.ok() ? reason : refuse_;
  }
  WaitDelivered();
  JoinThread();
}

// The thread leaves once it does not hold the turn; with nobody else inside, the queue is empty
// then.
void GroupCommit::JoinThread() {
  {
    runtime::MutexLock lock(mutex_);
    if (thread_exit_) {
      return;
    }
    thread_exit_ = true;
    thread_wake_.NotifyOne();
  }
  thread_.Join();
}

void GroupCommit::RunThread() {
  while (true) {
    {
      runtime::MutexLock lock(mutex_);
      while (!thread_has_turn_ && !thread_exit_) {
        thread_wake_.Wait(mutex_);
      }
      if (!thread_has_turn_) {
        return;
      }
      thread_has_turn_ = false;
    }
    TakeTurn();
  }
}

}  // namespace omnigraph::lance
