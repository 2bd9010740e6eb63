/// \file
/// A store whose next put of one name is interrupted: others act before or after it takes effect,
/// and its answer is lost.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "omnigraph/store/object_store.h"

namespace omnigraph::lance::testing {

/// Forwards to `base`. For tests of one thread.
class HookStore : public store::ObjectStore {
 public:
  explicit HookStore(std::shared_ptr<store::ObjectStore> base) : base_(std::move(base)) {}

  /// The next put if absent of `path` calls `action` and answers kUnavailable, effect unknown.
  void OnNextPut(std::string path, std::function<void()> action, bool before = false) {
    path_ = std::move(path);
    action_ = std::move(action);
    before_ = before;
  }

  Result<std::shared_ptr<arrow::Buffer>> Get(std::string_view path) override {
    return base_->Get(path);
  }
  Result<std::vector<std::shared_ptr<arrow::Buffer>>> GetRanges(
      std::string_view path, std::span<const store::ByteRange> ranges) override {
    return base_->GetRanges(path, ranges);
  }
  Result<store::ObjectTail> GetTail(std::string_view path, uint64_t max_bytes) override {
    return base_->GetTail(path, max_bytes);
  }
  Result<store::ObjectInfo> Head(std::string_view path) override { return base_->Head(path); }
  Status Put(std::string_view path, const store::Bytes& bytes) override {
    return base_->Put(path, bytes);
  }
  Status PutIfAbsent(std::string_view path, const store::Bytes& bytes,
                     store::PutStrength strength) override {
    if (path != path_) {
      return base_->PutIfAbsent(path, bytes, strength);
    }
    path_.clear();
    const std::function<void()> action = std::exchange(action_, nullptr);
    if (before_) {
      action();
    }
    const Status ignored = base_->PutIfAbsent(path, bytes, strength);
    (void)ignored;
    if (!before_) {
      action();
    }
    return WithUnknownEffect(Unavailable("store.unavailable", "the answer was lost"));
  }
  Status MakeDurable(std::string_view path) override { return base_->MakeDurable(path); }
  Result<store::ListPage> List(std::string_view prefix,
                               const store::ListOptions& options = {}) override {
    return base_->List(prefix, options);
  }
  Status Delete(std::string_view path, store::DeleteOrder order) override {
    return base_->Delete(path, order);
  }
  using ObjectStore::Delete;

 private:
  std::shared_ptr<store::ObjectStore> base_;
  std::string path_;
  std::function<void()> action_;
  bool before_ = false;
};

}  // namespace omnigraph::lance::testing
