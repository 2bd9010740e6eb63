// Bulk load: the calling thread reads and parses, a second one hashes keys, encodes and puts; then
// the keys are resolved against the graph and one proposal is published.
#include "omnigraph/graph/write/load.h"

#include <arrow/api.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "error_list.h"
#include "key_index.h"
#include "load_files.h"
#include "load_keys.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/manifest/publisher.h"
#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/write/row_parser.h"
#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/queue.h"
#include "omnigraph/runtime/thread.h"

namespace omnigraph::write {
namespace {

constexpr size_t kErrorsShown = 100;
constexpr size_t kReadBytes = 1u << 20;
/// Rows and bytes of one type that are handed on together.
constexpr int64_t kBatchRows = 16384;
constexpr int64_t kBatchBytes = 4 << 20;
constexpr size_t kQueuedBatches = 4;

/// A batch on its way to the second thread.
struct Work {
  int type_index = 0;
  RowBatch rows;
};

/// The second thread: hashes keys and writes data files. Owned by the load; its members are read
/// after Join() only.
class LoadWorker {
 public:
  LoadWorker(LoadKeys* keys, LoadFiles* files)
      : keys_(*keys), files_(*files), errors_(kErrorsShown), queue_(kQueuedBatches) {}

  ~LoadWorker() { Join(); }

  void Start() {
    thread_ = runtime::Thread::Start("load-write", [this] { Run(); });
  }
  /// False when the worker has failed; its status says why.
  bool Push(Work work) { return queue_.Push(std::move(work)); }
  void Join() {
    queue_.Close();
    if (thread_.joinable()) {
      thread_.Join();
    }
  }

  const Status& status() const { return status_; }
  ErrorList& errors() { return errors_; }

 private:
  void Run() {
    while (std::optional<Work> work = queue_.Pop()) {
      status_ = Take(*work);
      if (!status_.ok()) {
        queue_.Close();
        return;
      }
    }
  }

  Status Take(const Work& work) {
    OG_RETURN_NOT_OK(keys_.Add(work.type_index, work.rows, files_.rows(work.type_index), &errors_));
    // A refused input needs no files.
    return files_.Write(work.type_index, *work.rows.batch, errors_.count() == 0);
  }

  LoadKeys& keys_;
  LoadFiles& files_;
  ErrorList errors_;
  Status status_;
  runtime::BoundedQueue<Work> queue_;
  runtime::Thread thread_;
};

/// One load. Single-owner.
class Loader {
 public:
  Loader(graph::Graph* graph, const LoadOptions& options)
      : graph_(*graph),
        options_(options),
        space_(graph->store(), options.key_bytes_max),
        errors_(kErrorsShown) {}

  Result<LoadReport> Run(ByteSource* input) {
    Result<LoadReport> report = RunInside(input);
    // Runs and, without a commit, data files are nobody's: what cannot be deleted now is swept
    // later.
    static_cast<void>(space_.RemoveAll());
    if (files_ != nullptr && !committed_) {
      files_->Abandon();
    }
    return report;
  }

 private:
  Result<LoadReport> RunInside(ByteSource* input) {
    OG_ASSIGN_OR_RETURN(snapshot_, graph_.Refresh());
    OG_ASSIGN_OR_RETURN(catalog_, graph_.CatalogOf(*snapshot_));
    keys_ = std::make_unique<LoadKeys>(*catalog_, options_.mode, &space_);
    files_ = std::make_unique<LoadFiles>(&graph_, snapshot_, *catalog_);
    OG_RETURN_NOT_OK(ReadInput(input));
    Progress(true);
    OG_RETURN_NOT_OK(keys_->FinishInput(&errors_));
    if (errors_.count() == 0) {
      OG_RETURN_NOT_OK(files_->Finish());
      for (size_t i = 0; i < catalog_->types().size(); ++i) {
        const auto index = static_cast<int>(i);
        OG_RETURN_NOT_OK(files_->Remove(index, keys_->superseded(index)));
      }
      OG_RETURN_NOT_OK(Commit());
    }
    report_.error_count = errors_.count();
    report_.errors = errors_.Sorted();
    if (!report_.errors.empty()) {
      report_.types.clear();
    }
    return std::move(report_);
  }

  Status ReadInput(ByteSource* input) {
    RowParserOptions parser_options;
    parser_options.allow_delete = false;
    OG_ASSIGN_OR_RETURN(const auto parser, RowParser::Make(catalog_, std::move(parser_options)));
    rows_ = std::make_unique<RowSet>(catalog_);
    LoadWorker worker(keys_.get(), files_.get());
    worker.Start();
    Status status = Pump(input, parser.get(), &worker);
    worker.Join();
    OG_RETURN_NOT_OK(worker.status());
    OG_RETURN_NOT_OK(flush_status_);
    OG_RETURN_NOT_OK(status);
    errors_.Merge(std::move(worker.errors()));
    return Status::OK();
  }

  Status Pump(ByteSource* input, RowParser* parser, LoadWorker* worker) {
    LineReader reader(options_.max_line_bytes);
    std::vector<char> buffer(kReadBytes);
    bool more = true;
    while (more) {
      OG_ASSIGN_OR_RETURN(const size_t size, input->Read(buffer.data(), buffer.size()));
      more = size > 0;
      if (more) {
        reader.Feed({buffer.data(), size});
      } else {
        reader.Finish();
      }
      if (!ParseLines(&reader, parser, worker)) {
        return Status::OK();  // worker or flush_status_ says why
      }
      report_.lines = reader.lines();
      report_.blank = reader.blank_lines();
      Progress(false);
    }
    for (size_t i = 0; i < catalog_->types().size(); ++i) {
      if (!Flush(static_cast<int>(i), worker)) {
        return Status::OK();
      }
    }
    return Status::OK();
  }

  /// False when the worker has failed.
  bool ParseLines(LineReader* reader, RowParser* parser, LoadWorker* worker) {
    Line line;
    AdmittedRow admitted;
    LineError error;
    while (reader->Next(&line)) {
      if (!parser->Parse(line, rows_.get(), &admitted, &error)) {
        errors_.Add(std::move(error));
        continue;
      }
      ++report_.rows;
      TypeRows& type = rows_->at(admitted.type_index);
      if ((type.rows() >= kBatchRows || type.bytes() >= kBatchBytes) &&
          !Flush(admitted.type_index, worker)) {
        return false;
      }
    }
    return true;
  }

  bool Flush(int type_index, LoadWorker* worker) {
    TypeRows& type = rows_->at(type_index);
    if (type.rows() == 0) {
      return true;
    }
    Result<RowBatch> batch = type.Finish();
    if (!batch.ok()) {
      flush_status_ = batch.status();
      return false;
    }
    // After a refused line only parsing goes on, to name the other lines that are wrong.
    return errors_.count() > 0 || worker->Push({type_index, std::move(batch).ValueUnsafe()});
  }

  void Progress(bool checking) {
    if (options_.progress) {
      options_.progress({report_.lines, report_.rows, checking});
    }
  }

  // --- the commit ---

  Status Commit() {
    if (options_.publish_before.has_value() && runtime::WallNow() > *options_.publish_before) {
      return Exhausted("load.too_long",
                       "the input took too long to read: its files could be swept as orphans; load "
                       "it in parts");
    }
    OG_ASSIGN_OR_RETURN(graph::Proposal proposal, Propose(snapshot_));
    if (errors_.count() > 0) {
      return Status::OK();
    }
    proposal.recheck = [this](const graph::SnapshotRef& newest, graph::Proposal* moved) {
      return Recheck(newest, moved);
    };
    Result<graph::Receipt> receipt = graph_.publisher().Publish(std::move(proposal));
    if (!receipt.ok()) {
      const ErrorDetail* detail = GetErrorDetail(receipt.status());
      // Files that a commit may name stay.
      committed_ = detail == nullptr || detail->effect_unknown();
      return errors_.count() > 0 ? Status::OK() : receipt.status();
    }
    committed_ = true;
    report_.commit_id = receipt->commit_id;
    return Status::OK();
  }

  /// What the input makes of a snapshot; row errors go to errors_.
  Result<graph::Proposal> Propose(const graph::SnapshotRef& snapshot) {
    OG_ASSIGN_OR_RETURN(Resolution resolution, keys_->Resolve(&graph_, *snapshot, &errors_));
    graph::Proposal proposal;
    proposal.base = snapshot;
    proposal.commit.op = graph::CommitOp::kLoad;
    proposal.commit.actor = options_.actor;
    proposal.commit.message = options_.message;
    proposal.tables_read = std::move(resolution.read);
    report_.types.clear();
    for (size_t i = 0; i < catalog_->types().size(); ++i) {
      const auto index = static_cast<int>(i);
      if (!keys_->occurs(index)) {
        continue;
      }
      OG_ASSIGN_OR_RETURN(graph::TableChange change,
                          ChangeOf(index, *snapshot, std::move(resolution.replaced[index])));
      proposal.tables_read.erase(change.table_id);
      const schema::TypeDef& type = catalog_->type(index);
      report_.types.push_back({std::string(schema::TypeKindName(type.kind)), type.name,
                               change.inserted, change.updated, change.deleted});
      proposal.changes.push_back(std::move(change));
    }
    return proposal;
  }

  Result<graph::TableChange> ChangeOf(int type_index, const graph::Snapshot& snapshot,
                                      std::vector<uint64_t> replaced) {
    const schema::TypeDef& type = catalog_->type(type_index);
    const graph::TableState* state = snapshot.FindTable(type.table_id);
    if (state == nullptr) {
      return NotFound("table.unknown", "the snapshot has no table of " + type.name);
    }
    graph::TableChange out;
    out.table_id = type.table_id;
    OG_ASSIGN_OR_RETURN(out.base, graph_.OpenTable(*state));
    auto change = std::make_shared<lance::Change>();
    change->added = files_->fragments(type_index);
    const int64_t rows = files_->added_rows(type_index);
    if (options_.mode == LoadMode::kOverwrite) {
      for (const auto& fragment : out.base->manifest().fragments) {
        change->removed_fragments.push_back(fragment.id);
      }
      std::sort(change->removed_fragments.begin(), change->removed_fragments.end());
      for (const auto* index : out.base->IndexSegments(lance::BTreeIndexName(schema::kIdColumn))) {
        change->removed_indices.push_back(index->uuid);
      }
      out.deleted = state->rows;
      out.inserted = rows;
    } else {
      out.updated = static_cast<int64_t>(replaced.size());
      out.inserted = rows - out.updated;
      change->deleted_addresses = std::move(replaced);
    }
    if (type.is_node() || keys_->brings_ids(type_index)) {
      // Later writers look these ids up; fresh ULIDs of edges are not looked up by anybody.
      OG_RETURN_NOT_OK(lance::AddBTreeSegment(*out.base, {}, change.get()));
    }
    out.change = std::move(change);
    return out;
  }

  /// Something of the footprint moved (C1): the checks run again over the newest tables; the files
  /// stay as they are.
  Status Recheck(const graph::SnapshotRef& newest, graph::Proposal* proposal) {
    if (newest->schema_hash != snapshot_->schema_hash) {
      return Conflict("commit.conflict",
                      "the schema changed while the input was loaded; load it again");
    }
    OG_ASSIGN_OR_RETURN(graph::Proposal again, Propose(newest));
    if (errors_.count() > 0) {
      return Conflict("commit.conflict", "another commit came first and the input no longer fits");
    }
    again.commit = proposal->commit;
    again.recheck = proposal->recheck;
    *proposal = std::move(again);
    return Status::OK();
  }

  graph::Graph& graph_;
  const LoadOptions& options_;
  SpillSpace space_;
  ErrorList errors_;
  graph::SnapshotRef snapshot_;
  std::shared_ptr<const schema::Catalog> catalog_;
  std::unique_ptr<LoadKeys> keys_;
  std::unique_ptr<LoadFiles> files_;
  std::unique_ptr<RowSet> rows_;
  LoadReport report_;
  Status flush_status_;
  bool committed_ = false;
};

}  // namespace

Result<LoadMode> ParseLoadMode(std::string_view name) {
  if (name == "append") {
    return LoadMode::kAppend;
  }
  if (name == "merge") {
    return LoadMode::kMerge;
  }
  if (name == "overwrite") {
    return LoadMode::kOverwrite;
  }
  return Invalid("load.mode", "there is no load mode '" + std::string(name) +
                                  "'; the modes are append, merge, overwrite");
}

Result<LoadReport> Load(graph::Graph* graph, ByteSource* input, const LoadOptions& options) {
  return Loader(graph, options).Run(input);
}

}  // namespace omnigraph::write
