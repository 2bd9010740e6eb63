/// \file
/// A decorator that makes a store misbehave by a seeded plan. A run is a pure function of the plan
/// and of the order of calls.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

enum class StoreOp : uint8_t {
  kGet,
  kGetRanges,
  kGetTail,
  kHead,
  kPut,
  kPutIfAbsent,
  kMakeDurable,
  kList,
  kDelete
};

/// What goes wrong with one call.
enum class StoreFault : uint8_t {
  kSlow,        ///< takes effect and answers after a delay
  kFailBefore,  ///< no effect, kUnavailable `store.unavailable`, effect unknown to the caller
  kFailAfter,   ///< takes effect, same answer
  kLateEffect,  ///< same answer; a change takes effect some calls later (or at ReleaseLate)
  kThrottled,   ///< no effect, kUnavailable `store.throttled`, and the caller knows that
  kShortRead,   ///< reads only: the buffer ends early, without an error
  kFlippedBit,  ///< reads only: one bit of the answer is wrong
};

/// Chances and bounds. A chance is in 1/1,000,000 of calls to which the fault applies; all together
/// at most a million.
struct FaultPlan {
  uint64_t seed = 0;
  uint32_t slow_ppm = 0;
  uint32_t fail_before_ppm = 0;
  uint32_t fail_after_ppm = 0;
  uint32_t late_effect_ppm = 0;
  uint32_t throttled_ppm = 0;
  uint32_t short_read_ppm = 0;
  uint32_t flipped_bit_ppm = 0;
  std::chrono::nanoseconds slow_max = std::chrono::milliseconds(50);
  /// A late effect comes after 1 to this many further calls.
  uint32_t late_calls_max = 8;
  /// Only names that contain this; empty: all.
  std::string path_contains;
};

/// One fault that must come: the next call (after `skip` matching ones) of this operation on such a
/// name.
struct ArmedFault {
  StoreOp op = StoreOp::kPutIfAbsent;
  StoreFault fault = StoreFault::kFailBefore;
  std::string path_contains;
  uint32_t skip = 0;
};

/// One fault that came.
struct FaultRecord {
  StoreOp op;
  StoreFault fault;
  std::string path;
};

/// Injects faults between the caller and `base`. Thread-safe.
class FaultyStore : public ObjectStore {
 public:
  FaultyStore(std::shared_ptr<ObjectStore> base, FaultPlan plan);
  /// Late effects that are still waiting never come.
  ~FaultyStore() override;

  /// Replace the plan; the sequence of chances starts again from its seed. Armed faults stay.
  void SetPlan(FaultPlan plan);
  void Arm(ArmedFault fault);
  /// Let all late effects take effect now, oldest first. A put if absent that finds its name taken
  /// has none.
  void ReleaseLate();
  size_t late_waiting() const;
  /// Every fault so far, in order.
  std::vector<FaultRecord> records() const;

  Result<std::shared_ptr<arrow::Buffer>> Get(std::string_view path) override;
  Result<std::vector<std::shared_ptr<arrow::Buffer>>> GetRanges(
      std::string_view path, std::span<const ByteRange> ranges) override;
  Result<ObjectTail> GetTail(std::string_view path, uint64_t max_bytes) override;
  Result<ObjectInfo> Head(std::string_view path) override;
  Status Put(std::string_view path, const Bytes& bytes) override;
  Status PutIfAbsent(std::string_view path, const Bytes& bytes, PutStrength strength) override;
  Status MakeDurable(std::string_view path) override;
  Result<ListPage> List(std::string_view prefix, const ListOptions& options = {}) override;
  Status Delete(std::string_view path, DeleteOrder order) override;
  using ObjectStore::Delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::store
