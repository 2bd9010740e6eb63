/// \file
/// The ways of a durable put as lists of steps. The local store runs them, the crash-state test
/// enumerates what a power cut leaves after each step, and the benchmark measures them: one list
/// for all three.
///
/// What each step orders and why: docs/format/durable-put.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace omnigraph::store {

enum class PutStep : uint8_t {
  kWrite,       ///< all bytes into the unnamed file
  kWriteback,   ///< sync_file_range: wait, write, wait
  kSyncData,    ///< fdatasync of the file
  kLink,        ///< the name appears, unless it exists
  kLinkHidden,  ///< a hidden name, from which the next two go on
  kReplace,     ///< the hidden name becomes the final one, in the place of an older object
  kExchange,    ///< hidden and final name change places; fails where the final one is absent
  kDropHidden,  ///< the hidden name goes
  kSyncFile,    ///< fsync of the file
  kSyncFolder,  ///< fsync of the folder
};

std::string_view ToString(PutStep step);

/// One way of putting. Immutable.
struct PutPlan {
  std::string_view name;
  std::span<const PutStep> steps;
};

namespace internal {
inline constexpr std::array kOrderedSteps{PutStep::kWrite, PutStep::kWriteback, PutStep::kLink,
                                          PutStep::kSyncFile};
inline constexpr std::array kStrictSteps{PutStep::kWrite, PutStep::kSyncData, PutStep::kLink,
                                         PutStep::kSyncFolder};
inline constexpr std::array kStrictFileSteps{PutStep::kWrite, PutStep::kSyncData, PutStep::kLink,
                                             PutStep::kSyncFile};
inline constexpr std::array kStrictBothSteps{PutStep::kWrite, PutStep::kSyncData, PutStep::kLink,
                                             PutStep::kSyncFile, PutStep::kSyncFolder};
inline constexpr std::array kReplaceSteps{PutStep::kWrite, PutStep::kLinkHidden, PutStep::kSyncFile,
                                          PutStep::kReplace, PutStep::kSyncFolder};
inline constexpr std::array kRenewSteps{PutStep::kWrite,      PutStep::kLinkHidden,
                                        PutStep::kSyncFile,   PutStep::kExchange,
                                        PutStep::kSyncFolder, PutStep::kDropHidden};
inline constexpr std::array kLinkFirstSteps{PutStep::kWrite, PutStep::kLink, PutStep::kSyncFile};
}  // namespace internal

/// Rule P2, ordered: where a file system is known to keep it.
inline constexpr PutPlan kOrderedPlan{"ordered", internal::kOrderedSteps};
/// Rule P2, strict: where a synced folder brings the link count of its files along (a journal).
inline constexpr PutPlan kStrictPlan{"strict", internal::kStrictSteps};
/// Strict where a synced file brings its new name along, and a synced folder not its link count
/// (ext4 without a journal).
inline constexpr PutPlan kStrictFilePlan{"strict_file", internal::kStrictFileSteps};
/// Strict on any file system: the link count is synced through the file, the entry through the
/// folder.
inline constexpr PutPlan kStrictBothPlan{"strict_both", internal::kStrictBothSteps};
/// Put that replaces. The file is whole and has its link count before the name passes to it.
inline constexpr PutPlan kReplacePlan{"replace", internal::kReplaceSteps};
/// An object of the same bytes in the place of one that may not be durable (MakeDurable). A new
/// file, because a failed sync leaves pages behind that no later sync writes; an exchange, because
/// a plain rename would bring back what was deleted meanwhile.
inline constexpr PutPlan kRenewPlan{"renew", internal::kRenewSteps};
/// Wrong, and as dear as ordered: a power cut may leave an empty file under its final name. For
/// tests and benchmarks.
inline constexpr PutPlan kLinkFirstPlan{"link_first", internal::kLinkFirstSteps};

}  // namespace omnigraph::store
