// Moving live rows into new fragments: the data side of compaction.

#include <arrow/array.h>
#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {
namespace {

/// Row ids and versions of the rows written so far, in order.
struct KeptRows {
  std::vector<uint64_t> ids;
  std::vector<uint64_t> created;
  std::vector<uint64_t> updated;
};

void AppendColumn(const arrow::RecordBatch& batch, int column, std::vector<uint64_t>* out) {
  const auto& values = static_cast<const arrow::UInt64Array&>(*batch.column(column));
  out->insert(out->end(), values.raw_values(), values.raw_values() + values.length());
}

Status CopyRows(const Table& table, const std::vector<uint64_t>& fragment_ids, DataWriter* writer,
                KeptRows* kept) {
  const bool stable = table.stable_row_ids();
  ScanOptions options;
  options.fragments = fragment_ids;
  options.with_row_id = options.with_created_version = options.with_updated_version = stable;
  OG_ASSIGN_OR_RETURN(const auto reader, table.Scan(options));
  const int columns = table.schema()->num_fields();
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    OG_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (batch == nullptr) {
      return Status::OK();
    }
    if (stable) {
      AppendColumn(*batch, columns, &kept->ids);
      AppendColumn(*batch, columns + 1, &kept->created);
      AppendColumn(*batch, columns + 2, &kept->updated);
      arrow::ArrayVector data(batch->columns().begin(), batch->columns().begin() + columns);
      batch = arrow::RecordBatch::Make(table.schema(), batch->num_rows(), std::move(data));
    }
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
}

RowLineage LineageOf(const KeptRows& kept, size_t begin, size_t end) {
  RowLineage lineage;
  for (size_t i = begin; i < end; ++i) {
    lineage.row_ids.Append(kept.ids[i], 1);
    lineage.created.Append(kept.created[i], 1);
    lineage.updated.Append(kept.updated[i], 1);
  }
  return lineage;
}

}  // namespace

Result<std::vector<NewFragment>> RewriteFragments(
    const Table& table, const std::vector<uint64_t>& fragment_ids,
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& more,
    const DataWriterOptions& options) {
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<DataWriter> writer,
                      DataWriter::Make(table.location(), table.lance_schema(), options));
  KeptRows kept;
  OG_RETURN_NOT_OK(CopyRows(table, fragment_ids, writer.get(), &kept));
  for (const std::shared_ptr<arrow::RecordBatch>& batch : more) {
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
  OG_ASSIGN_OR_RETURN(std::vector<NewFragment> fragments, writer->Finish());
  size_t begin = 0;
  for (NewFragment& fragment : fragments) {
    const size_t end = begin + static_cast<size_t>(fragment.rows);
    const size_t kept_end = std::min(end, kept.ids.size());
    if (begin < kept_end) {
      fragment.kept = LineageOf(kept, begin, kept_end);
    }
    begin = end;
  }
  return fragments;
}

}  // namespace omnigraph::lance
