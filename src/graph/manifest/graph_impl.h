/// \file
/// What Graph and Publisher share: the head of the chain, the caches. Private to this folder.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/runtime/mutex.h"

namespace omnigraph::graph {

/// The newest state of a chain that was seen. Value type; parts are immutable.
struct Head {
  SnapshotRef snapshot;
  std::shared_ptr<const lance::Table> manifest;  ///< the version of `snapshot`
  /// The newest version of the chain; the same as `manifest`'s, or a foreign one above it (C4).
  std::shared_ptr<const lance::StoredManifest> newest;
  /// Known to survive a power cut: put by this process, or made durable by it (P5).
  bool durable = false;
};

/// Keeps recently used table versions open. Thread-safe.
class OpenTables {
 public:
  explicit OpenTables(size_t max) : max_(max) {}

  /// nullptr: not here. `*relative` gets some other open version of the same table, or nullptr.
  std::shared_ptr<const lance::Table> Find(const std::string& path, uint64_t version,
                                           std::shared_ptr<const lance::Table>* relative);
  void Put(std::shared_ptr<const lance::Table> table);

 private:
  struct Entry {
    std::shared_ptr<const lance::Table> table;
    uint64_t used = 0;
  };
  const size_t max_;
  runtime::Mutex mutex_;
  std::map<std::pair<std::string, uint64_t>, Entry> entries_ OG_GUARDED_BY(mutex_);
  uint64_t clock_ OG_GUARDED_BY(mutex_) = 0;
};

struct Graph::Impl {
  Impl(std::shared_ptr<store::ObjectStore> object_store, const GraphOptions& graph_options);

  std::shared_ptr<store::ObjectStore> store;
  GraphOptions options;
  lance::TableLocation manifest_location;
  OpenTables tables;
  std::unique_ptr<Publisher> publisher;

  mutable runtime::Mutex mutex;
  Head head OG_GUARDED_BY(mutex);
  std::map<std::string, std::shared_ptr<const schema::Catalog>> catalogs OG_GUARDED_BY(mutex);

  /// Latest ordinary version of each table that this process promoted, by path.
  std::map<std::string, std::shared_ptr<const lance::Table>> ordinary OG_GUARDED_BY(mutex);

  Head CurrentHead() const;
  /// Keep `newer` unless it is known already.
  void Offer(const Head& newer);
  /// Walk to the newest version and offer it (C4, C5).
  Result<Head> Walk();
  /// Make the versions durable that `head` shows, whoever put them (P5): for a writer, before it
  /// builds on them. Errors: kNotFound when they were pruned since; of the store.
  Status MakeDurable(const Head& head);
  /// The head that `newest` shows: itself, or the newest own version below it (C4).
  /// Errors: kNotFound (`graph.not_found`) when no own version stands below.
  Result<Head> HeadFrom(lance::StoredManifest newest);
  /// The head of a version of our own that was just put.
  Result<Head> HeadOfTable(std::shared_ptr<const lance::Table> manifest) const;
};

/// Gives Publisher, Promoter and Init access to a graph's parts.
struct GraphAccess {
  static Graph::Impl& Of(Graph& graph) { return *graph.impl_; }
  static std::shared_ptr<Graph> Make(std::unique_ptr<Graph::Impl> impl);
};

/// Path of a schema object: `_schemas/<hash><suffix>`.
std::string SchemaObjectPath(const std::string& hash, std::string_view suffix);

}  // namespace omnigraph::graph
