#include "omnigraph/lance/memwal/log_reader.h"

#include <fmt/format.h>

namespace omnigraph::lance {

Result<LogEntry> LogReader::Read(uint64_t position) const {
  const std::string path = location_.EntryPath(position);
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> bytes, location_.store->Get(path));
  return ParseEntry(bytes, position, path);
}

Result<bool> LogReader::Exists(uint64_t position) const {
  const Result<store::ObjectInfo> info = location_.store->Head(location_.EntryPath(position));
  if (info.ok() || IsNotFound(info.status())) {
    return info.ok();
  }
  return info.status();
}

Result<uint64_t> LogReader::FindTip(uint64_t after) const {
  uint64_t position = after + 1;
  while (true) {
    OG_ASSIGN_OR_RETURN(const bool exists, Exists(position));
    if (!exists) {
      return position;
    }
    ++position;
  }
}

Result<LogTail> LogReader::ReadAfter(uint64_t after, const EntryVisitor& visit) const {
  for (uint64_t position = after + 1;; ++position) {
    const Result<LogEntry> entry = Read(position);
    if (entry.ok()) {
      OG_RETURN_NOT_OK(visit(*entry));
      continue;
    }
    if (IsNotFound(entry.status())) {
      return LogTail{.tip = position, .torn = false};
    }
    if (!IsCorruption(entry.status())) {
      return entry.status();
    }
    OG_ASSIGN_OR_RETURN(const bool last_is_lower, Exists(position + 1));
    if (last_is_lower) {
      return entry.status();
    }
    return LogTail{.tip = position, .torn = true};
  }
}

Status LogReader::ReadRange(uint64_t after, uint64_t last, const EntryVisitor& visit) const {
  for (uint64_t position = after + 1; position <= last; ++position) {
    const Result<LogEntry> entry = Read(position);
    if (!entry.ok() && IsNotFound(entry.status())) {
      return Corruption(
          "memwal.log_hole",
          fmt::format("read the log of shard {}: position {} is absent, {} must be there",
                      location_.id.ToString(), position, last),
          location_.EntryPath(position));
    }
    OG_RETURN_NOT_OK(entry.status());
    OG_RETURN_NOT_OK(visit(*entry));
  }
  return Status::OK();
}

}  // namespace omnigraph::lance
