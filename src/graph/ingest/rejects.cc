#include "omnigraph/graph/ingest/rejects.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <utility>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::graph {
namespace {

/// A batch column by column: each member once, in the order of RejectsSchema().
class RejectBuilder {
 public:
  explicit RejectBuilder(const std::vector<Reject>& rejects) : rejects_(rejects) {}

  template <typename Get>
  Status Text(const Get& get, bool empty_is_null = false) {
    arrow::StringBuilder builder;
    for (const Reject& reject : rejects_) {
      const std::string_view value = get(reject);
      OG_RETURN_NOT_OK(empty_is_null && value.empty() ? builder.AppendNull()
                                                      : builder.Append(value));
    }
    return Take(&builder);
  }
  template <typename Get>
  Status Made(const Get& get) {
    arrow::StringBuilder builder;
    for (const Reject& reject : rejects_) {
      OG_RETURN_NOT_OK(builder.Append(get(reject)));
    }
    return Take(&builder);
  }
  template <typename Get>
  Status Time(const Get& get, bool zero_is_null) {
    arrow::TimestampBuilder builder(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC"),
                                    arrow::default_memory_pool());
    for (const Reject& reject : rejects_) {
      const int64_t value = get(reject).count();
      OG_RETURN_NOT_OK(zero_is_null && value == 0 ? builder.AppendNull() : builder.Append(value));
    }
    return Take(&builder);
  }
  template <typename Get>
  Status Number(const Get& get) {
    arrow::UInt64Builder builder;
    for (const Reject& reject : rejects_) {
      OG_RETURN_NOT_OK(builder.Append(get(reject)));
    }
    return Take(&builder);
  }
  Status Sequence() {
    arrow::UInt64Builder builder;
    for (const Reject& reject : rejects_) {
      OG_RETURN_NOT_OK(reject.producer.empty() ? builder.AppendNull()
                                               : builder.Append(reject.sequence));
    }
    return Take(&builder);
  }

  std::shared_ptr<arrow::RecordBatch> Finish() {
    return arrow::RecordBatch::Make(RejectsSchema(), static_cast<int64_t>(rejects_.size()),
                                    std::move(columns_));
  }

 private:
  Status Take(arrow::ArrayBuilder* builder) {
    OG_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> column, builder->Finish());
    columns_.push_back(std::move(column));
    return Status::OK();
  }

  const std::vector<Reject>& rejects_;
  std::vector<std::shared_ptr<arrow::Array>> columns_;
};

std::string_view TextAt(const arrow::RecordBatch& batch, const char* name, int64_t row) {
  const auto& column = static_cast<const arrow::StringArray&>(*batch.GetColumnByName(name));
  return column.IsNull(row) ? std::string_view() : column.GetView(row);
}

uint64_t NumberAt(const arrow::RecordBatch& batch, const char* name, int64_t row) {
  const auto& column = static_cast<const arrow::UInt64Array&>(*batch.GetColumnByName(name));
  return column.IsNull(row) ? 0 : column.Value(row);
}

std::chrono::microseconds TimeAt(const arrow::RecordBatch& batch, const char* name, int64_t row) {
  const auto& column = static_cast<const arrow::TimestampArray&>(*batch.GetColumnByName(name));
  return std::chrono::microseconds(column.IsNull(row) ? 0 : column.Value(row));
}

Result<Reject> RejectAt(const arrow::RecordBatch& batch, int64_t row) {
  Reject out;
  out.id = TextAt(batch, "id", row);
  out.state = TextAt(batch, "state", row);
  out.acked_at = TimeAt(batch, "acked_at", row);
  out.rejected_at = TimeAt(batch, "rejected_at", row);
  out.branch = TextAt(batch, "branch", row);
  out.kind = TextAt(batch, "kind", row);
  out.type = TextAt(batch, "type", row);
  out.entity_id = TextAt(batch, "entity_id", row);
  out.row = TextAt(batch, "row", row);
  out.code = TextAt(batch, "code", row);
  out.message = TextAt(batch, "message", row);
  out.actor = TextAt(batch, "actor", row);
  out.producer = TextAt(batch, "producer", row);
  out.sequence = NumberAt(batch, "sequence", row);
  OG_ASSIGN_OR_RETURN(out.table_id, ParseHex64(TextAt(batch, "table_id", row)));
  OG_ASSIGN_OR_RETURN(out.shard, Uuid::Parse(TextAt(batch, "shard", row)));
  out.epoch = NumberAt(batch, "epoch", row);
  out.position = NumberAt(batch, "position", row);
  out.commit_id = TextAt(batch, "commit_id", row);
  out.replayed_as = TextAt(batch, "replayed_as", row);
  return out;
}

bool Matches(const RejectFilter& filter, const arrow::RecordBatch& batch, int64_t row) {
  return (filter.state.empty() || TextAt(batch, "state", row) == filter.state) &&
         (filter.type.empty() || TextAt(batch, "type", row) == filter.type) &&
         (filter.code.empty() || TextAt(batch, "code", row) == filter.code);
}

Result<std::shared_ptr<const lance::Table>> OpenRejects(Graph& graph, const Snapshot& snapshot) {
  const TableState* state = snapshot.Rejects();
  if (state == nullptr) {
    return Corruption("manifest.snapshot", "the snapshot names no rejects table", kManifestPath);
  }
  return graph.OpenTable(*state);
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> RejectsBatch(const std::vector<Reject>& rejects) {
  RejectBuilder rows(rejects);
  using R = Reject;
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.id); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.state); }));
  OG_RETURN_NOT_OK(rows.Time([](const R& r) { return r.acked_at; }, true));
  OG_RETURN_NOT_OK(rows.Time([](const R& r) { return r.rejected_at; }, false));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.branch); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.kind); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.type); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.entity_id); }, true));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.row); }, true));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.code); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.message); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.actor); }, true));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.producer); }, true));
  OG_RETURN_NOT_OK(rows.Sequence());
  OG_RETURN_NOT_OK(rows.Made([](const R& r) { return FormatHex64(r.table_id); }));
  OG_RETURN_NOT_OK(rows.Made([](const R& r) { return r.shard.ToString(); }));
  OG_RETURN_NOT_OK(rows.Number([](const R& r) { return r.epoch; }));
  OG_RETURN_NOT_OK(rows.Number([](const R& r) { return r.position; }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.commit_id); }));
  OG_RETURN_NOT_OK(rows.Text([](const R& r) { return std::string_view(r.replayed_as); }, true));
  return rows.Finish();
}

Result<std::vector<Reject>> ListRejects(Graph& graph, const Snapshot& snapshot,
                                        const RejectFilter& filter) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> table,
                      OpenRejects(graph, snapshot));
  std::vector<Reject> out;
  const std::vector<lance::Fragment>& fragments = table->manifest().fragments;
  for (auto at = fragments.rbegin();
       at != fragments.rend() && static_cast<int64_t>(out.size()) < filter.limit; ++at) {
    lance::ScanOptions options;
    options.fragments = std::vector<uint64_t>{at->id};
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader,
                        table->Scan(options));
    OG_ASSIGN_OR_RETURN(const auto batches, reader->ToRecordBatches());
    for (auto batch = batches.rbegin(); batch != batches.rend(); ++batch) {
      for (int64_t row = (*batch)->num_rows() - 1;
           row >= 0 && static_cast<int64_t>(out.size()) < filter.limit; --row) {
        if (Matches(filter, **batch, row)) {
          OG_ASSIGN_OR_RETURN(Reject reject, RejectAt(**batch, row));
          out.push_back(std::move(reject));
        }
      }
    }
  }
  return out;
}

Result<std::map<std::string, int64_t>> CountRejects(Graph& graph, const Snapshot& snapshot) {
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<const lance::Table> table,
                      OpenRejects(graph, snapshot));
  lance::ScanOptions options;
  options.columns = std::vector<std::string>{"state", "code"};
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, table->Scan(options));
  std::map<std::string, int64_t> out;
  while (true) {
    OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
    if (batch == nullptr) {
      return out;
    }
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      if (TextAt(*batch, "state", row) == "open") {
        ++out[std::string(TextAt(*batch, "code", row))];
      }
    }
  }
}

}  // namespace omnigraph::graph
