#include "omnigraph/store/simulated_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "errors.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/fail_point.h"
#include "omnigraph/runtime/mutex.h"
#include "simulated_state.h"

namespace omnigraph::store {
namespace {

Status PowerLost() {
  return Unavailable("store.power_lost", "this handle was opened before the power was cut");
}

Status Broken(std::string_view what) {
  return Unavailable("store.io", "the disk failed to sync " + std::string(what));
}

}  // namespace

class SimulatedDisk::Impl : public std::enable_shared_from_this<SimulatedDisk::Impl> {
 public:
  explicit Impl(SimulatedDiskOptions options) : options_(options), state_(options.model) {}

  const SimulatedDiskOptions& options() const { return options_; }

  /// Run `body` on the state, unless the caller's handle is older than the last power cut; then
  /// tell the hook.
  template <typename Body>
  auto With(uint64_t epoch, std::string_view step, Body body)
      -> decltype(body(std::declval<SimulatedState&>())) {
    std::function<void(std::string_view)> hook;
    if (runtime::InKilledProcess()) {
      return Unavailable("store.process_killed", "the dead change nothing");
    }
    auto result = [&]() -> decltype(body(std::declval<SimulatedState&>())) {
      runtime::MutexLock lock(mutex_);
      if (epoch != epoch_) {
        return PowerLost();
      }
      hook = step.empty() ? nullptr : hook_;
      return body(state_);
    }();
    if (hook) {
      hook(step);
    }
    return result;
  }

  /// The same for calls by path, which belong to the present.
  template <typename Body>
  auto WithNow(std::string_view step, Body body) {
    return With(epoch(), step, std::move(body));
  }

  /// A sync: takes its time, and may be the one that fails.
  Status Sync(uint64_t epoch, std::string_view step, SimNode* node,
              const std::function<void(SimulatedState&)>& effect) {
    runtime::SleepFor(options_.sync_time);
    return With(epoch, step, [&](SimulatedState& state) {
      if (state.NextSyncFails()) {
        SimulatedState::FailSync(node);
        return Broken(node->is_folder ? "a folder" : "a file");
      }
      effect(state);
      return Status::OK();
    });
  }

  uint64_t epoch() const {
    runtime::MutexLock lock(mutex_);
    return epoch_;
  }
  void PowerCut(uint64_t seed) {
    runtime::MutexLock lock(mutex_);
    state_.PowerCut(seed);
    ++epoch_;
  }
  size_t VisitCrashStates(size_t limit, const std::function<void(const DiskImage&)>& visit) const {
    SimulatedState copy = [&] {
      runtime::MutexLock lock(mutex_);
      return state_;
    }();
    return copy.VisitCrashStates(limit, visit);
  }
  DiskImage Image() const {
    runtime::MutexLock lock(mutex_);
    return state_.Image();
  }
  void SetStepHook(std::function<void(std::string_view)> hook) {
    runtime::MutexLock lock(mutex_);
    hook_ = std::move(hook);
  }
  void FailSync(uint64_t nth) {
    runtime::MutexLock lock(mutex_);
    state_.FailSyncIn(nth);
  }
  uint64_t syncs() const {
    runtime::MutexLock lock(mutex_);
    return state_.syncs();
  }

 private:
  const SimulatedDiskOptions options_;
  mutable runtime::Mutex mutex_;
  SimulatedState state_ OG_GUARDED_BY(mutex_);
  uint64_t epoch_ OG_GUARDED_BY(mutex_) = 0;
  std::function<void(std::string_view)> hook_ OG_GUARDED_BY(mutex_);
};

namespace {

DiskStat StatOf(const SimNode& node) {
  DiskStat stat;
  stat.is_folder = node.is_folder;
  stat.size = node.bytes.size();
  stat.modified_us = node.modified_us;
  stat.inode = node.id;
  return stat;
}

class SimulatedFile : public DiskFile {
 public:
  SimulatedFile(std::shared_ptr<SimulatedDisk::Impl> disk, uint64_t epoch, SimNodePtr node)
      : disk_(std::move(disk)), epoch_(epoch), node_(std::move(node)) {}

  const SimNodePtr& node() const { return node_; }

  Status Write(const Bytes& parts) override {
    const int64_t now = runtime::WallNow().count();
    return disk_->With(epoch_, "write", [&](SimulatedState& state) {
      for (const std::shared_ptr<arrow::Buffer>& part : parts) {
        const uint64_t size = static_cast<uint64_t>(part->size());
        if (!state.HasRoom(size, disk_->options().capacity_bytes)) {
          return Exhausted("store.full",
                           "the simulated disk has no room for " + std::to_string(size) + " bytes");
        }
        node_->bytes.append(reinterpret_cast<const char*>(part->data()), size);
        *node_->used += size;
      }
      node_->modified_us = now;
      return Status::OK();
    });
  }

  Status Writeback() override {
    return disk_->Sync(epoch_, "writeback", node_.get(),
                       [&](SimulatedState& state) { state.Writeback(node_.get()); });
  }
  Status SyncData() override {
    return disk_->Sync(epoch_, "sync_data", node_.get(),
                       [&](SimulatedState& state) { state.SyncData(node_.get()); });
  }
  Status Sync() override {
    return disk_->Sync(epoch_, "sync_file", node_.get(),
                       [&](SimulatedState& state) { state.SyncFile(node_.get()); });
  }

  Result<size_t> ReadAt(uint64_t offset, size_t size, uint8_t* out) override {
    return disk_->With(epoch_, "", [&](SimulatedState&) -> Result<size_t> {
      if (offset >= node_->bytes.size()) {
        return size_t{0};
      }
      const size_t count = std::min<size_t>(size, node_->bytes.size() - offset);
      std::memcpy(out, node_->bytes.data() + offset, count);
      return count;
    });
  }

  Result<DiskStat> Stat() override {
    return disk_->With(epoch_, "",
                       [&](SimulatedState&) -> Result<DiskStat> { return StatOf(*node_); });
  }

 private:
  const std::shared_ptr<SimulatedDisk::Impl> disk_;
  const uint64_t epoch_;
  const SimNodePtr node_;
};

class SimulatedFolder : public DiskFolder {
 public:
  SimulatedFolder(std::shared_ptr<SimulatedDisk::Impl> disk, uint64_t epoch, SimNodePtr node)
      : disk_(std::move(disk)), epoch_(epoch), node_(std::move(node)) {}

  Result<std::unique_ptr<DiskFile>> OpenUnnamed() override {
    if (!disk_->options().unnamed_files) {
      return Unsupported("store.no_unnamed", "the simulated disk has no unnamed files");
    }
    return disk_->With(epoch_, "", [&](SimulatedState& state) -> Result<std::unique_ptr<DiskFile>> {
      return std::make_unique<SimulatedFile>(disk_, epoch_, state.NewNode(false));
    });
  }

  Result<std::unique_ptr<DiskFile>> Create(std::string_view name) override {
    return disk_->With(epoch_, "create",
                       [&](SimulatedState& state) -> Result<std::unique_ptr<DiskFile>> {
                         OG_RETURN_NOT_OK(CheckFree(state, name));
                         SimNodePtr file = state.NewNode(false);
                         state.Add(node_, std::string(name), file);
                         return std::make_unique<SimulatedFile>(disk_, epoch_, std::move(file));
                       });
  }

  Status LinkUnnamed(DiskFile& file, std::string_view name) override {
    return disk_->With(epoch_, "link", [&](SimulatedState& state) {
      OG_RETURN_NOT_OK(CheckFree(state, name));
      state.Add(node_, std::string(name), static_cast<SimulatedFile&>(file).node());
      return Status::OK();
    });
  }

  Status Link(std::string_view from, std::string_view to) override {
    return disk_->With(epoch_, "link", [&](SimulatedState& state) {
      OG_RETURN_NOT_OK(CheckThere(state, from));
      OG_RETURN_NOT_OK(CheckFree(state, to));
      state.Add(node_, std::string(to), state.Names(*node_).at(std::string(from)));
      return Status::OK();
    });
  }

  Status Rename(std::string_view from, std::string_view to) override {
    return disk_->With(epoch_, "rename", [&](SimulatedState& state) {
      OG_RETURN_NOT_OK(CheckThere(state, from));
      const auto target = state.Names(*node_).find(std::string(to));
      if (target != state.Names(*node_).end() && target->second->is_folder) {
        return Invalid("store.is_a_folder", std::string(to) + " is a folder", ObjectPlace(to));
      }
      state.Move(node_, std::string(from), std::string(to));
      return Status::OK();
    });
  }

  Status Exchange(std::string_view from, std::string_view to) override {
    return disk_->With(epoch_, "exchange", [&](SimulatedState& state) {
      OG_RETURN_NOT_OK(CheckThere(state, from));
      OG_RETURN_NOT_OK(CheckThere(state, to));
      state.Exchange(node_, std::string(from), std::string(to));
      return Status::OK();
    });
  }

  Status Unlink(std::string_view name) override {
    return disk_->With(epoch_, "unlink", [&](SimulatedState& state) {
      OG_RETURN_NOT_OK(CheckThere(state, name));
      state.Remove(node_, std::string(name));
      return Status::OK();
    });
  }

  Status Sync() override {
    return disk_->Sync(epoch_, "sync_folder", node_.get(),
                       [&](SimulatedState& state) { state.SyncFolder(*node_); });
  }

 private:
  Status CheckFree(SimulatedState& state, std::string_view name) const {
    return state.Names(*node_).contains(std::string(name)) ? ObjectExists(name) : Status::OK();
  }
  Status CheckThere(SimulatedState& state, std::string_view name) const {
    return state.Names(*node_).contains(std::string(name)) ? Status::OK() : ObjectNotFound(name);
  }

  const std::shared_ptr<SimulatedDisk::Impl> disk_;
  const uint64_t epoch_;
  const SimNodePtr node_;
};

/// Folder and last segment of a path.
std::pair<std::string_view, std::string> Split(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos
             ? std::pair(std::string_view{}, std::string(path))
             : std::pair(path.substr(0, slash), std::string(path.substr(slash + 1)));
}

}  // namespace

SimulatedDisk::SimulatedDisk(SimulatedDiskOptions options)
    : impl_(std::make_shared<Impl>(options)) {}
SimulatedDisk::~SimulatedDisk() = default;

void SimulatedDisk::PowerCut(uint64_t seed) {
  impl_->PowerCut(seed);
}
size_t SimulatedDisk::VisitCrashStates(size_t limit,
                                       const std::function<void(const DiskImage&)>& visit) const {
  return impl_->VisitCrashStates(limit, visit);
}
DiskImage SimulatedDisk::Image() const {
  return impl_->Image();
}
void SimulatedDisk::SetStepHook(std::function<void(std::string_view step)> hook) {
  impl_->SetStepHook(std::move(hook));
}
void SimulatedDisk::FailSync(uint64_t nth) {
  impl_->FailSync(nth);
}
uint64_t SimulatedDisk::syncs() const {
  return impl_->syncs();
}

std::string SimulatedDisk::Describe(std::string_view path) const {
  return "simulated:" + std::string(path);
}

Status SimulatedDisk::MakeRoot() {
  return Status::OK();
}

Status SimulatedDisk::SyncRoot() {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<DiskFolder> root, OpenFolder(""));
  return root->Sync();
}

Result<std::shared_ptr<DiskFolder>> SimulatedDisk::OpenFolder(std::string_view path) {
  const uint64_t epoch = impl_->epoch();
  return impl_->With(epoch, "", [&](SimulatedState& state) -> Result<std::shared_ptr<DiskFolder>> {
    OG_ASSIGN_OR_RETURN(SimNodePtr node, state.Resolve(path));
    if (!node->is_folder) {
      return Invalid("store.not_a_folder", std::string(path) + " is not a folder",
                     ObjectPlace(path));
    }
    return std::make_shared<SimulatedFolder>(impl_, epoch, std::move(node));
  });
}

Status SimulatedDisk::MakeFolder(std::string_view path) {
  const auto [parent, name] = Split(path);
  const std::string_view parent_path = parent;
  const std::string& folder_name = name;
  return impl_->WithNow("make_folder", [&](SimulatedState& state) {
    OG_ASSIGN_OR_RETURN(const SimNodePtr folder, state.Resolve(parent_path));
    if (!folder->is_folder) {
      return Invalid("store.not_a_folder", std::string(parent_path) + " is not a folder",
                     ObjectPlace(path));
    }
    if (!state.Names(*folder).contains(folder_name)) {
      state.Add(folder, folder_name, state.NewNode(true));
    }
    return Status::OK();
  });
}

Result<std::shared_ptr<DiskFile>> SimulatedDisk::OpenFile(std::string_view path) {
  const uint64_t epoch = impl_->epoch();
  return impl_->With(epoch, "", [&](SimulatedState& state) -> Result<std::shared_ptr<DiskFile>> {
    OG_ASSIGN_OR_RETURN(SimNodePtr node, state.Resolve(path));
    if (node->is_folder) {
      return Invalid("store.is_a_folder", std::string(path) + " is a folder", ObjectPlace(path));
    }
    return std::make_shared<SimulatedFile>(impl_, epoch, std::move(node));
  });
}

Result<DiskStat> SimulatedDisk::Stat(std::string_view path) {
  return impl_->WithNow("", [&](SimulatedState& state) -> Result<DiskStat> {
    OG_ASSIGN_OR_RETURN(const SimNodePtr node, state.Resolve(path));
    return StatOf(*node);
  });
}

Result<std::vector<DiskEntry>> SimulatedDisk::ListFolder(std::string_view path) {
  return impl_->WithNow("", [&](SimulatedState& state) -> Result<std::vector<DiskEntry>> {
    OG_ASSIGN_OR_RETURN(const SimNodePtr node, state.Resolve(path));
    if (!node->is_folder) {
      return Invalid("store.not_a_folder", std::string(path) + " is not a folder",
                     ObjectPlace(path));
    }
    std::vector<DiskEntry> entries;
    for (const auto& [name, child] : state.Names(*node)) {
      entries.push_back({name, child->is_folder});
    }
    return entries;
  });
}

Status SimulatedDisk::Unlink(std::string_view path) {
  const auto [parent, name] = Split(path);
  const std::string_view parent_path = parent;
  const std::string& file_name = name;
  return impl_->WithNow("unlink", [&](SimulatedState& state) {
    OG_ASSIGN_OR_RETURN(const SimNodePtr node, state.Resolve(path));
    if (node->is_folder) {
      return Invalid("store.is_a_folder", std::string(path) + " is a folder", ObjectPlace(path));
    }
    OG_ASSIGN_OR_RETURN(const SimNodePtr folder, state.Resolve(parent_path));
    state.Remove(folder, file_name);
    return Status::OK();
  });
}

PutPlan SimulatedDisk::PlanOf(PutStrength strength) const {
  const SimulatedDiskOptions& options = impl_->options();
  const bool ordered = strength == PutStrength::kOrdered;
  const PutPlan* chosen = ordered ? options.ordered_plan : options.strict_plan;
  if (chosen != nullptr) {
    return *chosen;
  }
  switch (options.model) {
    case DiskModel::kJournal:
      return ordered ? kOrderedPlan : kStrictPlan;
    case DiskModel::kNoJournal:
      return ordered ? kOrderedPlan : kStrictFilePlan;
    case DiskModel::kWeak:
      return kStrictBothPlan;
  }
  return kStrictBothPlan;
}

bool SimulatedDisk::OrdersUnlinks() const {
  return impl_->options().model == DiskModel::kJournal;
}

}  // namespace omnigraph::store
