#include "simulated_state.h"

#include <algorithm>
#include <utility>

#include "errors.h"

namespace omnigraph::store {
namespace {

constexpr uint64_t kPage = 4096;
/// Above this many free changes subsets are picked by chance.
constexpr size_t kFreeChangesMax = 8;
constexpr size_t kPickedChoices = 256;
/// Ways in which the unsynced end of a file may come back.
constexpr size_t kTailForms = 7;

char Garbage(uint64_t offset) {
  return static_cast<char>(0xA5 ^ (offset * 131) ^ (offset >> 8));
}

/// Rewrite pages of the tail that starts at `from`: `form(page, pages)` says 0 as written, 1 zero,
/// 2 garbage.
std::string RewriteTail(std::string bytes, uint64_t from,
                        const std::function<int(uint64_t, uint64_t)>& form) {
  const uint64_t first = from / kPage;
  const uint64_t pages = (bytes.size() + kPage - 1) / kPage - first;
  for (uint64_t at = from; at < bytes.size(); ++at) {
    const int what = form(at / kPage - first, pages);
    if (what == 1) {
      bytes[at] = '\0';
    } else if (what == 2) {
      bytes[at] = Garbage(at);
    }
  }
  return bytes;
}

/// What comes back of a file of which only the first `durable` bytes are sure; `form` below
/// kTailForms.
std::string TailForm(const std::string& bytes, uint64_t durable, size_t form) {
  switch (form) {
    case 0:
      return bytes.substr(0, durable);
    case 1:
      return bytes;
    case 2:
      return RewriteTail(bytes, durable, [](uint64_t, uint64_t) { return 1; });
    case 3:
      return RewriteTail(bytes, durable, [](uint64_t, uint64_t) { return 2; });
    case 4:
      return bytes.substr(0, durable + (bytes.size() - durable) / 2);
    case 5:
      return RewriteTail(bytes, durable,
                         [](uint64_t page, uint64_t pages) { return page + 1 == pages ? 0 : 1; });
    default:
      return RewriteTail(bytes, durable, [](uint64_t page, uint64_t) { return page == 0 ? 0 : 2; });
  }
}

/// The same by chance, page by page.
std::string RandomTail(const std::string& bytes, uint64_t durable, uint64_t* chance) {
  const uint64_t kept = NextChance(chance) % 2 == 0
                            ? bytes.size()
                            : durable + NextChance(chance) % (bytes.size() - durable + 1);
  std::map<uint64_t, int> forms;
  return RewriteTail(bytes.substr(0, kept), durable, [&](uint64_t page, uint64_t) {
    const auto [at, fresh] = forms.try_emplace(page, 0);
    if (fresh) {
      at->second = static_cast<int>(NextChance(chance) % 3);
    }
    return at->second;
  });
}

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    segments.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return segments;
}

}  // namespace

uint64_t NextChance(uint64_t* state) {
  *state += 0x9E3779B97F4A7C15ULL;
  uint64_t mixed = *state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31);
}

SimulatedState::SimulatedState(DiskModel model)
    : model_(model),
      journal_(model == DiskModel::kJournal),
      used_(std::make_shared<std::atomic<uint64_t>>(0)) {
  root_ = NewNode(true);
}

SimNodePtr SimulatedState::NewNode(bool is_folder) {
  return std::make_shared<SimNode>(next_id_++, is_folder, used_);
}

bool SimulatedState::HasRoom(uint64_t size, uint64_t capacity) {
  if (size <= capacity - std::min(capacity, used_->load())) {
    return true;
  }
  for (NameChange& change : log_) {
    change.entry_synced = true;
    change.node_synced = true;
  }
  FoldDurable();
  return size <= capacity - std::min(capacity, used_->load());
}

Result<SimNodePtr> SimulatedState::Resolve(std::string_view path) const {
  SimNodePtr at = root_;
  for (const std::string_view segment : Segments(path)) {
    if (!at->is_folder) {
      return Invalid("store.not_a_folder", "no folder on the way to " + std::string(path),
                     ObjectPlace(path));
    }
    const auto names = now_.find(at->id);
    if (names == now_.end()) {
      return ObjectNotFound(path);
    }
    const auto found = names->second.find(std::string(segment));
    if (found == names->second.end()) {
      return ObjectNotFound(path);
    }
    at = found->second;
  }
  return at;
}

void SimulatedState::Add(const SimNodePtr& folder, const std::string& name,
                         const SimNodePtr& node) {
  NameChange change;
  change.kind = NameChange::Kind::kAdd;
  change.folder = folder;
  change.name = name;
  change.node = node;
  Log(std::move(change));
}

void SimulatedState::Remove(const SimNodePtr& folder, const std::string& name) {
  NameChange change;
  change.kind = NameChange::Kind::kRemove;
  change.folder = folder;
  change.name = name;
  change.node = Names(*folder).at(name);
  change.node_synced = true;
  Log(std::move(change));
}

void SimulatedState::Move(const SimNodePtr& folder, const std::string& from,
                          const std::string& to) {
  PassName(NameChange::Kind::kMove, folder, from, to);
}

void SimulatedState::Exchange(const SimNodePtr& folder, const std::string& from,
                              const std::string& to) {
  PassName(NameChange::Kind::kExchange, folder, from, to);
}

void SimulatedState::PassName(NameChange::Kind kind, const SimNodePtr& folder,
                              const std::string& from, const std::string& to) {
  const std::map<std::string, SimNodePtr>& names = Names(*folder);
  const auto before = names.find(to);
  NameChange change;
  change.kind = kind;
  change.folder = folder;
  change.name = from;
  change.to = to;
  change.node = names.at(from);
  change.other = before == names.end() ? nullptr : before->second;
  change.node_synced = LinksSynced(*change.node);
  Log(std::move(change));
}

bool SimulatedState::LinksSynced(const SimNode& file) const {
  return std::all_of(log_.begin(), log_.end(), [&](const NameChange& change) {
    return change.node.get() != &file || change.node_synced;
  });
}

/// Without a journal an entry may be on the medium before the link count of its file: the repair
/// removes it, and what the name stood for before is gone too.
void SimulatedState::ApplyCut(const NameChange& change, SimTree* tree) const {
  Apply(change, tree);
  const bool passes =
      change.kind == NameChange::Kind::kMove || change.kind == NameChange::Kind::kExchange;
  if (passes && !journal_ && !change.node_synced) {
    (*tree)[change.folder->id].erase(change.to);
  }
}

void SimulatedState::Log(NameChange change) {
  change.number = next_change_++;
  Apply(change, &now_);
  log_.push_back(std::move(change));
}

void SimulatedState::Apply(const NameChange& change, SimTree* tree) {
  std::map<std::string, SimNodePtr>& names = (*tree)[change.folder->id];
  switch (change.kind) {
    case NameChange::Kind::kAdd:
      names[change.name] = change.node;
      return;
    case NameChange::Kind::kRemove:
      names.erase(change.name);
      return;
    case NameChange::Kind::kMove:
      names.erase(change.name);
      names[change.to] = change.node;
      return;
    case NameChange::Kind::kExchange:
      names[change.name] = change.other;
      names[change.to] = change.node;
      return;
  }
}

uint64_t SimulatedState::DurableSize(const SimNode& file, uint64_t committed) const {
  const bool behind = journal_ && file.written_back_at > 0 && committed >= file.written_back_at;
  return behind && !file.lost_pages ? std::max(file.durable_size, file.written_back)
                                    : file.durable_size;
}

void SimulatedState::Writeback(SimNode* file) {
  file->durable_size = DurableSize(*file, committed_);
  file->written_back = file->bytes.size();
  file->written_back_at = next_change_;
}

void SimulatedState::SyncData(SimNode* file) {
  if (!file->lost_pages) {
    file->durable_size = file->bytes.size();
  }
}

void SimulatedState::SyncFile(SimNode* file) {
  SyncData(file);
  if (journal_) {
    CommitThrough([&](const NameChange& change) { return change.node.get() == file; });
    return;
  }
  for (NameChange& change : log_) {
    const bool concerned = change.node.get() == file;
    change.node_synced = change.node_synced || concerned;
    const bool brings_name =
        model_ == DiskModel::kNoJournal && concerned && change.kind == NameChange::Kind::kAdd;
    change.entry_synced = change.entry_synced || brings_name;
  }
  FoldDurable();
}

void SimulatedState::SyncFolder(const SimNode& folder) {
  if (journal_) {
    CommitThrough([&](const NameChange& change) {
      return change.folder.get() == &folder || change.node.get() == &folder;
    });
    return;
  }
  for (NameChange& change : log_) {
    change.entry_synced = change.entry_synced || change.folder.get() == &folder;
    change.node_synced = change.node_synced || change.node.get() == &folder;
  }
  FoldDurable();
}

/// A journal commits in order: everything up to the newest change that matters.
void SimulatedState::CommitThrough(const std::function<bool(const NameChange&)>& touches) {
  size_t count = log_.size();
  while (count > 0 && !touches(log_[count - 1])) {
    --count;
  }
  for (size_t i = 0; i < count; ++i) {
    log_[i].entry_synced = true;
    log_[i].node_synced = true;
  }
  FoldDurable();
}

void SimulatedState::FoldDurable() {
  while (!log_.empty() && log_.front().durable()) {
    Apply(log_.front(), &durable_);
    committed_ = log_.front().number;
    log_.pop_front();
  }
}

DiskImage SimulatedState::Image() const {
  std::vector<CrashFile> files;
  Collect(now_, *root_, "", committed_, &files);
  DiskImage image;
  for (const CrashFile& file : files) {
    image[file.path] = file.node->bytes;
  }
  return image;
}

void SimulatedState::Collect(const SimTree& tree, const SimNode& folder, const std::string& prefix,
                             uint64_t committed, std::vector<CrashFile>* files) const {
  const auto names = tree.find(folder.id);
  if (names == tree.end()) {
    return;
  }
  for (const auto& [name, node] : names->second) {
    if (node->is_folder) {
      Collect(tree, *node, prefix + name + "/", committed, files);
    } else {
      files->push_back({prefix + name, node, DurableSize(*node, committed)});
    }
  }
}

std::vector<SimulatedState::Choice> SimulatedState::Choices(size_t limit) const {
  std::vector<Choice> choices;
  if (journal_) {
    for (size_t kept = 0; kept <= log_.size() && choices.size() < limit; ++kept) {
      Choice choice(log_.size(), false);
      std::fill_n(choice.begin(), kept, true);
      choices.push_back(std::move(choice));
    }
    return choices;
  }
  std::vector<size_t> open;
  for (size_t i = 0; i < log_.size(); ++i) {
    if (!log_[i].durable()) {
      open.push_back(i);
    }
  }
  const bool all = open.size() <= kFreeChangesMax;
  const size_t count = all ? size_t{1} << open.size() : kPickedChoices;
  uint64_t chance = open.size();
  for (size_t pick = 0; pick < count && choices.size() < limit; ++pick) {
    Choice choice(log_.size(), true);
    for (size_t i = 0; i < open.size(); ++i) {
      choice[open[i]] = all ? (pick >> i) % 2 == 1 : NextChance(&chance) % 2 == 1;
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

SimulatedState::Choice SimulatedState::RandomChoice(uint64_t* chance) const {
  Choice choice(log_.size(), false);
  if (journal_) {
    std::fill_n(choice.begin(), NextChance(chance) % (log_.size() + 1), true);
    return choice;
  }
  for (size_t i = 0; i < log_.size(); ++i) {
    choice[i] = log_[i].durable() || NextChance(chance) % 2 == 1;
  }
  return choice;
}

SimulatedState::CrashTree SimulatedState::CrashTreeOf(const Choice& choice) const {
  CrashTree crash;
  crash.tree = durable_;
  uint64_t committed = committed_;
  for (size_t i = 0; i < log_.size(); ++i) {
    if (choice[i]) {
      ApplyCut(log_[i], &crash.tree);
      committed = std::max(committed, log_[i].number);
    }
  }
  Collect(crash.tree, *root_, "", committed, &crash.files);
  return crash;
}

size_t SimulatedState::VisitCrashStates(size_t limit,
                                        const std::function<void(const DiskImage&)>& visit) const {
  size_t visited = 0;
  for (const Choice& choice : Choices(limit)) {
    const CrashTree crash = CrashTreeOf(choice);
    std::vector<const CrashFile*> open;
    DiskImage image;
    for (const CrashFile& file : crash.files) {
      image[file.path] = file.node->bytes;
      if (file.durable_size < file.node->bytes.size()) {
        open.push_back(&file);
      }
    }
    // Counts through the forms of all open files, the first file fastest.
    std::vector<size_t> forms(open.size(), 0);
    for (bool more = true; more && visited < limit;) {
      for (size_t i = 0; i < open.size(); ++i) {
        image[open[i]->path] = TailForm(open[i]->node->bytes, open[i]->durable_size, forms[i]);
      }
      visit(image);
      ++visited;
      size_t digit = 0;
      while (digit < forms.size() && ++forms[digit] == kTailForms) {
        forms[digit++] = 0;
      }
      more = digit < forms.size();
    }
  }
  return visited;
}

void SimulatedState::PowerCut(uint64_t seed) {
  uint64_t chance = seed;
  CrashTree crash = CrashTreeOf(RandomChoice(&chance));
  std::map<uint64_t, SimNodePtr> fresh;
  for (const CrashFile& file : crash.files) {
    SimNodePtr& node = fresh[file.node->id];
    if (node != nullptr) {
      continue;
    }
    node = NewNode(false);
    node->modified_us = file.node->modified_us;
    node->bytes = file.durable_size < file.node->bytes.size()
                      ? RandomTail(file.node->bytes, file.durable_size, &chance)
                      : file.node->bytes;
    node->durable_size = node->bytes.size();
    *used_ += node->bytes.size();
  }
  for (auto& [folder, names] : crash.tree) {
    for (auto& [name, node] : names) {
      const auto found = fresh.find(node->id);
      node = found == fresh.end() ? node : found->second;
    }
  }
  now_ = crash.tree;
  durable_ = std::move(crash.tree);
  log_.clear();
  committed_ = next_change_ - 1;
}

}  // namespace omnigraph::store
