/// \file
/// A graph held in memory as Arrow tables: for tests, tools and small examples.
#pragma once

#include <arrow/type_fwd.h>

#include <map>
#include <memory>
#include <string>

#include "omnigraph/query/source.h"

namespace omnigraph::query {

/// Tables by type name. Thread-compatible while tables are set, Thread-safe afterwards.
class MemorySource : public GraphSource {
 public:
  /// Every type starts without rows. `name` goes into the identity of the tables.
  explicit MemorySource(std::shared_ptr<const schema::Catalog> catalog, std::string name = {});

  /// Give a type its rows.
  ///
  /// Shape:  columns as schema::ArrowSchemaOf(type).
  /// Errors: kInvalid (`query.memory_source`).
  Status SetTable(const schema::TypeDef& type, std::shared_ptr<arrow::Table> table);

  std::shared_ptr<const schema::Catalog> catalog() const override { return catalog_; }
  Result<std::shared_ptr<const TableSource>> Open(const schema::TypeDef& type) const override;

 private:
  std::shared_ptr<const schema::Catalog> catalog_;
  std::string name_;
  std::map<uint64_t, std::shared_ptr<arrow::Table>> tables_;  // by table id
};

}  // namespace omnigraph::query
