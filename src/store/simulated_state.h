/// \file
/// The model behind the simulated disk: what is there now, what is durable, and what a power cut
/// may leave. No locks and no handles; those are in simulated_disk.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/store/simulated_disk.h"

namespace omnigraph::store {

/// A file or a folder.
struct SimNode {
  SimNode(uint64_t number, bool folder, std::shared_ptr<std::atomic<uint64_t>> use)
      : id(number), is_folder(folder), used(std::move(use)) {}
  ~SimNode() { *used -= bytes.size(); }

  const uint64_t id;
  const bool is_folder;
  const std::shared_ptr<std::atomic<uint64_t>> used;  ///< bytes of all files of the disk
  int64_t modified_us = 0;
  std::string bytes;
  /// The first `durable_size` bytes, and a size of at least that, survive.
  uint64_t durable_size = 0;
  /// The first `written_back` bytes survive too once a name change of number `written_back_at` or
  /// later is durable: the commit record follows them to the medium.
  uint64_t written_back = 0;
  uint64_t written_back_at = 0;
  /// A sync failed: the pages count as clean, so no later sync writes them.
  bool lost_pages = false;
};

using SimNodePtr = std::shared_ptr<SimNode>;

/// Names by folder id.
using SimTree = std::map<uint64_t, std::map<std::string, SimNodePtr>>;

/// One change of names, not yet folded into the durable tree.
struct NameChange {
  enum class Kind : uint8_t { kAdd, kRemove, kMove, kExchange };
  Kind kind = Kind::kAdd;
  uint64_t number = 0;
  SimNodePtr folder;
  std::string name;
  std::string to;  ///< kMove, kExchange
  SimNodePtr node;
  SimNodePtr other;  ///< kMove, kExchange: what `to` named
  /// Without a journal both parts must be synced: the entry by the folder, the link count by the
  /// file.
  bool entry_synced = false;
  bool node_synced = false;

  bool durable() const { return entry_synced && node_synced; }
};

/// A generator of our own, so that a seed means the same everywhere.
uint64_t NextChance(uint64_t* state);

/// The state of one disk. Single-owner.
class SimulatedState {
 public:
  explicit SimulatedState(DiskModel model);

  SimNodePtr NewNode(bool is_folder);
  const SimNodePtr& root() const { return root_; }
  /// True when `size` more bytes fit. What was deleted gives its room back by a commit, which a
  /// full disk forces.
  bool HasRoom(uint64_t size, uint64_t capacity);

  /// The node at `path`; errors as Disk.
  Result<SimNodePtr> Resolve(std::string_view path) const;
  std::map<std::string, SimNodePtr>& Names(const SimNode& folder) { return now_[folder.id]; }

  void Add(const SimNodePtr& folder, const std::string& name, const SimNodePtr& node);
  void Remove(const SimNodePtr& folder, const std::string& name);
  void Move(const SimNodePtr& folder, const std::string& from, const std::string& to);
  void Exchange(const SimNodePtr& folder, const std::string& from, const std::string& to);

  void Writeback(SimNode* file);
  void SyncData(SimNode* file);
  void SyncFile(SimNode* file);
  void SyncFolder(const SimNode& folder);
  /// Count a sync; true when it is the one that fails.
  bool NextSyncFails() {
    ++syncs_;
    return fail_in_ > 0 && --fail_in_ == 0;
  }
  void FailSyncIn(uint64_t nth) { fail_in_ = nth; }
  uint64_t syncs() const { return syncs_; }
  static void FailSync(SimNode* file) { file->lost_pages = true; }

  DiskImage Image() const;
  size_t VisitCrashStates(size_t limit, const std::function<void(const DiskImage&)>& visit) const;
  void PowerCut(uint64_t seed);

 private:
  /// Which of the changes in the log survive.
  using Choice = std::vector<bool>;
  struct CrashFile {
    std::string path;
    SimNodePtr node;
    uint64_t durable_size = 0;
  };
  struct CrashTree {
    SimTree tree;
    std::vector<CrashFile> files;
  };

  /// kMove or kExchange: the file at `from` becomes that of `to`.
  void PassName(NameChange::Kind kind, const SimNodePtr& folder, const std::string& from,
                const std::string& to);
  void Log(NameChange change);
  /// True when every name that the file ever got has its link count on the medium.
  bool LinksSynced(const SimNode& file) const;
  /// A change as a power cut may leave it.
  void ApplyCut(const NameChange& change, SimTree* tree) const;
  void CommitThrough(const std::function<bool(const NameChange&)>& touches);
  void FoldDurable();
  static void Apply(const NameChange& change, SimTree* tree);
  uint64_t DurableSize(const SimNode& file, uint64_t committed) const;
  std::vector<Choice> Choices(size_t limit) const;
  Choice RandomChoice(uint64_t* chance) const;
  CrashTree CrashTreeOf(const Choice& choice) const;
  void Collect(const SimTree& tree, const SimNode& folder, const std::string& prefix,
               uint64_t committed, std::vector<CrashFile>* files) const;

  const DiskModel model_;
  const bool journal_;
  const std::shared_ptr<std::atomic<uint64_t>> used_;
  uint64_t next_id_ = 1;
  uint64_t next_change_ = 1;
  uint64_t syncs_ = 0;
  uint64_t fail_in_ = 0;
  uint64_t committed_ = 0;  ///< number of the newest change in `durable_`
  SimNodePtr root_;
  SimTree now_;
  SimTree durable_;
  std::deque<NameChange> log_;
};

}  // namespace omnigraph::store
