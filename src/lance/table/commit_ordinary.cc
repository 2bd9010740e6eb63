// The commit loop of the ordinary chain.

#include <fmt/format.h>

#include <set>

#include "conflict.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/deletion.h"
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

/// What a version names by names that never repeat: data files, deletion files, index segments.
std::set<std::string> UniqueNames(const Manifest& manifest) {
  std::set<std::string> names;
  for (const Fragment& fragment : manifest.fragments) {
    for (const DataFileRef& file : fragment.files) {
      names.insert(file.path);
    }
    if (fragment.deletion_file) {
      names.insert(DeletionFilePath(fragment.id, *fragment.deletion_file));
    }
  }
  for (const IndexMetadata& index : manifest.indices) {
    names.insert(index.uuid.ToString());
  }
  return names;
}

/// Whether a newer version was built upon ours; nullopt where its content does not tell.
std::optional<bool> BuiltUpon(const Manifest& newest, const BuiltVersion& ours) {
  const std::set<std::string> before = UniqueNames(ours.base->manifest());
  const std::set<std::string> after = UniqueNames(newest);
  for (const std::string& name : UniqueNames(ours.manifest)) {
    if (!before.contains(name) && after.contains(name)) {
      return true;
    }
  }
  // Counters only grow along a chain. That our names are gone says nothing: a version in between
  // may have compacted what we added, and a change of metadata or a removal names nothing new.
  if (newest.next_row_id < ours.manifest.next_row_id ||
      newest.next_fragment_id() < ours.manifest.next_fragment_id()) {
    return false;
  }
  return std::nullopt;
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
  if (newest.manifest.version == ours.manifest.version) {
    return Status::OK();
  }
  const std::optional<bool> built_upon = BuiltUpon(newest.manifest, ours);
  if (!built_upon) {
    return Unavailable(
        "commit.unsettled",
        fmt::format("version {} of {} was pruned while its successor was put, and "
                    "version {} does not tell whether it holds the change; look",
                    latest.version(), latest.location().path, newest.manifest.version),
        {.object = latest.location().path});
  }
  if (*built_upon) {
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
                             {.passes_guard = base.passes_guard(), .share_with = share});
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
