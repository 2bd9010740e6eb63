#include <algorithm>
#include <boost/json.hpp>

#include "omnigraph/engine/engine.h"
#include "omnigraph/engine/json.h"
#include "omnigraph/query/printers.h"
#include "query_text.h"
#include "target.h"

namespace omnigraph::cli {
namespace json = boost::json;
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;

/// A graph opened in this process.
class LocalTarget : public Target {
 public:
  LocalTarget(std::shared_ptr<engine::Engine> engine, std::string actor)
      : engine_(std::move(engine)), actor_(std::move(actor)) {}

  Result<json::object> IngestStream(const IngestArguments& arguments, Input* input,
                                    Progress* progress) override;
  Result<json::object> Fold() override;
  Result<json::object> IngestStatus() override;
  Result<std::string> Query(const QueryArguments& arguments) override;

 private:
  Status PushAll(Input* input, graph::IngestSession* session, Progress* progress);
  void Show(const graph::IngestSession& session, Progress* progress);

  std::shared_ptr<engine::Engine> engine_;
  const std::string actor_;
};

void LocalTarget::Show(const graph::IngestSession& session, Progress* progress) {
  const graph::SessionSummary summary = session.Summary();
  ProgressFigures figures;
  figures.rows = summary.lines - summary.blank;
  figures.acked = summary.acked;
  const Result<graph::StreamIngest*> ingest = engine_->Ingest();
  if (ingest.ok()) {
    const graph::IngestCounts counts = (*ingest)->Counts();
    figures.pending = static_cast<int64_t>(counts.pending);
    figures.lag_s = counts.oldest_pending_s;
  }
  progress->Show(figures);
}

Status LocalTarget::PushAll(Input* input, graph::IngestSession* session, Progress* progress) {
  std::string chunk(kChunkBytes, '\0');
  while (true) {
    OG_ASSIGN_OR_RETURN(const size_t got, input->Read(chunk.data(), chunk.size()));
    if (got == 0) {
      return Status::OK();
    }
    OG_RETURN_NOT_OK(session->Push(std::string_view(chunk).substr(0, got)));
    if (progress->Due()) {
      Show(*session, progress);
    }
  }
}

Result<json::object> LocalTarget::IngestStream(const IngestArguments& arguments, Input* input,
                                               Progress* progress) {
  const runtime::Duration started = runtime::MonotonicNow();
  OG_ASSIGN_OR_RETURN(graph::StreamIngest * ingest, engine_->Ingest());
  graph::SessionOptions options;
  options.actor = actor_;
  options.stop_on_error = arguments.stop_on_error;
  OG_ASSIGN_OR_RETURN(const std::unique_ptr<graph::IngestSession> session,
                      ingest->OpenSession(options));

  engine::IngestOutcome outcome;
  Status ended = PushAll(input, session.get(), progress);
  // Whatever ended the stream, every admitted row is settled before we say what was acked.
  const Status settled = session->Finish();
  if (ended.ok() || CodeOf(ended) == "ingest.stopped") {  // --stop-on-error: the refused line tells
    ended = settled;
  }
  if (ended.ok() && !arguments.no_fold) {
    ended = ingest->Fold().status();
  }
  outcome.folds = ingest->TakeReports();
  progress->Clear();
  outcome.session = session->Summary();
  outcome.elapsed_s = std::chrono::duration<double>(runtime::MonotonicNow() - started).count();
  const Result<graph::IngestStatus> status = engine_->IngestStatus();
  if (status.ok()) {
    for (const graph::ShardStatus& shard : status->shards) {
      outcome.pending += shard.pending;
    }
  }
  json::object out = engine::ToJson(outcome);
  if (!ended.ok()) {
    out["ended_by"] = engine::ErrorToJson(ended);
    out["exit_code"] = ErrorKindInfo(KindOf(ended)).exit_code;
  }
  const Status closed = engine_->Close();
  if (ended.ok() && !closed.ok()) {
    return closed;
  }
  return out;
}

Result<json::object> LocalTarget::Fold() {
  OG_ASSIGN_OR_RETURN(const graph::FoldReport report, engine_->Fold());
  return engine::ToJson(report);
}

Result<json::object> LocalTarget::IngestStatus() {
  OG_ASSIGN_OR_RETURN(const graph::IngestStatus status, engine_->IngestStatus());
  return engine::ToJson(status);
}

Result<std::string> LocalTarget::Query(const QueryArguments& arguments) {
  engine::QueryRequest request;
  OG_ASSIGN_OR_RETURN(request.text, QueryText(arguments));
  OG_ASSIGN_OR_RETURN(request.params_json, QueryParams(arguments));
  request.name = arguments.name;
  OG_ASSIGN_OR_RETURN(const query::OutputFormat format, query::ParseOutputFormat(arguments.format));
  OG_ASSIGN_OR_RETURN(const query::QueryResult result, engine_->Query(request));
  return query::FormatResult(result, format);
}

}  // namespace

Result<std::unique_ptr<Target>> OpenLocalTarget(const GlobalOptions& global) {
  engine::EngineOptions options;
  options.actor = global.actor;
  options.ingest.stop_folding = [] { return interrupted.load(); };
  OG_ASSIGN_OR_RETURN(std::shared_ptr<engine::Engine> engine,
                      engine::Engine::Open(global.store, std::move(options)));
  return std::make_unique<LocalTarget>(std::move(engine), global.actor);
}

}  // namespace omnigraph::cli
