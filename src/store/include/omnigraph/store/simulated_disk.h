/// \file
/// A disk in memory that keeps apart what was synced from what was not, and can lose power. For the
/// crash-state test and the whole-system simulator.
///
/// Model: names are a log of changes (make folder, link, rename, unlink), bytes are pages of 4 KiB.
/// A sync makes a prefix of the log durable (a journal commits everything before it), or on a disk
/// without a journal only the changes of that folder or file. A power cut keeps any allowed part of
/// the rest of the log; a page that was not synced comes back new, old, zero or as garbage, and a
/// size may be any that the file had. The argument for each rule: docs/format/durable-put.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "omnigraph/store/disk.h"

namespace omnigraph::store {

/// What a sync of a file or folder brings along, and so what a power cut may keep of the rest.
enum class DiskModel : uint8_t {
  /// ext4 with a journal: names survive in the order made; a sync commits everything up to what it
  /// concerns.
  kJournal,
  /// ext4 without: any subset of the unsynced names; a sync of a file brings its new name along, a
  /// sync of a folder
  /// neither the link counts of its files nor the folders in it.
  kNoJournal,
  /// The least that is promised anywhere: as kNoJournal, and a sync of a file brings no name along.
  kWeak,
};

struct SimulatedDiskOptions {
  DiskModel model = DiskModel::kJournal;
  /// False: OpenUnnamed answers kUnsupported, and the local store falls back to hidden names.
  bool unnamed_files = true;
  /// Bytes that fit; beyond it writes answer `store.full`.
  uint64_t capacity_bytes = UINT64_MAX;
  /// Virtual time that each sync takes; no lock is held meanwhile.
  std::chrono::nanoseconds sync_time{0};
  /// Put plans to use instead of the disk's own: to show that a wrong one is found.
  const PutPlan* ordered_plan = nullptr;
  const PutPlan* strict_plan = nullptr;
};

/// Path to bytes of every file.
using DiskImage = std::map<std::string, std::string>;

/// The simulated disk. Thread-safe.
class SimulatedDisk : public Disk {
 public:
  explicit SimulatedDisk(SimulatedDiskOptions options = {});
  ~SimulatedDisk() override;

  /// Lose power: what comes back is one allowed state, picked by `seed`. Handles opened before
  /// answer kUnavailable.
  void PowerCut(uint64_t seed);
  /// Call `visit` with states that a power cut now might leave, at most `limit` of them: all when
  /// they are fewer, else the corners and then seeded picks. Returns how many.
  size_t VisitCrashStates(size_t limit, const std::function<void(const DiskImage&)>& visit) const;
  /// What a reader sees now (no power cut).
  DiskImage Image() const;
  /// Call `hook` after each step that changes or syncs something (`write`, `writeback`,
  /// `sync_data`, `sync_file`, `sync_folder`, `link`, `rename`, `exchange`, `unlink`,
  /// `make_folder`, `create`), from the caller's thread, no lock held.
  void SetStepHook(std::function<void(std::string_view step)> hook);
  /// The n-th sync of any kind from now (1 = the next) fails, and marks its dirty pages clean as
  /// kernels do.
  void FailSync(uint64_t nth);
  uint64_t syncs() const;

  std::string Describe(std::string_view path) const override;
  Status MakeRoot() override;
  Status SyncRoot() override;
  Result<std::shared_ptr<DiskFolder>> OpenFolder(std::string_view path) override;
  Status MakeFolder(std::string_view path) override;
  Result<std::shared_ptr<DiskFile>> OpenFile(std::string_view path) override;
  Result<DiskStat> Stat(std::string_view path) override;
  Result<std::vector<DiskEntry>> ListFolder(std::string_view path) override;
  Status Unlink(std::string_view path) override;
  PutPlan PlanOf(PutStrength strength) const override;
  bool OrdersUnlinks() const override;

  class Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace omnigraph::store
