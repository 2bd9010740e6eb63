// The commit loop of the ordinary chain.

#include <fmt/format.h>

#include <algorithm>

#include "conflict.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/transaction.h"
#include "omnigraph/store/object_store.h"
#include "version_parts.h"

namespace omnigraph::lance {
namespace {

/// Judge the change by every transaction between its base and `latest`.
Status CheckBetween(const Table& base, const Table& latest, const Change& change) {
  for (uint64_t version = base.version() + 1; version <= latest.version(); ++version) {
    std::optional<Transaction> theirs;
    if (version == latest.version()) {
      OG_ASSIGN_OR_RETURN(theirs, ReadTransaction(base.location(), latest.manifest()));
    } else {
      auto stored = ReadManifest(base.location(), version);
      if (stored.ok()) {
        OG_ASSIGN_OR_RETURN(theirs, ReadTransaction(base.location(), stored->manifest));
      } else if (!IsNotFound(stored.status())) {
        return stored.status();
      }
    }
    if (!theirs) {
      return Conflict("commit.conflict",
                      fmt::format("version {} of {} does not say what it did; read again and build "
                                  "the change anew",
                                  version, base.location().path),
                      {.object = base.location().path});
    }
    OG_RETURN_NOT_OK(CheckOperations(base, change, *theirs));
  }
  return Status::OK();
}

bool NamesFileOf(const Manifest& manifest, const Fragment& fragment) {
  return std::ranges::any_of(manifest.fragments, [&](const Fragment& other) {
    const bool data =
        !fragment.files.empty() && std::ranges::any_of(other.files, [&](const DataFileRef& file) {
          return file.path == fragment.files[0].path;
        });
    return data && other.deletion_file == fragment.deletion_file;
  });
}

/// Whether a newer version was built upon ours: it shows a fragment as only ours made it.
bool BuiltUpon(const Manifest& newest, const BuiltVersion& ours) {
  return std::ranges::any_of(ours.manifest.fragments, [&](const Fragment& fragment) {
    const Fragment* before = ours.base->manifest().FindFragment(fragment.id);
    const bool fresh = before == nullptr || *before != fragment;
    return fresh && NamesFileOf(newest, fragment);
  });
}

/// C5: a put at n + 1 counts only if n still stands after its positive answer; else list and look.
/// Errors: kConflict: it does not count, and is gone; anything else: nobody knows.
Status CheckCounts(const Table& latest, const BuiltVersion& ours) {
  OG_ASSIGN_OR_RETURN(const bool stands, StillStands(latest.location(), latest.stored()));
  if (stands) {
    return Status::OK();
  }
  OG_ASSIGN_OR_RETURN(const StoredManifest newest,
                      ReadLatestManifest(latest.location(), Look::kWriter));
  if (newest.manifest.version == ours.manifest.version || BuiltUpon(newest.manifest, ours)) {
    return Status::OK();
  }
  OG_RETURN_NOT_OK(latest.location().store->Delete(ours.object));
  return Conflict("commit.conflict",
                  fmt::format("version {} of {} was pruned while its successor was put; read again "
                              "and build the change anew",
                              latest.version(), latest.location().path),
                  {.object = latest.location().path});
}

Result<std::shared_ptr<const Table>> OpenLatest(const Table& base, StoredManifest stored,
                                                const std::shared_ptr<const Table>& share) {
  return Table::FromManifest(base.location(), std::move(stored),
                             {.owner = base.owner(), .share_with = share});
}

}  // namespace

Result<std::shared_ptr<const Table>> CommitOrdinary(const std::shared_ptr<const Table>& base,
                                                    const Change& change,
                                                    const CommitOptions& options) {
  if (IsDetachedVersion(base->version())) {
    return Invalid("commit.detached_base",
                   fmt::format("an ordinary commit needs an ordinary base, not {}; promote it",
                               base->version()),
                   {.object = base->location().path});
  }
  OG_ASSIGN_OR_RETURN(StoredManifest stored, ReadLatestManifest(base->location(), Look::kWriter));
  for (int attempt = 0; attempt < options.attempts_max; ++attempt) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<const Table> latest,
                        OpenLatest(*base, std::move(stored), base));
    Change rebased = change;
    if (latest->version() != base->version()) {
      OG_RETURN_NOT_OK(CheckBetween(*base, *latest, change));
      OG_ASSIGN_OR_RETURN(rebased, Rebase(*base, *latest, change));
    }
    OG_ASSIGN_OR_RETURN(
        const BuiltVersion built,
        BuildVersion(latest, rebased, latest->version() + 1, {.write_transaction_file = true}));
    auto put = PutSettled(built);
    if (put.ok()) {
      const Status counts = CheckCounts(*latest, built);
      if (!counts.ok()) {
        return IsConflict(counts) ? counts : WithUnknownEffect(counts);
      }
      // Only helps readers and official writers; the version stands without it.
      (void)WriteHint(base->location(), built.manifest.version);
      return put;
    }
    if (CodeOf(put.status()) != "commit.lost") {
      return put;
    }
    Backoff(attempt);
    OG_ASSIGN_OR_RETURN(stored, WalkFrom(base->location(), latest->stored()));
  }
  return Exhausted("commit.contended",
                   fmt::format("{} attempts to commit to {} were lost to other writers",
                               options.attempts_max, base->location().path),
                   {.object = base->location().path});
}

}  // namespace omnigraph::lance
