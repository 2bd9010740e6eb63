/// \file
/// What stands between admission and the fold, in numbers: the gate at which clients are slowed,
/// then refused (G9), and the signals that start a fold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// Caps and triggers, as in IngestOptions.
struct BacklogLimits {
  size_t in_flight_bytes_max = 0;
  size_t pending_bytes_max = 0;
  size_t backlog_bytes_max = 0;
  runtime::Duration backlog_age_max{0};
  runtime::Duration wait_max{0};
  int64_t fold_rows = 0;
  size_t fold_bytes = 0;
  runtime::Duration fold_age{0};
};

/// Thread-safe.
class Backlog {
 public:
  explicit Backlog(const BacklogLimits& limits) : limits_(limits) {}

  /// Wait until `bytes` more may be admitted, and reserve them.
  /// Errors: kExhausted (`ingest.backpressure`) after wait_max; kUnavailable (`ingest.shutdown`).
  Status Reserve(size_t bytes);
  /// Rows that a put will settle: they count until Release().
  void Add(size_t bytes);
  void Release(size_t bytes);

  /// An entry stands in the log; `in_memory` says whether its rows are kept. True: they may be.
  void EntryAdded(int64_t rows, size_t bytes, bool in_memory);
  void EntryGone(int64_t rows, size_t bytes, bool in_memory);
  /// Whether rows of another entry may stay in memory (W3).
  bool MayKeep(size_t bytes) const;

  /// Folds are failing: admission does not wait for memory that no fold frees.
  void SetFolding(bool works);

  /// A fold succeeded or failed. Where folds fail for longer than backlog_age_max while rows are
  /// pending, nothing more is admitted: the backlog would only grow older.
  void NoteFold(bool succeeded);

  /// Block until a fold is due: by rows, bytes or age of the oldest entry, or asked for. False:
  /// stopped.
  bool WaitForFold(runtime::Duration not_before);
  void AskForFold();
  /// The age of the oldest entry counts from here on.
  void FoldDone();
  void Stop();

  size_t pending_bytes() const;

 private:
  /// Too much waits for its put.
  bool Crowded(size_t bytes) const OG_REQUIRES(mutex_);
  /// Too much waits for its fold.
  bool Behind(size_t bytes) const OG_REQUIRES(mutex_);
  /// Folds have failed for too long.
  bool Overdue() const OG_REQUIRES(mutex_);
  bool Due() const OG_REQUIRES(mutex_);

  const BacklogLimits limits_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar room_;
  runtime::CondVar due_;
  size_t in_flight_ OG_GUARDED_BY(mutex_) = 0;
  size_t in_memory_ OG_GUARDED_BY(mutex_) = 0;
  size_t in_log_ OG_GUARDED_BY(mutex_) = 0;  ///< bytes of entries that are not folded
  int64_t rows_ OG_GUARDED_BY(mutex_) = 0;
  std::optional<runtime::Duration> oldest_ OG_GUARDED_BY(mutex_);
  /// The first failure since the last fold that succeeded.
  std::optional<runtime::Duration> failing_since_ OG_GUARDED_BY(mutex_);
  bool folding_works_ OG_GUARDED_BY(mutex_) = true;
  bool asked_ OG_GUARDED_BY(mutex_) = false;
  bool stopped_ OG_GUARDED_BY(mutex_) = false;
};

}  // namespace omnigraph::graph
