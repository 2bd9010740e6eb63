#include "session.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "omnigraph/lance/memwal/entry.h"

namespace omnigraph::graph {
namespace {

/// Rows of all types that are gathered before they are handed to the logs.
constexpr int64_t kGatherBytes = 2 << 20;
/// Runs of minted and given ids in one append; a mix finer than this is declared as given.
constexpr size_t kRunsMax = 64;
/// Pause before an append that found the writer's queue full is tried again.
constexpr runtime::Duration kQueueFullPause = std::chrono::milliseconds(2);

std::vector<lance::EntryRun> RunsOf(const std::vector<uint8_t>& minted, int64_t first, int64_t rows,
                                    const std::string& actor) {
  std::vector<lance::EntryRun> out;
  for (int64_t i = first; i < first + rows; ++i) {
    const bool is_minted = minted[static_cast<size_t>(i)] != 0;
    if (out.empty() || out.back().minted != is_minted) {
      if (out.size() == kRunsMax) {
        return {lance::EntryRun{.rows = rows, .actor = actor}};
      }
      out.push_back(lance::EntryRun{.actor = actor, .minted = is_minted});
    }
    ++out.back().rows;
  }
  return out;
}

AckEvent EventOf(const Result<lance::Receipt>& receipt, std::span<const int64_t> lines,
                 runtime::Duration since) {
  AckEvent out;
  out.rows = static_cast<int64_t>(lines.size());
  out.lines = lines;
  out.latency =
      std::chrono::duration_cast<std::chrono::microseconds>(runtime::MonotonicNow() - since);
  if (receipt.ok()) {
    out.shard = receipt->shard;
    out.epoch = receipt->epoch;
    out.position = receipt->position;
    return out;
  }
  const ErrorDetail* detail = GetErrorDetail(receipt.status());
  const bool unknown = detail != nullptr && detail->effect_unknown();
  out.outcome = unknown ? AckEvent::Outcome::kUnknown : AckEvent::Outcome::kFailed;
  out.status = receipt.status();
  return out;
}

/// Append again while the writer's queue is full, until `deadline`.
template <typename Append>
omnigraph::Status WhileQueueFull(runtime::Duration deadline, const Append& append) {
  omnigraph::Status status = append();
  while (!status.ok() && CodeOf(status) == "memwal.queue_full" &&
         runtime::MonotonicNow() < deadline) {
    runtime::SleepFor(kQueueFullPause);
    status = append();
  }
  return status;
}

}  // namespace

Session::Session(IngestCore* core, SessionOptions options)
    : core_(*core),
      ledger_(std::make_shared<Ledger>(std::move(options))),
      reader_(core->options().line_bytes_max) {}

Session::~Session() = default;

void Session::Refuse(int64_t line, int64_t column, std::string code, std::string message,
                     std::string property) {
  ledger_->Refused(Refusal{line, column, std::move(code), std::move(message), std::move(property)});
  stopped_ = stopped_ || ledger_->options().stop_on_error;
}

/// Take up a schema that was published since the last chunk.
omnigraph::Status Session::FollowSchema() {
  snapshot_ = core_.graph().snapshot();
  if (snapshot_->schema_hash == schema_hash_) {
    return Status::OK();
  }
  if (rows_ != nullptr) {
    OG_RETURN_NOT_OK(Submit());
  }
  OG_ASSIGN_OR_RETURN(std::shared_ptr<const schema::Catalog> catalog,
                      core_.graph().CatalogOf(*snapshot_));
  OG_ASSIGN_OR_RETURN(parser_, write::RowParser::Make(catalog));
  rows_ = std::make_unique<write::RowSet>(catalog);
  refused_types_.assign(catalog->types().size(), 0);
  schema_hash_ = snapshot_->schema_hash;
  return Status::OK();
}

void Session::Admit(const write::Line& line) {
  write::AdmittedRow row;
  write::LineError error;
  if (!parser_->Parse(line, rows_.get(), &row, &error)) {
    Refuse(error.line, error.column, std::move(error.code), std::move(error.message),
           std::move(error.property));
    return;
  }
  const schema::TypeDef& type = parser_->catalog().type(row.type_index);
  if (!type.stream.has_value()) {
    refused_types_[static_cast<size_t>(row.type_index)] = 1;
    Refuse(line.number, 0, "ingest.not_enrolled",
           fmt::format("`{}` takes no stream: add @stream to the type, or use `omnigraph load`",
                       type.name),
           "");
  } else if (std::binary_search(snapshot_->paused.begin(), snapshot_->paused.end(), type.name)) {
    refused_types_[static_cast<size_t>(row.type_index)] = 1;
    Refuse(line.number, 0, "ingest.paused",
           fmt::format("`{}` was paused by a reject: repair it, then `omnigraph ingest resume`",
                       type.name),
           "");
  }
}

omnigraph::Status Session::Drain() {
  write::Line line;
  while (!stopped_ && reader_.Next(&line)) {
    Admit(line);
    if (rows_->bytes() >= kGatherBytes) {
      OG_RETURN_NOT_OK(Submit());
    }
  }
  ledger_->Lines(reader_.lines(), reader_.blank_lines());
  return Submit();
}

void Session::FailRows(const write::RowBatch& rows, int64_t from, const omnigraph::Status& status) {
  if (from >= static_cast<int64_t>(rows.lines.size())) {
    return;
  }
  AckEvent event;
  event.outcome = AckEvent::Outcome::kFailed;
  event.status = status;
  event.lines = std::span(rows.lines).subspan(static_cast<size_t>(from));
  event.rows = static_cast<int64_t>(event.lines.size());
  ledger_->Failed(event);
}

omnigraph::Status Session::AppendSlice(Lane& lane, const std::shared_ptr<arrow::RecordBatch>& batch,
                                       const write::RowBatch& rows, int64_t first) {
  const int64_t count = batch->num_rows();
  const size_t bytes = static_cast<size_t>(lance::EstimateEntryBytes(*batch));
  const auto lines =
      std::span(rows.lines).subspan(static_cast<size_t>(first), static_cast<size_t>(count));
  const runtime::Duration start = runtime::MonotonicNow();
  lance::AppendRequest request;
  request.batch = batch;
  request.schema_hash = schema_hash_;
  request.runs = RunsOf(rows.minted, first, count, ledger_->options().actor);
  core_.backlog().Add(bytes);
  ledger_->Submitted();
  bool settled = false;
  omnigraph::Status appended;
  if (ledger_->options().wait_for_acks) {
    // Settled by whichever thread writes the entry, while this one waits: nothing need be copied.
    const auto settle = [&](const Result<lance::Receipt>& receipt) {
      settled = true;
      core_.backlog().Release(bytes);
      ledger_->Settled(EventOf(receipt, lines, start));
    };
    request.on_settled = std::ref(settle);
    appended = WhileQueueFull(start + core_.options().wait_max,
                              [&] { return lane.writer().AppendAndWait(request).status(); });
  } else {
    request.on_settled = [ledger = ledger_, backlog = &core_.backlog(), bytes,
                          kept = std::vector<int64_t>(lines.begin(), lines.end()),
                          start](const Result<lance::Receipt>& receipt) {
      backlog->Release(bytes);
      ledger->Settled(EventOf(receipt, kept, start));
    };
    appended = WhileQueueFull(start + core_.options().wait_max,
                              [&] { return lane.writer().Append(request); });
  }
  if (appended.ok() || settled) {
    return appended;
  }
  core_.backlog().Release(bytes);
  ledger_->Settled(EventOf(appended, lines, start));
  // Rows before these were taken: whoever pushes the chunk again would send them twice.
  return Is(appended, ErrorKind::kExhausted)
             ? Unavailable("ingest.queue_full",
                           "the log's queue is full; these rows were not taken")
             : appended;
}

omnigraph::Status Session::SubmitType(const schema::TypeDef& type, write::RowBatch rows) {
  Result<std::shared_ptr<Lane>> lane = core_.LaneOf(type, ledger_->options().actor);
  if (!lane.ok()) {
    FailRows(rows, 0, lane.status());
    return lane.status();
  }
  const auto batch = arrow::RecordBatch::Make((*lane)->entry_schema(), rows.batch->num_rows(),
                                              rows.batch->column_data());
  int64_t first = 0;
  for (const auto& slice : lance::SplitForEntries(batch)) {
    const Status appended = AppendSlice(**lane, slice, rows, first);
    first += slice->num_rows();
    if (!appended.ok()) {
      FailRows(rows, first, appended);
      return appended;
    }
  }
  return Status::OK();
}

/// Hand over everything that was gathered, nodes before edges: an edge never stands in the log
/// while a node row that came before it waits here (F1).
omnigraph::Status Session::Submit() {
  Status first;
  const auto& types = parser_->catalog().types();
  for (int index = 0; index < static_cast<int>(types.size()); ++index) {
    write::TypeRows& gathered = rows_->at(index);
    if (gathered.rows() == 0) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(write::RowBatch rows, gathered.Finish());
    if (std::exchange(refused_types_[static_cast<size_t>(index)], 0) != 0) {
      continue;  // every one of them was refused
    }
    if (!first.ok()) {
      FailRows(rows, 0, first);
      continue;
    }
    first = SubmitType(types[static_cast<size_t>(index)], std::move(rows));
  }
  return first;
}

omnigraph::Status Session::Push(std::string_view chunk) {
  OG_CHECK(!finished_);
  if (stopped_) {
    return Invalid("ingest.stopped", "a line was refused, and the stream stops at the first error");
  }
  OG_RETURN_NOT_OK(FollowSchema());
  OG_RETURN_NOT_OK(core_.backlog().Reserve(chunk.size()));
  reader_.Feed(chunk);
  const Status drained = Drain();
  core_.backlog().Release(chunk.size());
  return drained;
}

omnigraph::Status Session::Flush() {
  return parser_ == nullptr ? Status::OK() : Submit();
}

omnigraph::Status Session::EndOfInput() {
  if (finished_ || stopped_) {
    finished_ = true;
    return Status::OK();
  }
  finished_ = true;
  OG_RETURN_NOT_OK(FollowSchema());
  reader_.Finish();
  return Drain();
}

omnigraph::Status Session::Finish() {
  const Status ended = EndOfInput();
  ledger_->WaitSettled();
  return ended;
}

omnigraph::Status Session::FinishAsync(std::function<void()> done) {
  const Status ended = EndOfInput();
  ledger_->WhenSettled(std::move(done));
  return ended;
}

}  // namespace omnigraph::graph
