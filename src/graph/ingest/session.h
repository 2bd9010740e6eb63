/// \file
/// One client's stream: lines to rows to lanes (docs/ingest.md, Admission).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ingest_core.h"
#include "ledger.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/write/line_reader.h"
#include "omnigraph/graph/write/row_parser.h"

namespace omnigraph::graph {

/// Single-owner. Borrows the core.
class Session : public IngestSession {
 public:
  Session(IngestCore* core, SessionOptions options);
  ~Session() override;

  omnigraph::Status Push(std::string_view chunk) override;
  omnigraph::Status Flush() override;
  omnigraph::Status Finish() override;
  omnigraph::Status FinishAsync(std::function<void()> done) override;
  SessionSummary Summary() const override { return ledger_->Summary(); }

 private:
  omnigraph::Status FollowSchema();
  omnigraph::Status Drain();
  void Admit(const write::Line& line);
  void Refuse(int64_t line, int64_t column, std::string code, std::string message,
              std::string property);
  omnigraph::Status Submit();
  omnigraph::Status SubmitType(const schema::TypeDef& type, write::RowBatch rows);
  omnigraph::Status AppendSlice(Lane& lane, const std::shared_ptr<arrow::RecordBatch>& batch,
                                const write::RowBatch& rows, int64_t first);
  void FailRows(const write::RowBatch& rows, int64_t from, const omnigraph::Status& status);
  omnigraph::Status EndOfInput();

  IngestCore& core_;
  std::shared_ptr<Ledger> ledger_;
  write::LineReader reader_;
  std::string schema_hash_;
  SnapshotRef snapshot_;
  std::unique_ptr<write::RowParser> parser_;
  std::unique_ptr<write::RowSet> rows_;
  std::vector<uint8_t> refused_types_;  ///< by type index: rows were admitted only to be dropped
  bool stopped_ = false;
  bool finished_ = false;
};

}  // namespace omnigraph::graph
