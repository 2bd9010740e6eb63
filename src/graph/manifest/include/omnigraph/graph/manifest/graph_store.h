/// \file
/// A graph on a store: create it, open it, follow its newest snapshot, open the tables that a
/// snapshot names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/history.h"
#include "omnigraph/graph/manifest/publisher.h"
#include "omnigraph/graph/manifest/snapshot.h"

namespace omnigraph::store {
class ObjectStore;
}  // namespace omnigraph::store
namespace omnigraph::lance {
class Table;
struct TableLocation;
}  // namespace omnigraph::lance

namespace omnigraph::schema {
class Catalog;
}  // namespace omnigraph::schema

namespace omnigraph::graph {

struct GraphAccess;

/// Settings of an opened graph.
struct GraphOptions {
  size_t open_tables_max = 256;  ///< opened table versions kept in memory
};

/// One branch (main) of a graph, opened. Thread-safe; share it within a process.
class Graph {
 public:
  struct Impl;

  /// Create a graph: every table's version 1 (empty, ancient, tagged), the schema objects,
  /// `__manifest` version 1, then version 2 put if absent, which is the creation.
  ///
  /// Errors: kInvalid (schema errors with line and column), kAlreadyExists (`graph.exists`;
  ///         `graph.not_empty`: the folder holds other things), any of the store.
  static Result<std::shared_ptr<Graph>> Init(std::shared_ptr<store::ObjectStore> store,
                                             std::string_view schema_text, std::string_view actor,
                                             const GraphOptions& options = {});

  /// Open a graph at its newest snapshot.
  ///
  /// Errors: kNotFound (`graph.not_found`), kUnsupported (`graph.newer_format`), kCorruption, any
  ///         of the store.
  /// Cost:   three reads (hint, newest, one miss); a listing only without a hint. The schema
  ///         objects are read when first asked for.
  static Result<std::shared_ptr<Graph>> Open(std::shared_ptr<store::ObjectStore> store,
                                             const GraphOptions& options = {});
  ~Graph();

  const std::shared_ptr<store::ObjectStore>& store() const;
  /// The newest snapshot that this object knows. No I/O.
  SnapshotRef snapshot() const;
  /// Walk to the newest version (C4, C5). Cost: two reads when nothing is new.
  Result<SnapshotRef> Refresh();
  /// The snapshot of an older sequence number. Errors: kNotFound (`snapshot.not_found`).
  Result<SnapshotRef> SnapshotAt(uint64_t sequence);
  /// The schema of a snapshot, cached by hash. Errors: kNotFound (`schema.not_found`).
  Result<std::shared_ptr<const schema::Catalog>> CatalogOf(const Snapshot& snapshot);
  /// The resolved schema object of a hash, cached (F6).
  Result<std::shared_ptr<const schema::Catalog>> CatalogOfHash(const std::string& schema_hash);

  /// Where a table lives.
  lance::TableLocation LocationOf(const TableState& table) const;
  /// A table as a snapshot names it, opened to pass its guard; recently used ones are kept, and
  /// share file readers with older versions of the same table.
  ///
  /// Errors: kCorruption (`table.missing`) when the named version is gone; any of the store.
  Result<std::shared_ptr<const lance::Table>> OpenTable(const TableState& table);
  /// The same by id. Errors: kNotFound (`table.unknown`).
  Result<std::shared_ptr<const lance::Table>> OpenTable(const Snapshot& snapshot, TableId id);
  /// `__manifest` itself at the snapshot's version.
  Result<std::shared_ptr<const lance::Table>> OpenManifest(const Snapshot& snapshot);

  Publisher& publisher();

  /// Newest commits of a snapshot first, at most `limit`.
  Result<std::vector<CommitRecord>> Commits(const Snapshot& snapshot, int64_t limit);

 private:
  friend struct GraphAccess;
  explicit Graph(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::graph
