#include "omnigraph/lance/memwal/collector.h"

#include <algorithm>
#include <vector>

#include "omnigraph/runtime/fail_point.h"

namespace omnigraph::lance {
namespace {

// How long a sentinel of a foreign writer holds collection back (S5).
constexpr int64_t kForeignHoldUs = int64_t{24} * 3600 * 1000 * 1000;

}  // namespace

LogCollector::LogCollector(ShardLocation location)
    : location_(location), reader_(std::move(location)) {}

void LogCollector::NoteData(uint64_t position) {
  unread_.erase(position);
  data_.insert(position);
}

void LogCollector::NoteSentinel(uint64_t position, bool ours) {
  unread_.erase(position);
  if (ours) {
    our_sentinels_.insert(position);
  } else {
    foreign_sentinels_.try_emplace(position, std::nullopt);
  }
}

bool LogCollector::IsNoted(uint64_t position) const {
  return data_.contains(position) || our_sentinels_.contains(position) ||
         foreign_sentinels_.contains(position);
}

Status LogCollector::ListOnce() {
  if (listed_) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> objects,
                      store::ListAll(*location_.store, location_.EntryFolder() + "/"));
  for (const store::ObjectInfo& object : objects) {
    const std::string_view path = object.path;
    const std::optional<uint64_t> position = ParseLogEntryName(path.substr(path.rfind('/') + 1));
    if (position.has_value() && !IsNoted(*position)) {
      unread_.insert(*position);
    }
  }
  listed_ = true;
  return Status::OK();
}

Status LogCollector::ReadUnread() {
  while (!unread_.empty()) {
    const uint64_t position = *unread_.begin();
    OG_ASSIGN_OR_RETURN(const LogEntry entry, reader_.Read(position));
    if (entry.is_sentinel) {
      NoteSentinel(position, entry.ours);
    } else {
      NoteData(position);
    }
  }
  return Status::OK();
}

// Any sentinel of the log counts, also above the bound: an official claimant has just come.
Result<bool> LogCollector::HeldByForeign(int64_t store_now_us) {
  for (auto& [position, modified_us] : foreign_sentinels_) {
    if (!modified_us.has_value()) {
      OG_ASSIGN_OR_RETURN(const store::ObjectInfo info,
                          location_.store->Head(location_.EntryPath(position)));
      modified_us = info.modified_us;
    }
    if (store_now_us - *modified_us < kForeignHoldUs) {
      return true;
    }
  }
  return false;
}

Result<CollectResult> LogCollector::Collect(uint64_t published, uint64_t replay_after,
                                            int64_t store_now_us) {
  const uint64_t below = std::min(published, replay_after);
  CollectResult result;
  OG_RETURN_NOT_OK(ListOnce());
  OG_RETURN_NOT_OK(ReadUnread());
  OG_ASSIGN_OR_RETURN(result.held_by_foreign_sentinel, HeldByForeign(store_now_us));
  if (result.held_by_foreign_sentinel) {
    return result;
  }
  while (!data_.empty() && *data_.begin() < below) {
    OG_RETURN_NOT_OK(
        location_.store->Delete(location_.EntryPath(*data_.begin()), store::DeleteOrder::kFree));
    runtime::FailPoint("memwal.collect.after_delete");
    data_.erase(data_.begin());
    ++result.deleted;
  }
  return result;
}

}  // namespace omnigraph::lance
