/// \file
/// A session's account: what was sent, refused, acked, failed or is unknown, and how long acks
/// took. Outlives the session while puts of its rows are in flight.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// Latencies weighted by rows, in buckets of about 6 percent. Thread-compatible.
class LatencyHistogram {
 public:
  void Add(runtime::Duration latency, int64_t rows);
  /// Milliseconds under which `share` of the rows stayed; 0 without rows.
  double Quantile(double share) const;

 private:
  static constexpr int kSubBuckets = 16;
  static constexpr size_t kBuckets = 64 * kSubBuckets;
  std::array<int64_t, kBuckets> rows_{};
  int64_t sum_ = 0;
};

/// Thread-safe.
class Ledger {
 public:
  explicit Ledger(SessionOptions options) : options_(std::move(options)) {}

  const SessionOptions& options() const { return options_; }

  void Refused(const Refusal& refusal);
  void Lines(int64_t lines, int64_t blank);
  /// A group of rows was handed to a log.
  void Submitted();
  /// And is settled; calls on_ack.
  void Settled(const AckEvent& event);
  /// Rows that never reached a log.
  void Failed(const AckEvent& event);

  /// Wait until everything submitted is settled.
  void WaitSettled();
  /// Call `done` once everything submitted is settled: now, or from the thread that settles the
  /// last group.
  void WhenSettled(std::function<void()> done);
  SessionSummary Summary() const;
  bool any_refused() const;

 private:
  void Count(const AckEvent& event) OG_REQUIRES(mutex_);

  const SessionOptions options_;
  mutable runtime::Mutex mutex_;
  runtime::CondVar settled_;
  SessionSummary summary_ OG_GUARDED_BY(mutex_);
  LatencyHistogram latencies_ OG_GUARDED_BY(mutex_);
  int64_t in_flight_ OG_GUARDED_BY(mutex_) = 0;  ///< groups
  std::function<void()> done_ OG_GUARDED_BY(mutex_);
};

}  // namespace omnigraph::graph
