#include "history_writer.h"

#include <utility>

#include "omnigraph/graph/manifest/tiers.h"
#include "omnigraph/lance/table/data_writer.h"

namespace omnigraph::graph {

namespace {

/// Rows that are moved keep their ids, but not the version of each commit: a run per commit would
/// let the manifest grow with the history.
void ForgetVersions(uint64_t version, lance::NewFragment* moved) {
  if (moved->kept.has_value()) {
    moved->kept->created =
        lance::RowVersionSequence::Constant(version, moved->kept->row_ids.rows());
    moved->kept->updated = moved->kept->created;
  }
}

}  // namespace

Result<HistoryWriter::Batches> HistoryWriter::TailRows(const lance::Table& base,
                                                       const lance::Fragment& tail) {
  if (known_version_ == base.version()) {
    return known_;
  }
  lance::ScanOptions options;
  options.fragments = std::vector<uint64_t>{tail.id};
  OG_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::RecordBatchReader> reader, base.Scan(options));
  return reader->ToRecordBatches();
}

Status HistoryWriter::Rewrite(const lance::Table& base, const lance::Fragment& tail,
                              const std::shared_ptr<arrow::RecordBatch>& rows,
                              lance::Change* change) {
  OG_ASSIGN_OR_RETURN(written_, TailRows(base, tail));
  written_.push_back(rows);
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<lance::DataWriter> writer,
                      lance::DataWriter::Make(base.location(), base.lance_schema()));
  for (const auto& batch : written_) {
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
  OG_ASSIGN_OR_RETURN(change->added, writer->Finish());
  OG_ASSIGN_OR_RETURN(change->added.front().kept, base.Lineage(tail.id));
  ForgetVersions(base.version() + 1, &change->added.front());
  change->removed_fragments.push_back(tail.id);
  return Status::OK();
}

Status HistoryWriter::Begin(const lance::Table& base,
                            const std::shared_ptr<arrow::RecordBatch>& rows,
                            lance::Change* change) {
  const std::vector<lance::Fragment>& fragments = base.manifest().fragments;
  std::vector<uint64_t> sizes;
  for (const lance::Fragment& fragment : fragments) {
    sizes.push_back(fragment.physical_rows);
  }
  const size_t merged = TierMergeCount(sizes);
  if (merged > 0) {
    for (size_t i = fragments.size() - merged; i < fragments.size(); ++i) {
      change->removed_fragments.push_back(fragments[i].id);
    }
    OG_ASSIGN_OR_RETURN(change->added, lance::RewriteFragments(base, change->removed_fragments));
    for (lance::NewFragment& fragment : change->added) {
      ForgetVersions(base.version() + 1, &fragment);
    }
  }
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<lance::DataWriter> writer,
                      lance::DataWriter::Make(base.location(), base.lance_schema()));
  OG_RETURN_NOT_OK(writer->Write(*rows));
  OG_ASSIGN_OR_RETURN(std::vector<lance::NewFragment> tail, writer->Finish());
  std::move(tail.begin(), tail.end(), std::back_inserter(change->added));
  written_ = {rows};
  return Status::OK();
}

Status HistoryWriter::Add(const lance::Table& base, const std::shared_ptr<arrow::RecordBatch>& rows,
                          lance::Change* change) {
  const std::vector<lance::Fragment>& fragments = base.manifest().fragments;
  if (!fragments.empty() && fragments.back().physical_rows < kHistoryTailRows) {
    return Rewrite(base, fragments.back(), rows, change);
  }
  return Begin(base, rows, change);
}

void HistoryWriter::Landed(const lance::Table& table) {
  known_version_ = table.version();
  known_ = std::move(written_);
  written_.clear();
}

}  // namespace omnigraph::graph
