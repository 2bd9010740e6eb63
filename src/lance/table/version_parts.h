/// \file
/// Steps of building a version, shared by build_version.cc and promote.cc. Private to this layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/change.h"
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/lance/table/transaction.h"

namespace omnigraph::lance {

/// What a change did to the fragments of its base.
struct FragmentEffects {
  std::vector<Fragment> updated;      ///< with their new deletion file
  std::vector<uint64_t> removed_ids;  ///< asked for, or emptied; ascending
  std::vector<Fragment> added;        ///< with ids and row ids
};

/// The transaction of a change that had these effects. `manifest` is the version made.
Transaction TransactionOf(const Table& base, const Change& change, const Manifest& manifest,
                          const FragmentEffects& effects);

/// A fragment as transactions carry new ones: without id and fresh row ids.
Fragment Unassigned(const Fragment& fragment, bool keeps_row_ids);

/// Ids of all fields, for Update transactions (indexes on them keep their coverage).
std::vector<uint32_t> AllFieldIds(const Schema& schema);

/// Keep the coverage of index segments true after a change; segments that cannot be kept go (they
/// are derived).
void UpdateCoverage(const Change& change, const FragmentEffects& effects, bool stable_row_ids,
                    std::vector<IndexMetadata>* indices);

/// Feature flags of a manifest by its content; flags of the base that we keep are kept.
void SetFlags(Manifest* manifest);

/// Name, encode and (if asked) put the transaction; encode the manifest. The last step of a build.
Result<BuiltVersion> FinishBuild(const std::shared_ptr<const Table>& base, Manifest manifest,
                                 Transaction transaction, ManifestNaming naming,
                                 const BuildOptions& options);

/// Puts of the same bytes after answers that settled as "absent".
inline constexpr int kPutsMax = 5;
/// False only where the store knows that this put did nothing. "Exists" may be our own put, which
/// the store repeated (P4).
bool MayHaveLanded(const Status& put);
/// P3: after a failed sync nothing is settled by reading.
bool IsFailedSync(const Status& put);

/// Put and settle (P4): OK when ours stands, kConflict (`commit.lost`) when another's does. Any
/// other answer has its effect unknown once a single try may have landed; else nothing was put.
Result<std::shared_ptr<const Table>> PutSettled(const BuiltVersion& built);

/// The seconds of micros since the epoch as RFC 3339 with nanoseconds and `Z`.
std::string FormatTime(int64_t unix_us);

/// Block for a random time that grows with the attempt (0, 1, 2 ...), at most 200 ms.
void Backoff(int attempt);

}  // namespace omnigraph::lance
