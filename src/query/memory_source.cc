#include "omnigraph/query/memory_source.h"

#include <arrow/api.h>

#include <utility>

#include "omnigraph/graph/schema/physical.h"

namespace omnigraph::query {
namespace {

/// One table in memory. Immutable.
class MemoryTable : public TableSource {
 public:
  MemoryTable(std::shared_ptr<arrow::Table> table, std::string identity)
      : table_(std::move(table)), identity_(std::move(identity)) {}

  std::string identity() const override { return identity_; }
  int64_t rows() const override { return table_->num_rows(); }

  Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns) const override {
    std::vector<int> indices;
    for (const std::string& name : columns) {
      indices.push_back(table_->schema()->GetFieldIndex(name));
    }
    OG_ASSIGN_OR_RETURN(auto selected, table_->SelectColumns(indices));
    return std::make_shared<arrow::TableBatchReader>(std::move(selected));
  }

 private:
  std::shared_ptr<arrow::Table> table_;
  std::string identity_;
};

}  // namespace

MemorySource::MemorySource(std::shared_ptr<const schema::Catalog> catalog, std::string name)
    : catalog_(std::move(catalog)), name_(std::move(name)) {}

Status MemorySource::SetTable(const schema::TypeDef& type, std::shared_ptr<arrow::Table> table) {
  const auto wanted = schema::ArrowSchemaOf(type);
  if (!table->schema()->Equals(*wanted, /*check_metadata=*/false)) {
    return Invalid("query.memory_source",
                   "the table of " + type.name + " has not the columns " + wanted->ToString());
  }
  tables_[type.table_id] = std::move(table);
  return Status::OK();
}

Result<std::shared_ptr<const TableSource>> MemorySource::Open(const schema::TypeDef& type) const {
  const auto found = tables_.find(type.table_id);
  std::shared_ptr<arrow::Table> table;
  if (found != tables_.end()) {
    table = found->second;
  } else {
    OG_ASSIGN_OR_RETURN(table, arrow::Table::MakeEmpty(schema::ArrowSchemaOf(type)));
  }
  const std::string identity = name_.empty() ? "" : name_ + "/" + type.TablePath();
  return std::make_shared<const MemoryTable>(std::move(table), identity);
}

}  // namespace omnigraph::query
