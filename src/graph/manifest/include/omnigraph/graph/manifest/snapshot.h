/// \file
/// A snapshot: everything that a query, a writer or a fold needs to start, as a value.
///
/// It stands in the `table_metadata` of one version of `__manifest`; the keys are here, their
/// meaning in docs/format/manifest-table.md. No I/O here: graph_store.h finds, opens and refreshes
/// snapshots.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"

namespace omnigraph::graph {

/// Format of a graph that this code writes and the newest that it reads (`omnigraph.format`).
inline constexpr int kGraphFormat = 1;

/// Keys of `table_metadata`.
inline constexpr std::string_view kKeyFormat = "omnigraph.format";
inline constexpr std::string_view kKeyGraph = "omnigraph.graph";
inline constexpr std::string_view kKeyBranch = "omnigraph.branch";
inline constexpr std::string_view kKeySequence = "omnigraph.sequence";
inline constexpr std::string_view kKeyHead = "omnigraph.head";
inline constexpr std::string_view kKeySchema = "omnigraph.schema";
inline constexpr std::string_view kKeyProducers = "omnigraph.producers";
inline constexpr std::string_view kKeyPaused = "omnigraph.paused";
inline constexpr std::string_view kKeyEnded = "omnigraph.ended";
inline constexpr std::string_view kKeyTablePrefix = "omnigraph.table.";

/// Folder of the main branch's `__manifest`.
inline constexpr std::string_view kManifestPath = "__manifest.lance";
inline constexpr std::string_view kRejectsPath = "_ingest_rejects.lance";
/// Key hashes of a load that do not fit its memory, while it runs; named by nothing.
inline constexpr std::string_view kSpillPath = "_spill/";
/// An empty object whose age says when somebody last set out to sweep.
inline constexpr std::string_view kSweptPath = "_sweep/last";
inline constexpr std::string_view kMainBranch = "main";

/// The 64-bit random id of a table, the same for all its life, renames included.
using TableId = uint64_t;

/// What a table holds.
enum class TableKind : uint8_t {
  kNode,     ///< one node type
  kEdge,     ///< one edge type
  kRejects,  ///< `_ingest_rejects`
};

/// Spelling in JSON: `node`, `edge`, `rejects`.
std::string_view TableKindName(TableKind kind);

/// One table as a snapshot names it. Value type.
struct TableState {
  TableKind kind = TableKind::kNode;
  std::string name;  ///< type name; may change by a rename
  TableId id = 0;
  uint64_t incarnation = 0;
  uint64_t version = 0;    ///< Lance version, mostly a detached one (bit 63)
  uint64_t publishes = 0;  ///< how many commits wrote it; a row's created and updated version
  int64_t rows = 0;        ///< live rows
  /// Folded position per shard; a shard stands here from enrolment on (W1). Only grows.
  std::map<Uuid, uint64_t> shards;
  /// Rows of its log up to those positions: acked = visible + superseded + rejected (G2). What is
  /// acked and stands above the positions is pending; the log tells how much.
  uint64_t acked = 0;
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;

  bool enrolled() const { return !shards.empty(); }
  /// Folder below the graph root, such as `nodes/<id>-<incarnation>.lance`.
  std::string path() const;
  /// Value of its metadata key, compact JSON with members in fixed order.
  std::string ToJson() const;
  /// Errors: kCorruption (`manifest.table_state`) naming `object`.
  static Result<TableState> FromJson(TableId id, std::string_view json, std::string_view object);

  bool operator==(const TableState&) const = default;
};

/// The state of one branch after one commit. Immutable once shared.
struct Snapshot {
  int format = kGraphFormat;
  std::string graph_id;  ///< ULID given at creation
  std::string branch;
  uint64_t sequence = 0;                     ///< the version of `__manifest` that holds it (C4)
  std::string head;                          ///< id of the commit that made it
  std::string schema_hash;                   ///< SHA-256 of the resolved schema object
  std::string producers;                     ///< name of the producer marks object; empty: none
  std::vector<std::string> paused;           ///< types whose admission is paused (F5), sorted
  std::optional<std::string> ended;          ///< set on the terminal version of a branch (B1)
  std::map<TableId, TableState> tables;      ///< ordered, so that bytes are a function of content
  std::map<std::string, std::string> extra;  ///< metadata keys that this code does not know, kept
  /// Newest version of a foreign writer that stands above `sequence` (C4); 0: none.
  uint64_t foreign_version = 0;

  /// The table of a type; names match exactly. nullptr: none.
  const TableState* FindTable(TableKind kind, std::string_view name) const;
  const TableState* FindTable(TableId id) const;
  /// `_ingest_rejects`; every graph has it.
  const TableState* Rejects() const;

  /// All metadata of the version, `extra` included.
  std::map<std::string, std::string> ToMetadata() const;
  /// Errors: kUnsupported (`graph.newer_format`); kCorruption (`manifest.snapshot`) naming
  /// `object`.
  static Result<Snapshot> FromMetadata(const std::map<std::string, std::string>& metadata,
                                       std::string_view object);
  /// True if the metadata belongs to a version of our own: `omnigraph.sequence` equals `version`
  /// (C4).
  static bool IsOwn(const std::map<std::string, std::string>& metadata, uint64_t version);
};

using SnapshotRef = std::shared_ptr<const Snapshot>;

}  // namespace omnigraph::graph
