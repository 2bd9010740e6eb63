#include "omnigraph/lance/table/commit.h"

#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/random.h"
#include "omnigraph/store/object_store.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

Status Lost(const BuiltVersion& built) {
  return Conflict("commit.lost",
                  fmt::format("another writer's version {} of {} was first", built.manifest.version,
                              built.location.path),
                  {.object = built.object});
}

Result<std::shared_ptr<const Table>> OpenBuilt(const BuiltVersion& built) {
  StoredManifest stored{built.manifest, built.naming, built.object,
                        arrow::Buffer::FromString(built.bytes)};
  return Table::FromManifest(built.location, std::move(stored),
                             {.passes_guard = built.passes_guard, .share_with = built.base});
}

}  // namespace

bool MayHaveLanded(const Status& put) {
  const ErrorDetail* detail = GetErrorDetail(put);
  return detail == nullptr || detail->effect_unknown() || IsAlreadyExists(put);
}

bool IsFailedSync(const Status& put) {
  return CodeOf(put) == "store.sync_failed";
}

void Backoff(int attempt) {
  constexpr uint64_t kMaxUs = 200'000;
  const uint64_t limit_us = std::min(kMaxUs, uint64_t{1000} << std::min(attempt, 20));
  runtime::SleepFor(std::chrono::microseconds(runtime::RandomU64() % limit_us));
}

Result<std::shared_ptr<const Table>> PutVersion(const BuiltVersion& built) {
  const Status put = built.location.store->PutIfAbsent(
      built.object, {arrow::Buffer::FromString(built.bytes)}, store::PutStrength::kStrict);
  if (IsAlreadyExists(put)) {
    return AlreadyExists(
        "table.version_exists",
        fmt::format("version {} of {} exists already", built.manifest.version, built.location.path),
        {.object = built.object});
  }
  OG_RETURN_NOT_OK(put);
  return OpenBuilt(built);
}

Result<Settled> SettleVersion(const BuiltVersion& built) {
  const auto bytes = built.location.store->Get(built.object);
  if (!bytes.ok()) {
    if (IsNotFound(bytes.status())) {
      return Settled::kAbsent;
    }
    return bytes.status();
  }
  if (std::string_view(**bytes) == built.bytes) {
    return Settled::kOurs;
  }
  OG_ASSIGN_OR_RETURN(const Manifest manifest,
                      DecodeManifest(std::string_view(**bytes), built.object));
  OG_ASSIGN_OR_RETURN(const std::optional<Transaction> transaction,
                      ReadTransaction(built.location, manifest));
  const bool ours = transaction && transaction->uuid == built.transaction_uuid;
  return ours ? Settled::kOurs : Settled::kOther;
}

Result<std::shared_ptr<const Table>> PutSettled(const BuiltVersion& built) {
  Status last;
  bool in_doubt = false;  // some try may have landed, or may still land
  for (int attempt = 0; attempt < kPutsMax; ++attempt) {
    auto put = PutVersion(built);
    if (put.ok()) {
      return put;
    }
    last = put.status();
    if (IsFailedSync(last)) {
      return WithUnknownEffect(last);
    }
    in_doubt = in_doubt || MayHaveLanded(last);
    if (in_doubt) {
      const Result<Settled> settled = SettleVersion(built);
      if (settled.ok() && *settled == Settled::kOurs) {
        return OpenBuilt(built);
      }
      if (settled.ok() && *settled == Settled::kOther) {
        return Lost(built);
      }
      last = settled.ok() ? last : settled.status();
    } else if (!Is(last, ErrorKind::kUnavailable)) {
      return last;  // refused for a reason that stays: no permission, a full disk
    }
    Backoff(attempt);
  }
  return in_doubt ? WithUnknownEffect(last) : last;
}

Result<std::shared_ptr<const Table>> CommitExactly(const std::shared_ptr<const Table>& base,
                                                   const Change& change, uint64_t version,
                                                   const BuildOptions& options) {
  OG_ASSIGN_OR_RETURN(const BuiltVersion built, BuildVersion(base, change, version, options));
  return PutSettled(built);
}

Result<std::shared_ptr<const Table>> CommitDetached(const std::shared_ptr<const Table>& base,
                                                    const Change& change) {
  constexpr uint64_t kDetachedBit = uint64_t{1} << 63;
  return CommitExactly(base, change, runtime::RandomU64() | kDetachedBit);
}

}  // namespace omnigraph::lance
