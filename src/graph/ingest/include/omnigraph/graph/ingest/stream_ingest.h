/// \file
/// Streaming ingest of one graph in one process: NDJSON in, durable acks out, folds in the
/// background.
///
/// The contract (G1 to G14) is docs/ingest.md, the rules that keep it docs/protocols. One
/// StreamIngest serves all clients of the process; each client is a Session; rows of all sessions
/// share the syncs of the logs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/ids.h"
#include "omnigraph/base/status.h"
#include "omnigraph/graph/manifest/graph_store.h"

namespace omnigraph::graph {

/// Settings of one StreamIngest.
struct IngestOptions {
  std::string address;  ///< where this process answers, told to those who come for its shards (S9);
                        ///< may be empty
  size_t line_bytes_max = 16u << 20;
  /// Rows admitted and not yet folded that are kept in memory; above it they are read back from the
  /// log (W3).
  size_t pending_bytes_max = 128u << 20;
  /// Rows admitted and not yet acknowledged; above it admission waits, then refuses (G9).
  size_t in_flight_bytes_max = 32u << 20;
  /// How long admission waits at a cap before `ingest.backpressure`; 0: not at all.
  std::chrono::milliseconds wait_max{30'000};
  /// Backlog (acked, not folded) at which admission waits: bytes in the logs.
  size_t backlog_bytes_max = 4ull << 30;
  /// How long folds may fail, while rows are pending, before admission waits too.
  std::chrono::milliseconds backlog_age_max = std::chrono::hours(1);
  int64_t fold_rows = 500'000;               ///< a fold starts at so many pending rows
  size_t fold_bytes = 64u << 20;             ///< or at so many pending bytes in memory
  std::chrono::milliseconds fold_age{1000};  ///< or when the oldest pending row is so old
  size_t fold_cut_bytes_max = 96u << 20;     ///< a larger cut is shortened (F1)
  size_t key_cache_bytes = 64u << 20;        ///< known ids kept per process; as much again for
                                             ///< what `@unique` and `@card` know
  bool fold_in_background = true;            ///< false: folds only by Fold()
  std::chrono::seconds takeover_after{15};   ///< S9
  /// Asked between the commits of one Fold(); true ends it with kCancelled (`ingest.interrupted`).
  std::function<bool()> stop_folding = {};
};

/// A line that was refused before the log.
struct Refusal {
  int64_t line = 0;    ///< from 1, within the session
  int64_t column = 0;  ///< byte column from 1; 0: the whole line
  std::string code;
  std::string message;
  std::string property;
};

/// What happened to a group of rows that went into one entry together.
struct AckEvent {
  enum class Outcome : uint8_t { kAcked, kFailed, kUnknown };
  Outcome outcome = Outcome::kAcked;
  Status status;  ///< OK for kAcked
  int64_t rows = 0;
  std::span<const int64_t> lines;  ///< line of each row; borrowed for the length of the call
  Uuid shard;                      ///< receipt: (shard, epoch, position)
  uint64_t epoch = 0;
  uint64_t position = 0;
  std::chrono::microseconds latency{0};  ///< from the submission of the group to its settling
};

/// Settings of one session.
struct SessionOptions {
  std::string actor;
  bool stop_on_error = false;  ///< `on_error=stop`: refuse everything after the first refused line
  /// Push() and Flush() return when their rows are settled, with the error where that is one; on an
  /// idle log the put then runs in the calling thread, without a switch. For callers that write a
  /// row and wait; others lose by it.
  bool wait_for_acks = false;
  /// Called for each settled group, from the log's thread, in order per type. Must not block and
  /// must not call back into the session.
  std::function<void(const AckEvent&)> on_ack;
  /// Called for each refused line, from within Push() or Finish().
  std::function<void(const Refusal&)> on_refused;
};

/// Totals of a session.
struct SessionSummary {
  int64_t lines = 0;
  int64_t blank = 0;
  int64_t acked = 0;
  int64_t refused = 0;
  int64_t failed = 0;   ///< valid rows whose put failed for certain
  int64_t unknown = 0;  ///< rows of which nobody can say whether they are in the log
  std::map<std::string, int64_t> refused_by_code;
  std::vector<Refusal> errors;  ///< the first 100
  double ack_p50_ms = 0;        ///< over rows
  double ack_p99_ms = 0;
};

/// One client's stream of lines. Single-owner: one thread pushes at a time.
class IngestSession {
 public:
  virtual ~IngestSession() = default;

  /// Feed bytes; chunk boundaries mean nothing. Returns when all whole lines in it are admitted
  /// (not: acknowledged).
  ///
  /// Errors: kExhausted (`ingest.backpressure`: nothing of the chunk was taken, push it again),
  /// kFenced
  ///         (`ingest.not_owner`, naming the owner's address), kInvalid (`ingest.stopped` after
  ///         stop_on_error), any of the store. A refused line is no error.
  virtual Status Push(std::string_view chunk) = 0;
  /// Submit what waits in open batches, without ending the stream (the next line may go on). Push()
  /// does so itself at the end of every chunk when the log is idle.
  virtual Status Flush() = 0;
  /// End of input: the last line may lack its LF. Then waits until every admitted row is settled.
  virtual Status Finish() = 0;
  /// Like Finish() without waiting; `done` is called once everything is settled: exactly once,
  /// whatever is returned, from this call or from the thread that settles the last rows.
  virtual Status FinishAsync(std::function<void()> done) = 0;
  /// Totals so far. Thread-safe.
  virtual SessionSummary Summary() const = 0;
};

/// What one fold did.
struct FoldReport {
  std::string commit_id;  ///< empty: there was nothing to fold
  uint64_t sequence = 0;
  int64_t rows = 0;  ///< acked rows accounted for
  int64_t visible = 0;
  int64_t superseded = 0;
  int64_t rejected = 0;
  std::map<std::string, int64_t> rejected_by_code;
  int64_t cascaded_edges = 0;
  double seconds = 0;
};

/// State of one enrolled type.
struct ShardStatus {
  std::string kind;
  std::string type;
  TableId table_id = 0;
  Uuid shard;
  std::string owner;  ///< process id; empty: nobody
  std::string address;
  bool owned_here = false;
  uint64_t epoch = 0;
  uint64_t folded_position = 0;
  uint64_t tip_position = 0;  ///< last position known to be in the log
  uint64_t replay_after = 0;
  uint64_t acked = 0;  ///< visible + superseded + rejected + pending (G2)
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;
  uint64_t pending = 0;
  uint64_t pending_bytes = 0;
  double oldest_pending_s = 0;
  bool paused = false;
  std::string last_error;
};

/// State of the ingest of a graph; readable at any time (G14).
struct IngestStatus {
  std::string graph_id;
  std::string branch;
  uint64_t sequence = 0;
  std::vector<ShardStatus> shards;
  int64_t folds = 0;
  std::string last_commit_id;
  double last_fold_s = 0;
  std::string last_fold_error;
  std::map<std::string, int64_t> open_rejects_by_code;
  std::vector<std::string> notes;  ///< what an outsider did to the graph's tables (C4, C7)
};

/// The sums of IngestStatus that this process knows by itself. Rows that other processes acked are
/// in them once they are folded.
struct IngestCounts {
  uint64_t sequence = 0;  ///< of the snapshot that they are counted by
  uint64_t acked = 0;     ///< visible + superseded + rejected + pending (G2)
  uint64_t visible = 0;
  uint64_t superseded = 0;
  uint64_t rejected = 0;
  uint64_t pending = 0;  ///< of the shards that this process owns
  double oldest_pending_s = 0;
};

/// All streaming of one graph in this process. Thread-safe. Outlives its sessions.
class StreamIngest {
 public:
  virtual ~StreamIngest() = default;

  /// Start the fold thread; shards are claimed at the first row of their type, or here for types
  /// that are enrolled and have pending rows and no living owner.
  static Result<std::unique_ptr<StreamIngest>> Start(std::shared_ptr<Graph> graph,
                                                     IngestOptions options);

  virtual Result<std::unique_ptr<IngestSession>> OpenSession(SessionOptions options) = 0;

  /// Fold everything acked before the call; several commits when it exceeds the byte budget. The
  /// report sums them up. Errors: as Publisher::Publish, and those of the store.
  virtual Result<FoldReport> Fold() = 0;
  /// Reports of the folds that the background did since the last call, oldest first, at most 1,000.
  virtual std::vector<FoldReport> TakeReports() = 0;
  /// Reports of this process's folds above a sequence number, oldest first, of the newest 1,000;
  /// for any number of readers, of whom none takes another's. A fold is counted by Counts() a
  /// moment before its report stands here.
  virtual std::vector<FoldReport> ReportsAfter(uint64_t sequence) const = 0;
  /// Cheap enough for the end of every request: no I/O.
  virtual IngestCounts Counts() const = 0;
  /// Never blocks on ingest or a fold.
  virtual Result<IngestStatus> Status() = 0;
  /// Settle what is in flight, stop folding, give the shards back (S9). Idempotent. Pending rows
  /// stay in the log.
  virtual omnigraph::Status Stop() = 0;
};

/// Fold what stands in the logs, without claiming a shard: for a process that owns none (W3).
Result<FoldReport> FoldFromLog(Graph& graph, const IngestOptions& options);
/// Status for a process that owns no shard: snapshot, shard manifests and log tails.
Result<IngestStatus> StatusFromLog(Graph& graph);

}  // namespace omnigraph::graph
