/// \file
/// The data files of a load: put while rows stream by, named by nobody before the commit.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/snapshot.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/lance/table/change.h"

namespace omnigraph::graph {
class Graph;
}  // namespace omnigraph::graph
namespace omnigraph::lance {
class DataWriter;
class Table;
}  // namespace omnigraph::lance

namespace omnigraph::write {

/// Single-owner: one thread at a time.
class LoadFiles {
 public:
  LoadFiles(graph::Graph* graph, graph::SnapshotRef snapshot, const schema::Catalog& catalog);
  ~LoadFiles();

  /// Count a batch of the log's shape and write its table columns, unless `wanted` is false.
  /// Errors: any of the graph and the store.
  Status Write(int type_index, const arrow::RecordBatch& batch, bool wanted);
  /// Rows counted so far.
  uint64_t rows(int type_index) const;

  /// Put what is left. Call once.
  Status Finish();
  /// Take some rows out again, by their number in this input; ascending. After Finish().
  /// Cost: reads and writes the type's files once more.
  Status Remove(int type_index, const std::vector<uint64_t>& numbers);

  const std::vector<lance::NewFragment>& fragments(int type_index) const;
  int64_t added_rows(int type_index) const;

  /// Delete every file; what cannot be deleted is swept by age.
  void Abandon();

 private:
  struct TypeFiles;
  Result<TypeFiles*> Open(int type_index);
  static void Delete(const TypeFiles& files, const std::vector<lance::NewFragment>& fragments);

  graph::Graph& graph_;
  graph::SnapshotRef snapshot_;
  const schema::Catalog& catalog_;
  std::map<int, std::unique_ptr<TypeFiles>> types_;
};

}  // namespace omnigraph::write
