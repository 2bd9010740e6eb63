/// \file
/// Making new versions of a table: create, detached commit, exact commit, ordinary commit with
/// rebase, and promotion of a detached version to the ordinary chain.
///
/// Every version is one put-if-absent of its manifest. A put that was not answered is settled by
/// reading (P4, docs/protocols/log.md): ours carries our transaction's uuid.
#pragma once

#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

struct CreateOptions {
  /// Columns of the unenforced primary key, in order. They must not be nullable.
  std::vector<std::string> primary_key;
  bool stable_row_ids = true;
  /// Put the two guards of a graph's table: writer flag 62, and version 1 with a timestamp of one
  /// second after the epoch and a tag on it.
  bool guarded = false;
  /// Name of the guard's tag: `_refs/tags/<name>.json`.
  std::string guard_tag = "omnigraph-guard";
  std::map<std::string, std::string> table_metadata;
  std::map<std::string, std::string> config;
};

/// Create an empty table: version 1.
///
/// Field ids are given depth first from 0. Field metadata of `schema` is kept.
/// Errors: kAlreadyExists (`table.exists`), kInvalid (`table.primary_key`), kUnsupported (a type),
///         any kind from ObjectStore.
/// Cost:   transaction file, manifest, hint; guarded: and the tag.
Result<std::shared_ptr<const Table>> CreateTable(const TableLocation& location,
                                                 const std::shared_ptr<arrow::Schema>& schema,
                                                 const CreateOptions& options = {});

/// A version that is built but not yet put. Value type.
struct BuiltVersion {
  TableLocation location;
  Manifest manifest;
  ManifestNaming naming = ManifestNaming::kV2;
  std::string object;  ///< path of the manifest in the store
  std::string bytes;   ///< of the manifest file
  std::string transaction_uuid;
  bool passes_guard = false;
  std::shared_ptr<const Table> base;
};

struct BuildOptions {
  /// Also put `_transactions/<read version>-<uuid>.txn` (ordinary versions).
  bool write_transaction_file = false;
  /// Commit time; absent = now.
  std::optional<int64_t> timestamp_us;
};

/// Build version `version` from `base` and a change. Puts the deletion files that it needs (and the
/// transaction file if asked), not the manifest.
///
/// Ids of new fragments go on from the base's `max_fragment_id`, row ids from its `next_row_id`.
/// Errors: kInvalid (`change.*`: malformed change), kNotFound (`change.no_row`: an address outside
///         the base or deleted in it), kUnsupported (writer flags), any kind from ObjectStore.
/// Cost:   per fragment that loses rows, one get and one put of its deletion file.
Result<BuiltVersion> BuildVersion(const std::shared_ptr<const Table>& base, const Change& change,
                                  uint64_t version, const BuildOptions& options = {});

/// Put a built version's manifest if absent, with strict durability.
///
/// Errors: kAlreadyExists (`table.version_exists`): the number is taken, perhaps by this very put
///         (SettleVersion decides); effect_unknown where the put may have taken effect.
/// Cost:   one put.
Result<std::shared_ptr<const Table>> PutVersion(const BuiltVersion& built);

/// Who stands at a built version's number.
enum class Settled : uint8_t {
  kOurs,    ///< this transaction
  kOther,   ///< another one
  kAbsent,  ///< nobody: put the same bytes again
};
/// Settle a put by reading (P4). Errors: any kind from ObjectStore.
Result<Settled> SettleVersion(const BuiltVersion& built);

/// Commit exactly at `version` (base + 1, or above a foreign version): build, put, settle. No
/// rebase.
///
/// The caller then looks once at its base (C5, StillStands).
/// Errors: kConflict (`commit.lost`): another's version stands there; else as BuildVersion. After
///         a failed sync (P3) the put's own error is returned, unsettled, its effect unknown.
Result<std::shared_ptr<const Table>> CommitExactly(const std::shared_ptr<const Table>& base,
                                                   const Change& change, uint64_t version,
                                                   const BuildOptions& options = {});

/// Commit a detached version on any base.
///
/// Cost: its deletion files, and one manifest put. No list, no hint, no transaction file.
Result<std::shared_ptr<const Table>> CommitDetached(const std::shared_ptr<const Table>& base,
                                                    const Change& change);

struct CommitOptions {
  /// Lost races and rebases before giving up.
  int attempts_max = 20;
};

/// Commit to the ordinary chain: on the newest version, rebased where the two changes can stand
/// together, with transaction file and hint.
///
/// Errors: kConflict (`commit.conflict`: what came between cannot stand beside this change; read
///         again and build it anew), kExhausted (`commit.contended`), kUnavailable
///         (`commit.unsettled`, effect unknown: the base was pruned meanwhile, and the newest
///         version does not tell whether it holds the change), else as BuildVersion.
Result<std::shared_ptr<const Table>> CommitOrdinary(const std::shared_ptr<const Table>& base,
                                                    const Change& change,
                                                    const CommitOptions& options = {});

/// What stands between a change and a newer version of its table.
struct RebaseReport {
  /// Addresses of the change that the newer version has deleted.
  std::vector<uint64_t> already_deleted;
  /// Addresses of the change whose fragment is gone or was rewritten: look their keys up again.
  std::vector<uint64_t> moved;
  /// Fragments to remove that are gone, or whose rows changed.
  std::vector<uint64_t> changed_fragments;
  bool schema_changed = false;

  bool clean() const {
    return already_deleted.empty() && moved.empty() && changed_fragments.empty() && !schema_changed;
  }
};

/// Compare a change made on `base` with a newer version of the table (any lineage).
///
/// Cost: deletion files of the fragments that the change touches.
Result<RebaseReport> CheckRebase(const Table& base, const Table& newer, const Change& change);

/// The change as it stands on `newer`: deletion vectors will be united, new fragments and row ids
/// numbered anew, index segments whose fragments were renumbered dropped (indexes are derived).
///
/// Errors: kConflict (`commit.conflict`) unless CheckRebase is clean.
Result<Change> Rebase(const Table& base, const Table& newer, const Change& change);

/// Transaction property that names the detached version which a promoted one shows.
inline constexpr std::string_view kPromotedProperty = "omnigraph.promoted";

/// Put the content of `head` (usually detached) as the next ordinary version above `latest`.
///
/// The caller reads `latest` (newest ordinary version, Look::kWriter the first time) first and the
/// head to promote after it (C7). The version carries a fresh timestamp and one transaction for
/// everything since `latest`: an Update; or a Restore where `latest` is foreign, schemas differ or
/// fragments were re-made. Already promoted: returns `latest`. Rewrites the hint.
/// Errors: kConflict (`promote.lost`): start over from reading `latest`; else as BuildVersion.
/// Cost:   transaction file, manifest, hint.
Result<std::shared_ptr<const Table>> Promote(const std::shared_ptr<const Table>& latest,
                                             const std::shared_ptr<const Table>& head);

/// True where `table` was made by CreateTable or Promote; false: an outsider's commit.
///
/// Errors: those of reading its transaction; then nobody knows.
Result<bool> IsOwnVersion(const Table& table);
/// The detached version that an ordinary one shows; nullopt for others. Errors: as IsOwnVersion.
Result<std::optional<uint64_t>> PromotedVersion(const Table& table);

}  // namespace omnigraph::lance
