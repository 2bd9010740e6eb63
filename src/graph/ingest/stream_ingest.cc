#include "omnigraph/graph/ingest/stream_ingest.h"

#include <utility>

#include "ingest_core.h"
#include "omnigraph/runtime/thread.h"
#include "session.h"
#include "status.h"

namespace omnigraph::graph {
namespace {

/// See StreamIngest. The fold thread lives from Start() to Stop().
class StreamIngestImpl : public StreamIngest {
 public:
  StreamIngestImpl(std::shared_ptr<Graph> graph, const IngestOptions& options)
      : core_(std::move(graph), options) {
    if (options.fold_in_background) {
      folds_ = runtime::Thread::Start("fold", [this] { core_.RunFolds(); });
    }
  }

  ~StreamIngestImpl() override { (void)Stop(); }

  Result<std::unique_ptr<IngestSession>> OpenSession(SessionOptions options) override {
    return std::make_unique<Session>(&core_, std::move(options));
  }

  Result<FoldReport> Fold() override { return core_.FoldAll(); }
  std::vector<FoldReport> TakeReports() override { return core_.TakeReports(); }

  std::vector<FoldReport> ReportsAfter(uint64_t sequence) const override {
    return core_.ReportsAfter(sequence);
  }
  IngestCounts Counts() const override { return CountsOf(core_.graph(), core_.lanes()); }

  Result<IngestStatus> Status() override {
    OG_ASSIGN_OR_RETURN(IngestStatus status,
                        StatusOf(core_.graph(), core_.lanes(), &open_rejects_));
    for (ShardStatus& shard : status.shards) {
      if (shard.owned_here) {
        shard.address = core_.options().address;
      }
    }
    core_.FillStatus(&status);
    return status;
  }

  omnigraph::Status Stop() override {
    core_.Stop();
    if (folds_.joinable()) {
      folds_.Join();
    }
    return core_.CloseLanes();
  }

 private:
  IngestCore core_;
  OpenRejects open_rejects_;
  runtime::Thread folds_;
};

}  // namespace

Result<std::unique_ptr<StreamIngest>> StreamIngest::Start(std::shared_ptr<Graph> graph,
                                                          IngestOptions options) {
  return std::make_unique<StreamIngestImpl>(std::move(graph), options);
}

Result<FoldReport> FoldFromLog(Graph& graph, const IngestOptions& options) {
  // Borrowed for the length of this call: the core owns no shard and starts no thread.
  const std::shared_ptr<Graph> borrowed(&graph, [](Graph*) {});
  IngestOptions once = options;
  once.fold_in_background = false;
  return IngestCore(borrowed, once).FoldAll();
}

Result<IngestStatus> StatusFromLog(Graph& graph) {
  OpenRejects rejects;
  return StatusOf(graph, {}, &rejects);
}

}  // namespace omnigraph::graph
