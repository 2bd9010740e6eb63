#include "key_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::write {
namespace {

constexpr size_t kFirstSlots = 1024;
/// A run is cut into objects, so that no put needs a second copy of a whole set.
constexpr size_t kObjectRecords = (8u << 20) / sizeof(KeyRecord);
/// Records that a sorter holds before it makes a run.
constexpr size_t kPendingRecords = (16u << 20) / sizeof(KeyRecord);
/// Records that a stream reads at a time from each run.
constexpr size_t kReadRecords = (256u << 10) / sizeof(KeyRecord);

bool ByHash(const KeyRecord& a, const KeyRecord& b) {
  // Equal hashes keep the order in which they came.
  return a.hash != b.hash ? a.hash < b.hash : a.number < b.number;
}

}  // namespace

// --- SpillSpace ---

SpillSpace::SpillSpace(std::shared_ptr<store::ObjectStore> store, size_t memory_bytes)
    : store_(std::move(store)), limit_(memory_bytes) {}

SpillSpace::~SpillSpace() = default;

Status SpillSpace::RemoveAll() {
  Status first;
  for (const std::string& object : objects_) {
    Status status = store_->Delete(object, store::DeleteOrder::kFree);
    if (first.ok()) {
      first = std::move(status);
    }
  }
  objects_.clear();
  return first;
}

Status SpillSpace::MakeRoom(size_t more, const KeyIndex* asking) {
  while (used_ + more > limit_) {
    KeyIndex* largest = nullptr;
    for (KeyIndex* index : indexes_) {
      if (index != asking && index->count_ > 0 &&
          (largest == nullptr || index->bytes() > largest->bytes())) {
        largest = index;
      }
    }
    if (largest == nullptr) {
      return Status::OK();
    }
    OG_RETURN_NOT_OK(largest->Spill());
  }
  return Status::OK();
}

Result<std::vector<std::string>> SpillSpace::PutRun(const std::vector<KeyRecord>& records) {
  if (folder_.empty()) {
    folder_ = std::string(graph::kSpillPath) + runtime::NewUlid() + "/";
  }
  std::vector<std::string> objects;
  for (size_t at = 0; at < records.size(); at += kObjectRecords) {
    const size_t count = std::min(kObjectRecords, records.size() - at);
    const std::string path = folder_ + std::to_string(runs_) + "-" + std::to_string(objects.size());
    const auto bytes =
        std::make_shared<arrow::Buffer>(reinterpret_cast<const uint8_t*>(records.data() + at),
                                        static_cast<int64_t>(count * sizeof(KeyRecord)));
    OG_RETURN_NOT_OK_CTX(lance::PutUnpublished(*store_, path, {bytes}), "spill keys of a load");
    objects.push_back(path);
    objects_.push_back(path);
  }
  ++runs_;
  return objects;
}

// --- KeyStream ---

struct KeyStream::Run {
  std::vector<std::string> objects;
  size_t object = 0;
  uint64_t object_bytes = 0;
  uint64_t offset = 0;
  std::vector<KeyRecord> records;
  size_t at = 0;

  const KeyRecord& current() const { return records[at]; }
};

KeyStream::KeyStream(const SpillSpace& space, const std::vector<std::vector<std::string>>& runs)
    : store_(*space.store_) {
  for (const std::vector<std::string>& objects : runs) {
    runs_.push_back(std::make_unique<Run>());
    runs_.back()->objects = objects;
  }
}

KeyStream::~KeyStream() = default;

Result<bool> KeyStream::Advance(Run* run) {
  if (run->at + 1 < run->records.size()) {
    ++run->at;
    return true;
  }
  while (run->object < run->objects.size()) {
    const std::string& path = run->objects[run->object];
    if (run->object_bytes == 0) {
      OG_ASSIGN_OR_RETURN(const store::ObjectInfo info, store_.Head(path));
      run->object_bytes = info.size;
      run->offset = 0;
    }
    const uint64_t left = run->object_bytes - run->offset;
    if (left < sizeof(KeyRecord)) {
      if (left != 0) {
        return Corruption("load.spill", "a spilled run ends within a record", path);
      }
      ++run->object;
      run->object_bytes = 0;
      continue;
    }
    const uint64_t count = std::min<uint64_t>(kReadRecords, left / sizeof(KeyRecord));
    const store::ByteRange range{run->offset, count * sizeof(KeyRecord)};
    OG_ASSIGN_OR_RETURN(const auto buffers, store_.GetRanges(path, {&range, 1}));
    run->records.resize(count);
    std::memcpy(run->records.data(), buffers[0]->data(), range.length);
    run->offset += range.length;
    run->at = 0;
    return true;
  }
  return false;
}

Status KeyStream::NextGroup(std::vector<KeyRecord>* group) {
  group->clear();
  if (!started_) {
    started_ = true;
    std::vector<std::unique_ptr<Run>> live;
    for (auto& run : runs_) {
      OG_ASSIGN_OR_RETURN(const bool more, Advance(run.get()));
      if (more) {
        live.push_back(std::move(run));
      }
    }
    runs_ = std::move(live);
  }
  if (runs_.empty()) {
    return Status::OK();
  }
  // Runs are few (memory over record size), so a scan beats a heap for the usual handful.
  Hash128 least = runs_[0]->current().hash;
  for (const auto& run : runs_) {
    least = std::min(least, run->current().hash);
  }
  for (size_t i = 0; i < runs_.size();) {
    bool more = true;
    while (more && runs_[i]->current().hash == least) {
      group->push_back(runs_[i]->current());
      OG_ASSIGN_OR_RETURN(more, Advance(runs_[i].get()));
    }
    if (more) {
      ++i;
    } else {
      runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return Status::OK();
}

// --- KeySorter ---

Status KeySorter::Add(const KeyRecord& record) {
  pending_.push_back(record);
  return pending_.size() < kPendingRecords ? Status::OK() : AddRun(&pending_);
}

Status KeySorter::AddRun(std::vector<KeyRecord>* records) {
  if (records->empty()) {
    return Status::OK();
  }
  std::sort(records->begin(), records->end(), ByHash);
  OG_ASSIGN_OR_RETURN(auto objects, space_->PutRun(*records));
  runs_.push_back(std::move(objects));
  records->clear();
  return Status::OK();
}

Result<std::unique_ptr<KeyStream>> KeySorter::Sorted() {
  OG_RETURN_NOT_OK(AddRun(&pending_));
  return std::unique_ptr<KeyStream>(new KeyStream(*space_, runs_));
}

// --- KeyIndex ---

KeyIndex::KeyIndex(SpillSpace* space) : space_(space), sorter_(space) {
  space_->indexes_.push_back(this);
}

KeyIndex::~KeyIndex() {
  space_->used_ -= bytes();
  std::erase(space_->indexes_, this);
}

KeyRecord* KeyIndex::Slot(const Hash128& hash) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash.low & mask;
  while (slots_[at].flags != 0 && slots_[at].hash != hash) {
    at = (at + 1) & mask;
  }
  return &slots_[at];
}

Status KeyIndex::Grow() {
  const size_t wanted = slots_.empty() ? kFirstSlots : slots_.size() * 2;
  const size_t more = wanted * sizeof(KeyRecord);
  OG_RETURN_NOT_OK(space_->MakeRoom(more, this));
  if (space_->used_ + more > space_->limit_ && count_ > 0) {
    // The others are gone and it still does not fit: this one is the largest.
    return Spill();
  }
  std::vector<KeyRecord> old(wanted);
  old.swap(slots_);
  for (const KeyRecord& record : old) {
    if (record.flags != 0) {
      *Slot(record.hash) = record;
    }
  }
  space_->used_ += bytes() - old.capacity() * sizeof(KeyRecord);
  return Status::OK();
}

Status KeyIndex::Spill() {
  space_->used_ -= bytes();
  const auto end = std::remove_if(slots_.begin(), slots_.end(),
                                  [](const KeyRecord& record) { return record.flags == 0; });
  slots_.erase(end, slots_.end());
  std::vector<KeyRecord> records;
  records.swap(slots_);
  count_ = 0;
  spilled_ = true;
  return sorter_.AddRun(&records);
}

Result<KeyRecord*> KeyIndex::Upsert(const Hash128& hash) {
  if (slots_.empty()) {
    OG_RETURN_NOT_OK(Grow());
  }
  KeyRecord* slot = Slot(hash);
  if (slot->flags != 0) {
    return slot;
  }
  if ((count_ + 1) * 10 > slots_.size() * 7) {
    OG_RETURN_NOT_OK(Grow());
    if (slots_.empty()) {
      OG_RETURN_NOT_OK(Grow());
    }
    slot = Slot(hash);
  }
  ++count_;
  slot->hash = hash;
  return slot;
}

KeyRecord* KeyIndex::Find(const Hash128& hash) {
  OG_CHECK(!spilled_);
  if (slots_.empty()) {
    return nullptr;
  }
  KeyRecord* slot = Slot(hash);
  return slot->flags == 0 ? nullptr : slot;
}

Result<std::unique_ptr<KeyStream>> KeyIndex::Sorted() {
  if (count_ > 0) {
    OG_RETURN_NOT_OK(Spill());
  }
  spilled_ = true;
  return sorter_.Sorted();
}

}  // namespace omnigraph::write
