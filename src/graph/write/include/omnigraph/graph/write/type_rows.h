/// \file
/// Admitted rows of one type, growing column by column.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::write {

struct StagedRow;

/// Rows that were taken out of a TypeRows. Immutable by convention.
struct RowBatch {
  /// Columns of schema::ArrowLogSchemaOf: the table's columns, then `_tombstone`.
  std::shared_ptr<arrow::RecordBatch> batch;
  /// Line of each row.
  std::vector<int64_t> lines;
  /// 1 where the row's id is a fresh ULID of this admission, so that no other row can have it.
  std::vector<uint8_t> minted;
};

/// The rows of one type that are not taken yet. Keeps its memory from batch to batch.
/// Thread-compatible.
class TypeRows {
 public:
  explicit TypeRows(const schema::TypeDef& type);
  ~TypeRows();
  TypeRows(TypeRows&&) noexcept;
  TypeRows& operator=(TypeRows&&) noexcept;

  int64_t rows() const;
  /// Bytes of the values held so far, without buffers grown ahead.
  int64_t bytes() const;

  /// Take all rows out and start anew. Errors: kExhausted when memory runs out.
  Result<RowBatch> Finish();

  /// Append one checked row; used by RowParser. Errors: kExhausted.
  Status Append(const StagedRow& row);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One TypeRows for each type of a catalog, by type index. Thread-compatible.
class RowSet {
 public:
  explicit RowSet(std::shared_ptr<const schema::Catalog> catalog);

  const schema::Catalog& catalog() const { return *catalog_; }
  TypeRows& at(int type_index) { return types_[static_cast<size_t>(type_index)]; }
  int64_t rows() const;
  int64_t bytes() const;

 private:
  std::shared_ptr<const schema::Catalog> catalog_;
  std::vector<TypeRows> types_;
};

}  // namespace omnigraph::write
