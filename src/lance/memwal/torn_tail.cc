// The operator's command of S7: a last entry that is not whole, under a foreign epoch.
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <set>

#include "omnigraph/lance/memwal/shard.h"
#include "omnigraph/runtime/process.h"

namespace omnigraph::lance {
namespace {

// The newest sentinel that stands below `position`; sentinels are never deleted, data entries below
// `replay_after` may be.
Result<std::optional<LogEntry>> NewestSentinelBelow(const ShardLocation& location,
                                                    uint64_t position) {
  OG_ASSIGN_OR_RETURN(const std::vector<store::ObjectInfo> objects,
                      store::ListAll(*location.store, location.EntryFolder() + "/"));
  std::set<uint64_t, std::greater<>> below;
  for (const store::ObjectInfo& object : objects) {
    const std::string_view path = object.path;
    const std::optional<uint64_t> at = ParseLogEntryName(path.substr(path.rfind('/') + 1));
    if (at.has_value() && *at < position) {
      below.insert(*at);
    }
  }
  const LogReader reader(location);
  for (const uint64_t at : below) {
    OG_ASSIGN_OR_RETURN(LogEntry entry, reader.Read(at));
    if (entry.is_sentinel) {
      return entry;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<uint64_t> ReplaceTornTail(const ShardLocation& location, bool accept_loss) {
  OG_ASSIGN_OR_RETURN(const std::optional<StoredShardManifest> manifest,
                      ShardManifestChain(location).ReadNewestByListing());
  const uint64_t replay_after = manifest.has_value() ? manifest->manifest.replay_after : 0;
  const LogReader reader(location);
  OG_ASSIGN_OR_RETURN(const LogTail tail,
                      reader.ReadAfter(replay_after, [](const LogEntry&) { return Status::OK(); }));
  const std::string path = location.EntryPath(tail.tip);
  if (!tail.torn) {
    return Invalid(
        "memwal.not_torn",
        fmt::format("replace the last entry of shard {}: the log is whole up to position {}",
                    location.id.ToString(), tail.tip - 1),
        {.object = path});
  }
  OG_ASSIGN_OR_RETURN(const std::optional<LogEntry> sentinel,
                      NewestSentinelBelow(location, tail.tip));
  const bool our_epoch = sentinel.has_value()
                             ? sentinel->ours
                             : manifest.has_value() && manifest->manifest.owner.has_value();
  if (our_epoch && !accept_loss) {
    return Corruption(
        "memwal.entry_torn",
        fmt::format("replace position {} of shard {}: nobody can tell whether its rows were "
                    "acknowledged before it broke; say that they may be lost, and a copy is kept",
                    tail.tip, location.id.ToString()),
        path);
  }
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> torn, location.store->Get(path));
  const std::string copy = location.TornPath(tail.tip);
  const Status copied = location.store->PutIfAbsent(copy, {torn}, store::PutStrength::kStrict);
  if (!copied.ok() && !IsAlreadyExists(copied)) {
    return copied;
  }
  const uint64_t epoch = manifest.has_value() ? manifest->manifest.writer_epoch : 1;
  OG_ASSIGN_OR_RETURN(const EncodedEntry bytes,
                      EncodeSentinel(epoch, runtime::CurrentProcess().id, ""));
  OG_RETURN_NOT_OK(location.store->Put(path, bytes.parts));
  return tail.tip;
}

}  // namespace omnigraph::lance
