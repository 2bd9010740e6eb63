#include "snapshot_source.h"

#include <arrow/record_batch.h>

#include "omnigraph/lance/table/scan.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::engine {
namespace {

/// Rows that a scan decodes at a time: large, since queries take whole columns.
constexpr int64_t kScanBatchRows = 65'536;

class LanceSource : public query::TableSource {
 public:
  explicit LanceSource(std::shared_ptr<const lance::Table> table) : table_(std::move(table)) {}

  std::string identity() const override {
    return table_->location().path + "@" + std::to_string(table_->version());
  }

  int64_t rows() const override { return static_cast<int64_t>(table_->CountRows()); }

  Result<std::shared_ptr<arrow::RecordBatchReader>> Scan(
      const std::vector<std::string>& columns) const override {
    lance::ScanOptions options;
    options.columns = columns;
    options.batch_rows = kScanBatchRows;
    return table_->Scan(options);
  }

 private:
  std::shared_ptr<const lance::Table> table_;
};

}  // namespace

SnapshotSource::SnapshotSource(std::shared_ptr<graph::Graph> graph, graph::SnapshotRef snapshot,
                               std::shared_ptr<const schema::Catalog> catalog)
    : graph_(std::move(graph)), snapshot_(std::move(snapshot)), catalog_(std::move(catalog)) {}

Result<std::shared_ptr<const query::TableSource>> SnapshotSource::Open(
    const schema::TypeDef& type) const {
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const lance::Table> table,
                      graph_->OpenTable(*snapshot_, type.table_id));
  return std::make_shared<LanceSource>(std::move(table));
}

}  // namespace omnigraph::engine
