#include "omnigraph/store/counting_store.h"

#include <deque>
#include <utility>

#include "omnigraph/runtime/mutex.h"

namespace omnigraph::store {
namespace {

struct NamedOp {
  const char* name;
  OpCount StoreCounts::* member;
};

constexpr NamedOp kGet{"get", &StoreCounts::get};
constexpr NamedOp kGetRanges{"get_ranges", &StoreCounts::get_ranges};
constexpr NamedOp kGetTail{"get_tail", &StoreCounts::get_tail};
constexpr NamedOp kHead{"head", &StoreCounts::head};
constexpr NamedOp kPut{"put", &StoreCounts::put};
constexpr NamedOp kPutIfAbsent{"put_if_absent", &StoreCounts::put_if_absent};
constexpr NamedOp kList{"list", &StoreCounts::list};
constexpr NamedOp kDelete{"delete", &StoreCounts::erase};
constexpr NamedOp kMakeDurable{"make_durable", &StoreCounts::make_durable};
constexpr const NamedOp* kOps[] = {&kGet,         &kGetRanges,   &kGetTail, &kHead,  &kPut,
                                   &kPutIfAbsent, &kMakeDurable, &kList,    &kDelete};

}  // namespace

uint64_t StoreCounts::calls() const {
  uint64_t sum = 0;
  for (const NamedOp* op : kOps) {
    sum += (this->*op->member).calls;
  }
  return sum;
}

std::string StoreCounts::ToString() const {
  std::string text;
  for (const NamedOp* op : kOps) {
    const OpCount& count = this->*op->member;
    if (count.calls == 0) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string(op->name) + " " + std::to_string(count.calls);
    if (count.bytes > 0) {
      text += " (" + std::to_string(count.bytes) + " B)";
    }
    if (count.failures > 0) {
      text += " [" + std::to_string(count.failures) + " failed]";
    }
  }
  return text.empty() ? "nothing" : text;
}

class CountingStore::Impl {
 public:
  explicit Impl(std::shared_ptr<ObjectStore> base) : base_(std::move(base)) {}

  ObjectStore& base() { return *base_; }

  StoreCounts counts() const {
    runtime::MutexLock lock(mutex_);
    return counts_;
  }

  StoreCounts Reset() {
    runtime::MutexLock lock(mutex_);
    return std::exchange(counts_, StoreCounts{});
  }

  void KeepTrace(size_t limit) {
    runtime::MutexLock lock(mutex_);
    trace_limit_ = limit;
    trace_.clear();
  }

  std::vector<StoreCall> TakeTrace() {
    runtime::MutexLock lock(mutex_);
    std::vector<StoreCall> calls(trace_.begin(), trace_.end());
    trace_.clear();
    return calls;
  }

  void Note(const NamedOp& op, std::string_view path, uint64_t bytes, uint64_t items, bool ok) {
    runtime::MutexLock lock(mutex_);
    OpCount& count = counts_.*op.member;
    ++count.calls;
    count.failures += ok ? 0 : 1;
    count.bytes += bytes;
    count.items += items;
    if (trace_limit_ == 0) {
      return;
    }
    if (trace_.size() == trace_limit_) {
      trace_.pop_front();
    }
    trace_.push_back(StoreCall{op.name, std::string(path), bytes, ok});
  }

 private:
  const std::shared_ptr<ObjectStore> base_;
  mutable runtime::Mutex mutex_;
  StoreCounts counts_ OG_GUARDED_BY(mutex_);
  size_t trace_limit_ OG_GUARDED_BY(mutex_) = 0;
  std::deque<StoreCall> trace_ OG_GUARDED_BY(mutex_);
};

CountingStore::CountingStore(std::shared_ptr<ObjectStore> base)
    : impl_(std::make_unique<Impl>(std::move(base))) {}
CountingStore::~CountingStore() = default;

StoreCounts CountingStore::counts() const {
  return impl_->counts();
}
StoreCounts CountingStore::Reset() {
  return impl_->Reset();
}
void CountingStore::KeepTrace(size_t limit) {
  impl_->KeepTrace(limit);
}
std::vector<StoreCall> CountingStore::TakeTrace() {
  return impl_->TakeTrace();
}

Result<std::shared_ptr<arrow::Buffer>> CountingStore::Get(std::string_view path) {
  auto result = impl_->base().Get(path);
  const uint64_t bytes = result.ok() ? static_cast<uint64_t>((*result)->size()) : 0;
  impl_->Note(kGet, path, bytes, 1, result.ok());
  return result;
}

Result<std::vector<std::shared_ptr<arrow::Buffer>>> CountingStore::GetRanges(
    std::string_view path, std::span<const ByteRange> ranges) {
  auto result = impl_->base().GetRanges(path, ranges);
  const uint64_t bytes = result.ok() ? SizeOf(*result) : 0;
  impl_->Note(kGetRanges, path, bytes, ranges.size(), result.ok());
  return result;
}

Result<ObjectTail> CountingStore::GetTail(std::string_view path, uint64_t max_bytes) {
  auto result = impl_->base().GetTail(path, max_bytes);
  const uint64_t bytes = result.ok() ? static_cast<uint64_t>(result->bytes->size()) : 0;
  impl_->Note(kGetTail, path, bytes, 1, result.ok());
  return result;
}

Result<ObjectInfo> CountingStore::Head(std::string_view path) {
  auto result = impl_->base().Head(path);
  impl_->Note(kHead, path, 0, 1, result.ok());
  return result;
}

Status CountingStore::Put(std::string_view path, const Bytes& bytes) {
  Status status = impl_->base().Put(path, bytes);
  impl_->Note(kPut, path, SizeOf(bytes), bytes.size(), status.ok());
  return status;
}

Status CountingStore::PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) {
  Status status = impl_->base().PutIfAbsent(path, bytes, strength);
  impl_->Note(kPutIfAbsent, path, SizeOf(bytes), bytes.size(), status.ok());
  return status;
}

Status CountingStore::MakeDurable(std::string_view path) {
  Status status = impl_->base().MakeDurable(path);
  impl_->Note(kMakeDurable, path, 0, 1, status.ok());
  return status;
}

Result<ListPage> CountingStore::List(std::string_view prefix, const ListOptions& options) {
  auto result = impl_->base().List(prefix, options);
  const uint64_t items = result.ok() ? result->objects.size() + result->common_prefixes.size() : 0;
  impl_->Note(kList, prefix, 0, items, result.ok());
  return result;
}

Status CountingStore::Delete(std::string_view path, DeleteOrder order) {
  Status status = impl_->base().Delete(path, order);
  impl_->Note(kDelete, path, 0, 1, status.ok());
  return status;
}

}  // namespace omnigraph::store
