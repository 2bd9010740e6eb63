#include "backlog.h"

#include <fmt/format.h>

#include <algorithm>

namespace omnigraph::graph {
namespace {

/// How long a wait sleeps at most before it looks again.
constexpr runtime::Duration kLook = std::chrono::seconds(1);

}  // namespace

/// A request larger than a cap passes when it is alone: nothing that fits an entry is refused for
/// ever.
bool Backlog::Crowded(size_t bytes) const {
  return in_flight_ > 0 && in_flight_ + bytes > limits_.in_flight_bytes_max;
}

bool Backlog::Behind(size_t bytes) const {
  const bool memory =
      folding_works_ && in_memory_ > 0 && in_memory_ + bytes > limits_.pending_bytes_max;
  const bool log = in_log_ > 0 && in_log_ + bytes > limits_.backlog_bytes_max;
  return memory || log;
}

bool Backlog::Overdue() const {
  return rows_ > 0 && failing_since_.has_value() &&
         runtime::MonotonicNow() - *failing_since_ > limits_.backlog_age_max;
}

Status Backlog::Reserve(size_t bytes) {
  const runtime::Duration deadline = runtime::MonotonicNow() + limits_.wait_max;
  runtime::MutexLock lock(mutex_);
  while (!stopped_ && (Crowded(bytes) || Behind(bytes) || Overdue())) {
    if (!asked_ && Behind(bytes)) {  // a crowd waits for its puts: no fold helps it
      asked_ = true;
      due_.NotifyOne();
    }
    const runtime::Duration now = runtime::MonotonicNow();
    if (now >= deadline && Overdue()) {
      return Exhausted(
          "ingest.backpressure",
          fmt::format(
              "every fold has failed for {} s, so nothing more is taken; the "
              "status says why: send the same rows again when it is cured",
              std::chrono::duration_cast<std::chrono::seconds>(now - *failing_since_).count()));
    }
    if (now >= deadline) {
      return Exhausted("ingest.backpressure",
                       fmt::format("{} bytes wait for their put and {} for their fold: send the "
                                   "same rows again, later",
                                   in_flight_, in_log_));
    }
    room_.WaitFor(mutex_, std::min(deadline - now, kLook));
  }
  if (stopped_) {
    return Unavailable("ingest.shutdown",
                       "this process is giving the stream up; send the rows that were not acked "
                       "again, later or elsewhere");
  }
  in_flight_ += bytes;
  return Status::OK();
}

void Backlog::Add(size_t bytes) {
  runtime::MutexLock lock(mutex_);
  in_flight_ += bytes;
}

void Backlog::Release(size_t bytes) {
  runtime::MutexLock lock(mutex_);
  in_flight_ -= std::min(bytes, in_flight_);
  room_.NotifyAll();
}

void Backlog::EntryAdded(int64_t rows, size_t bytes, bool in_memory) {
  runtime::MutexLock lock(mutex_);
  rows_ += rows;
  in_log_ += bytes;
  in_memory_ += in_memory ? bytes : 0;
  if (rows > 0 && !oldest_.has_value()) {
    oldest_ = runtime::MonotonicNow();
    due_.NotifyOne();
  }
  if (Due()) {
    due_.NotifyOne();
  }
}

void Backlog::EntryGone(int64_t rows, size_t bytes, bool in_memory) {
  runtime::MutexLock lock(mutex_);
  rows_ -= rows;
  in_log_ -= std::min(bytes, in_log_);
  in_memory_ -= in_memory ? std::min(bytes, in_memory_) : 0;
  room_.NotifyAll();
}

bool Backlog::MayKeep(size_t bytes) const {
  runtime::MutexLock lock(mutex_);
  // What was admitted below the cap may overshoot it by what was in flight.
  return in_memory_ + bytes <= limits_.pending_bytes_max + limits_.in_flight_bytes_max;
}

void Backlog::SetFolding(bool works) {
  runtime::MutexLock lock(mutex_);
  folding_works_ = works;
  room_.NotifyAll();
}

void Backlog::NoteFold(bool succeeded) {
  runtime::MutexLock lock(mutex_);
  if (succeeded) {
    failing_since_.reset();
  } else if (!failing_since_.has_value()) {
    failing_since_ = runtime::MonotonicNow();
  }
  room_.NotifyAll();
}

bool Backlog::Due() const {
  return asked_ || rows_ >= limits_.fold_rows || in_memory_ >= limits_.fold_bytes;
}

bool Backlog::WaitForFold(runtime::Duration not_before) {
  runtime::MutexLock lock(mutex_);
  while (!stopped_) {
    const runtime::Duration now = runtime::MonotonicNow();
    if (now < not_before) {
      due_.WaitFor(mutex_, not_before - now);
      continue;
    }
    if (Due() || (oldest_.has_value() && now >= *oldest_ + limits_.fold_age)) {
      asked_ = false;
      return true;
    }
    if (oldest_.has_value()) {
      due_.WaitFor(mutex_, *oldest_ + limits_.fold_age - now);
    } else {
      due_.Wait(mutex_);
    }
  }
  return false;
}

void Backlog::AskForFold() {
  runtime::MutexLock lock(mutex_);
  asked_ = true;
  due_.NotifyOne();
}

void Backlog::FoldDone() {
  runtime::MutexLock lock(mutex_);
  oldest_ = rows_ > 0 ? std::optional(runtime::MonotonicNow()) : std::nullopt;
}

void Backlog::Stop() {
  runtime::MutexLock lock(mutex_);
  stopped_ = true;
  due_.NotifyAll();
  room_.NotifyAll();
}

size_t Backlog::pending_bytes() const {
  runtime::MutexLock lock(mutex_);
  return in_memory_;
}

}  // namespace omnigraph::graph
