#include "ledger.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace omnigraph::graph {
namespace {

constexpr size_t kErrorsKept = 100;

}  // namespace

void LatencyHistogram::Add(runtime::Duration latency, int64_t rows) {
  const uint64_t ns = static_cast<uint64_t>(std::max<int64_t>(latency.count(), 1));
  const int width = static_cast<int>(std::bit_width(ns));
  const uint64_t sub = width > 5 ? (ns >> (width - 5)) & 15 : ns & 15;
  const size_t bucket = static_cast<size_t>(width) * kSubBuckets + sub;
  rows_[std::min(bucket, kBuckets - 1)] += rows;
  sum_ += rows;
}

double LatencyHistogram::Quantile(double share) const {
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += rows_[bucket];
    if (seen > 0 && static_cast<double>(seen) >= share * static_cast<double>(sum_)) {
      const int width = static_cast<int>(bucket / kSubBuckets);
      const uint64_t sub = bucket % kSubBuckets;
      const double ns = width > 5 ? static_cast<double>((16 + sub + 1) << (width - 5))
                                  : static_cast<double>(sub + 1);
      return ns / 1e6;
    }
  }
  return 0;
}

void Ledger::Refused(const Refusal& refusal) {
  {
    runtime::MutexLock lock(mutex_);
    ++summary_.refused;
    ++summary_.refused_by_code[refusal.code];
    if (summary_.errors.size() < kErrorsKept) {
      summary_.errors.push_back(refusal);
    }
  }
  if (options_.on_refused) {
    options_.on_refused(refusal);
  }
}

void Ledger::Lines(int64_t lines, int64_t blank) {
  runtime::MutexLock lock(mutex_);
  summary_.lines = lines;
  summary_.blank = blank;
}

void Ledger::Submitted() {
  runtime::MutexLock lock(mutex_);
  ++in_flight_;
}

void Ledger::Count(const AckEvent& event) {
  switch (event.outcome) {
    case AckEvent::Outcome::kAcked:
      summary_.acked += event.rows;
      latencies_.Add(event.latency, event.rows);
      break;
    case AckEvent::Outcome::kFailed:
      summary_.failed += event.rows;
      break;
    case AckEvent::Outcome::kUnknown:
      summary_.unknown += event.rows;
      break;
  }
}

void Ledger::Settled(const AckEvent& event) {
  {
    runtime::MutexLock lock(mutex_);
    Count(event);
  }
  if (options_.on_ack) {
    options_.on_ack(event);
  }
  std::function<void()> done;
  {
    runtime::MutexLock lock(mutex_);
    if (--in_flight_ == 0) {
      done = std::move(done_);
      done_ = nullptr;
      settled_.NotifyAll();
    }
  }
  if (done) {
    done();
  }
}

void Ledger::Failed(const AckEvent& event) {
  {
    runtime::MutexLock lock(mutex_);
    Count(event);
  }
  if (options_.on_ack) {
    options_.on_ack(event);
  }
}

void Ledger::WaitSettled() {
  runtime::MutexLock lock(mutex_);
  while (in_flight_ > 0) {
    settled_.Wait(mutex_);
  }
}

void Ledger::WhenSettled(std::function<void()> done) {
  {
    runtime::MutexLock lock(mutex_);
    if (in_flight_ > 0) {
      done_ = std::move(done);
      return;
    }
  }
  done();
}

SessionSummary Ledger::Summary() const {
  runtime::MutexLock lock(mutex_);
  SessionSummary out = summary_;
  out.ack_p50_ms = latencies_.Quantile(0.50);
  out.ack_p99_ms = latencies_.Quantile(0.99);
  return out;
}

bool Ledger::any_refused() const {
  runtime::MutexLock lock(mutex_);
  return summary_.refused > 0;
}

}  // namespace omnigraph::graph
