#include "omnigraph/store/faulty_store.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "errors.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::store {
namespace {

constexpr uint64_t kMillion = 1'000'000;

bool IsChange(StoreOp op) {
  return op == StoreOp::kPut || op == StoreOp::kPutIfAbsent || op == StoreOp::kMakeDurable ||
         op == StoreOp::kDelete;
}

bool ReadsBytes(StoreOp op) {
  return op == StoreOp::kGet || op == StoreOp::kGetRanges || op == StoreOp::kGetTail;
}

bool Applies(StoreFault fault, StoreOp op) {
  switch (fault) {
    case StoreFault::kSlow:
    case StoreFault::kFailBefore:
    case StoreFault::kThrottled:
      return true;
    case StoreFault::kFailAfter:
    case StoreFault::kLateEffect:
      return IsChange(op);
    case StoreFault::kShortRead:
    case StoreFault::kFlippedBit:
      return ReadsBytes(op);
  }
  return false;
}

/// A small generator of our own, so that a plan means the same everywhere.
class Chance {
 public:
  explicit Chance(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    return mixed ^ (mixed >> 31);
  }

 private:
  uint64_t state_;
};

Status NoAnswer(StoreOp op, std::string_view path) {
  const Status status = Unavailable(
      "store.unavailable", "the store did not answer for " + std::string(path), ObjectPlace(path));
  return IsChange(op) ? WithUnknownEffect(status) : status;
}

Status Throttled(std::string_view path) {
  return Unavailable("store.throttled", "the store refused a call for " + std::string(path),
                     ObjectPlace(path));
}

std::shared_ptr<arrow::Buffer> CutShort(const std::shared_ptr<arrow::Buffer>& buffer,
                                        uint64_t chance) {
  if (buffer->size() == 0) {
    return buffer;
  }
  return arrow::SliceBuffer(buffer, 0,
                            static_cast<int64_t>(chance % static_cast<uint64_t>(buffer->size())));
}

std::shared_ptr<arrow::Buffer> FlipBit(const std::shared_ptr<arrow::Buffer>& buffer,
                                       uint64_t chance) {
  if (buffer->size() == 0) {
    return buffer;
  }
  std::string bytes = buffer->ToString();
  const uint64_t bit = chance % (bytes.size() * 8);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
  return arrow::Buffer::FromString(std::move(bytes));
}

}  // namespace

class FaultyStore::Impl {
 public:
  Impl(std::shared_ptr<ObjectStore> base, FaultPlan plan)
      : base_(std::move(base)), plan_(std::move(plan)), chance_(plan_.seed) {}

  ObjectStore& base() { return *base_; }

  /// What happens to one call.
  struct Verdict {
    std::optional<StoreFault> fault;
    uint64_t chance = 0;
    std::chrono::nanoseconds delay{0};
  };

  void SetPlan(FaultPlan plan) {
    runtime::MutexLock lock(mutex_);
    plan_ = std::move(plan);
    chance_ = Chance(plan_.seed);
  }

  void Arm(ArmedFault fault) {
    runtime::MutexLock lock(mutex_);
    armed_.push_back(std::move(fault));
  }

  size_t late_waiting() const {
    runtime::MutexLock lock(mutex_);
    return late_.size();
  }

  std::vector<FaultRecord> records() const {
    runtime::MutexLock lock(mutex_);
    return records_;
  }

  /// Count the call, let late effects that are due come, and decide about this one.
  Verdict Begin(StoreOp op, std::string_view path) {
    ApplyLate(/*all=*/false);
    Verdict verdict;
    {
      runtime::MutexLock lock(mutex_);
      verdict.fault = Decide(op, path);
      if (verdict.fault) {
        records_.push_back({op, *verdict.fault, std::string(path)});
        verdict.chance = chance_.Next();
        if (verdict.fault == StoreFault::kSlow) {
          const uint64_t longest = static_cast<uint64_t>(plan_.slow_max.count());
          verdict.delay =
              std::chrono::nanoseconds(1 + verdict.chance % std::max<uint64_t>(longest, 1));
        }
      }
    }
    if (verdict.delay.count() > 0) {
      runtime::SleepFor(verdict.delay);
    }
    return verdict;
  }

  /// Run one change under a verdict.
  Status Change(StoreOp op, std::string_view path, std::function<Status()> effect) {
    const Verdict verdict = Begin(op, path);
    if (!verdict.fault || verdict.fault == StoreFault::kSlow) {
      return effect();
    }
    switch (*verdict.fault) {
      case StoreFault::kThrottled:
        return Throttled(path);
      case StoreFault::kFailAfter:
        // Whatever the store said, the caller does not hear it.
        static_cast<void>(effect());
        return NoAnswer(op, path);
      case StoreFault::kLateEffect: {
        runtime::MutexLock lock(mutex_);
        const uint64_t wait = 1 + verdict.chance % std::max<uint32_t>(plan_.late_calls_max, 1);
        late_.push_back({calls_ + wait, std::move(effect)});
        return NoAnswer(op, path);
      }
      default:
        return NoAnswer(op, path);
    }
  }

  /// The failure of a read under a verdict, or OK.
  static Status ReadFailure(StoreOp op, std::string_view path, const Verdict& verdict) {
    if (verdict.fault == StoreFault::kThrottled) {
      return Throttled(path);
    }
    return verdict.fault == StoreFault::kFailBefore ? NoAnswer(op, path) : Status::OK();
  }

  static std::shared_ptr<arrow::Buffer> Damage(const std::shared_ptr<arrow::Buffer>& buffer,
                                               const Verdict& verdict) {
    if (verdict.fault == StoreFault::kShortRead) {
      return CutShort(buffer, verdict.chance);
    }
    return verdict.fault == StoreFault::kFlippedBit ? FlipBit(buffer, verdict.chance) : buffer;
  }

  void ApplyLate(bool all) {
    std::vector<std::function<Status()>> due;
    {
      runtime::MutexLock lock(mutex_);
      calls_ += all ? 0 : 1;
      for (auto at = late_.begin(); at != late_.end();) {
        if (all || at->due_at_call <= calls_) {
          due.push_back(std::move(at->effect));
          at = late_.erase(at);
        } else {
          ++at;
        }
      }
    }
    for (const std::function<Status()>& effect : due) {
      // Nobody waits for this answer any more.
      static_cast<void>(effect());
    }
  }

 private:
  struct Late {
    uint64_t due_at_call = 0;
    std::function<Status()> effect;
  };

  std::optional<StoreFault> Decide(StoreOp op, std::string_view path) OG_REQUIRES(mutex_) {
    for (auto at = armed_.begin(); at != armed_.end(); ++at) {
      if (at->op != op || path.find(at->path_contains) == std::string_view::npos) {
        continue;
      }
      if (at->skip > 0) {
        --at->skip;
        continue;
      }
      const StoreFault fault = at->fault;
      armed_.erase(at);
      return fault;
    }
    if (path.find(plan_.path_contains) == std::string_view::npos) {
      return std::nullopt;
    }
    const std::pair<StoreFault, uint32_t> chances[] = {
        {StoreFault::kSlow, plan_.slow_ppm},
        {StoreFault::kFailBefore, plan_.fail_before_ppm},
        {StoreFault::kFailAfter, plan_.fail_after_ppm},
        {StoreFault::kLateEffect, plan_.late_effect_ppm},
        {StoreFault::kThrottled, plan_.throttled_ppm},
        {StoreFault::kShortRead, plan_.short_read_ppm},
        {StoreFault::kFlippedBit, plan_.flipped_bit_ppm}};
    uint64_t draw = chance_.Next() % kMillion;
    for (const auto& [fault, ppm] : chances) {
      if (!Applies(fault, op)) {
        continue;
      }
      if (draw < ppm) {
        return fault;
      }
      draw -= ppm;
    }
    return std::nullopt;
  }

  const std::shared_ptr<ObjectStore> base_;
  mutable runtime::Mutex mutex_;
  FaultPlan plan_ OG_GUARDED_BY(mutex_);
  Chance chance_ OG_GUARDED_BY(mutex_);
  std::vector<ArmedFault> armed_ OG_GUARDED_BY(mutex_);
  std::deque<Late> late_ OG_GUARDED_BY(mutex_);
  std::vector<FaultRecord> records_ OG_GUARDED_BY(mutex_);
  uint64_t calls_ OG_GUARDED_BY(mutex_) = 0;
};

FaultyStore::FaultyStore(std::shared_ptr<ObjectStore> base, FaultPlan plan)
    : impl_(std::make_unique<Impl>(std::move(base), std::move(plan))) {}
FaultyStore::~FaultyStore() = default;

void FaultyStore::SetPlan(FaultPlan plan) {
  impl_->SetPlan(std::move(plan));
}
void FaultyStore::Arm(ArmedFault fault) {
  OG_CHECK(Applies(fault.fault, fault.op));
  impl_->Arm(std::move(fault));
}
void FaultyStore::ReleaseLate() {
  impl_->ApplyLate(/*all=*/true);
}
size_t FaultyStore::late_waiting() const {
  return impl_->late_waiting();
}
std::vector<FaultRecord> FaultyStore::records() const {
  return impl_->records();
}

Result<std::shared_ptr<arrow::Buffer>> FaultyStore::Get(std::string_view path) {
  const Impl::Verdict verdict = impl_->Begin(StoreOp::kGet, path);
  OG_RETURN_NOT_OK(Impl::ReadFailure(StoreOp::kGet, path, verdict));
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> buffer, impl_->base().Get(path));
  return Impl::Damage(buffer, verdict);
}

Result<std::vector<std::shared_ptr<arrow::Buffer>>> FaultyStore::GetRanges(
    std::string_view path, std::span<const ByteRange> ranges) {
  const Impl::Verdict verdict = impl_->Begin(StoreOp::kGetRanges, path);
  OG_RETURN_NOT_OK(Impl::ReadFailure(StoreOp::kGetRanges, path, verdict));
  OG_ASSIGN_OR_RETURN(auto buffers, impl_->base().GetRanges(path, ranges));
  if (!buffers.empty()) {
    std::shared_ptr<arrow::Buffer>& victim = buffers[(verdict.chance >> 32) % buffers.size()];
    victim = Impl::Damage(victim, verdict);
  }
  return buffers;
}

Result<ObjectTail> FaultyStore::GetTail(std::string_view path, uint64_t max_bytes) {
  const Impl::Verdict verdict = impl_->Begin(StoreOp::kGetTail, path);
  OG_RETURN_NOT_OK(Impl::ReadFailure(StoreOp::kGetTail, path, verdict));
  OG_ASSIGN_OR_RETURN(ObjectTail tail, impl_->base().GetTail(path, max_bytes));
  tail.bytes = Impl::Damage(tail.bytes, verdict);
  return tail;
}

Result<ObjectInfo> FaultyStore::Head(std::string_view path) {
  const Impl::Verdict verdict = impl_->Begin(StoreOp::kHead, path);
  OG_RETURN_NOT_OK(Impl::ReadFailure(StoreOp::kHead, path, verdict));
  return impl_->base().Head(path);
}

Status FaultyStore::Put(std::string_view path, const Bytes& bytes) {
  return impl_->Change(StoreOp::kPut, path, [this, name = std::string(path), bytes] {
    return impl_->base().Put(name, bytes);
  });
}

Status FaultyStore::PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) {
  return impl_->Change(StoreOp::kPutIfAbsent, path,
                       [this, name = std::string(path), bytes, strength] {
                         return impl_->base().PutIfAbsent(name, bytes, strength);
                       });
}

Status FaultyStore::MakeDurable(std::string_view path) {
  return impl_->Change(StoreOp::kMakeDurable, path, [this, name = std::string(path)] {
    return impl_->base().MakeDurable(name);
  });
}

Result<ListPage> FaultyStore::List(std::string_view prefix, const ListOptions& options) {
  const Impl::Verdict verdict = impl_->Begin(StoreOp::kList, prefix);
  OG_RETURN_NOT_OK(Impl::ReadFailure(StoreOp::kList, prefix, verdict));
  return impl_->base().List(prefix, options);
}

Status FaultyStore::Delete(std::string_view path, DeleteOrder order) {
  return impl_->Change(StoreOp::kDelete, path, [this, order, name = std::string(path)] {
    return impl_->base().Delete(name, order);
  });
}

}  // namespace omnigraph::store
