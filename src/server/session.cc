#include "session.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json.hpp>
#include <chrono>

#include "omnigraph/engine/json.h"
#include "omnigraph/query/printers.h"
#include "omnigraph/runtime/clock.h"

namespace omnigraph::server {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace json = boost::json;
namespace {

constexpr size_t kChunkBytes = size_t{512} << 10;
constexpr uint32_t kHeaderBytesMax = 64u << 10;
constexpr size_t kQueryBodyBytesMax = size_t{1} << 20;
constexpr std::chrono::seconds kHeaderTimeout{60};
constexpr std::chrono::seconds kBodyTimeout{300};
constexpr std::chrono::milliseconds kRetryEvery{2};
constexpr std::chrono::seconds kRetryFor{30};
constexpr int kRetryAfterSeconds = 1;
/// How long, and how much, a client that was answered early may still send.
constexpr std::chrono::seconds kLingerFor{5};
constexpr size_t kLingerChunkBytes = size_t{16} << 10;
constexpr size_t kLingerBytesMax = size_t{64} << 20;

std::string_view ContentTypeOf(query::OutputFormat format) {
  switch (format) {
    case query::OutputFormat::kJson:
      return "application/json";
    case query::OutputFormat::kJsonl:
      return "application/x-ndjson";
    case query::OutputFormat::kCsv:
      return "text/csv; charset=utf-8";
    default:
      return "text/plain; charset=utf-8";
  }
}

/// The media type of a Content-Type header, without its parameters.
std::string_view MediaType(beast::string_view header) {
  const std::string_view all(header.data(), header.size());
  const std::string_view type = all.substr(0, all.find(';'));
  return type.substr(0, type.find_last_not_of(' ') + 1);
}

Status Stopping() {
  return Unavailable("server.stopping",
                     "the server is stopping; send what was not done to it, or another, again");
}

Status Idle(std::chrono::seconds limit) {
  return Deadline("http.idle", "no byte of the stream came for " + std::to_string(limit.count()) +
                                   " s: send the lines that were not acked in a new one");
}

Status Busy(std::string_view what) {
  return Exhausted("server.busy", "too many " + std::string(what) +
                                      " wait already; send the request again in a second");
}

/// Let the kernel find out whether a quiet peer still exists: after a minute, then four times.
void KeepAlive(int socket) {
  const auto set = [socket](int level, int name, int value) {
    (void)::setsockopt(socket, level, name, &value, sizeof(value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 60);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 15);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
}

/// Border: nothing thrown by a library below leaves a thread.
template <typename T>
T Guarded(const std::function<T()>& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    return Internal("server.exception", std::string("internal error: ") + error.what());
  }
}

}  // namespace

Session::Session(asio::ip::tcp::socket&& socket, std::shared_ptr<Shared> shared)
    : stream_(std::move(socket)), shared_(std::move(shared)), timer_(stream_.get_executor()) {}

void Session::Start() {
  beast::error_code ignored;
  stream_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  KeepAlive(stream_.socket().native_handle());
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] { self->ReadHeader(); });
}

void Session::StartRefusing() {
  asio::dispatch(stream_.get_executor(), [self = shared_from_this()] {
    self->keep_alive_ = false;
    self->AnswerError(Unavailable("server.too_many_connections",
                                  "this server has as many connections as it takes; close some, or "
                                  "come again in a second"));
  });
}

void Session::OnStop() {
  asio::post(stream_.get_executor(), [self = shared_from_this()] {
    switch (self->reading_) {
      case Reading::kNothing:  // what comes next looks at the flag
        return;
      case Reading::kHeader:
        self->Close();
        return;
      case Reading::kBody:
      case Reading::kStream:
        self->stream_.cancel();
        return;
    }
  });
}

/// Border: nothing thrown by a library below leaves a handler.
void Session::Guard(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    if (answered_) {
      Close();
      return;
    }
    AnswerError(Internal("server.exception", std::string("internal error: ") + error.what()));
  }
}

void Session::ReadHeader() {
  parser_.emplace();
  parser_->header_limit(kHeaderBytesMax);
  parser_->body_limit(boost::none);
  answered_ = false;
  reading_ = Reading::kHeader;
  if (shared_->stopping.load()) {
    Close();
    return;
  }
  stream_.expires_after(kHeaderTimeout);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](beast::error_code error, size_t) { self->OnHeader(error); });
}

void Session::OnHeader(beast::error_code error) {
  reading_ = Reading::kNothing;
  if (error == http::error::end_of_stream || error == asio::error::operation_aborted ||
      error == beast::error::timeout) {
    Close();
    return;
  }
  if (error.failed()) {
    keep_alive_ = false;
    AnswerError(Invalid("http.bad_request",
                        "the request is not HTTP/1.1 as this server reads it: " + error.message()));
    return;
  }
  keep_alive_ = parser_->get().keep_alive();
  Guard([this] { Dispatch(); });
}

void Session::Dispatch() {
  const auto& request = parser_->get();
  const Result<Route> route =
      ParseRoute(std::string_view(request.method_string().data(), request.method_string().size()),
                 std::string_view(request.target().data(), request.target().size()));
  // A request that is refused before its body was read ends the connection: the body is still on
  // its way.
  const auto refuse = [&](const Status& status) {
    keep_alive_ = keep_alive_ && parser_->is_done();
    AnswerError(status);
  };
  if (!route.ok()) {
    refuse(route.status());
    return;
  }
  route_ = *route;
  if (!route_.graph.empty()) {
    Result<std::shared_ptr<engine::Engine>> engine = shared_->FindGraph(route_.graph);
    if (!engine.ok()) {
      refuse(engine.status());
      return;
    }
    engine_ = *engine;
  }
  if (beast::iequals(request[http::field::expect], "100-continue")) {
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    beast::error_code ignored;
    asio::write(stream_.socket(), asio::buffer(kContinue), ignored);
  }
  if (route_.endpoint == Endpoint::kIngest) {
    StartIngest();
  } else {
    body_.clear();
    ReadWholeBody();
  }
}

void Session::ReadWholeBody() {
  if (parser_->is_done()) {
    OnWholeBody({}, 0);
    return;
  }
  OfferChunk();
  stream_.expires_after(kBodyTimeout);
  reading_ = Reading::kBody;
  http::async_read_some(stream_, buffer_, *parser_,
                        [self = shared_from_this()](beast::error_code error, size_t bytes) {
                          self->OnWholeBody(error, bytes);
                        });
}

void Session::OnWholeBody(beast::error_code error, size_t /*bytes*/) {
  reading_ = Reading::kNothing;
  if (error == asio::error::operation_aborted && shared_->stopping.load()) {
    keep_alive_ = false;
    AnswerError(Stopping());
    return;
  }
  if (error.failed() && error != http::error::need_buffer) {
    Close();
    return;
  }
  if (parser_->get().body().data != nullptr) {
    body_.append(chunk_.get(), chunk_size_ - parser_->get().body().size);
    parser_->get().body().data = nullptr;
  }
  if (body_.size() > kQueryBodyBytesMax) {
    keep_alive_ = false;
    AnswerError(Invalid("http.body_too_large", "the body is larger than 1 MiB"));
    return;
  }
  if (!parser_->is_done()) {
    ReadWholeBody();
    return;
  }
  Guard([this] {
    switch (route_.endpoint) {
      case Endpoint::kHealth:
        Answer(http::status::ok, engine::Serialize(json::object{{"status", "ok"},
                                                                {"version", OMNIGRAPH_VERSION},
                                                                {"internal_schema_version", 1}}));
        return;
      case Endpoint::kGraphs: {
        json::array graphs;
        for (const auto& [id, engine] : shared_->graphs) {
          graphs.emplace_back(json::object{{"graph_id", id}, {"uri", engine->uri()}});
        }
        Answer(http::status::ok, engine::Serialize(json::object{{"graphs", std::move(graphs)}}));
        return;
      }
      case Endpoint::kIngestStatus:
        RunStatus();
        return;
      case Endpoint::kFold:
        RunFold();
        return;
      case Endpoint::kQuery:
        RunQuery();
        return;
      case Endpoint::kIngest:
        return;
    }
  });
}

template <typename T>
bool Session::Blocking(WorkQueue* queue, std::function<T()> work, std::function<void(T)> then) {
  std::function<void()> item = [self = shared_from_this(), work = std::move(work),
                                then = std::move(then)] {
    auto result = std::make_shared<T>(Guarded<T>(work));
    asio::post(self->stream_.get_executor(),
               [self, result, then] { self->Guard([&] { then(std::move(*result)); }); });
  };
  return queue->TryPush(item);
}

void Session::RunFold() {
  const bool queued = Blocking<Result<graph::FoldReport>>(
      &shared_->folds, [engine = engine_] { return engine->Fold(); },
      [this](Result<graph::FoldReport> report) {
        report.ok() ? Answer(http::status::ok, engine::Serialize(engine::ToJson(*report)))
                    : AnswerError(report.status());
      });
  if (!queued) {
    AnswerError(Busy("folds"));
  }
}

void Session::RunStatus() {
  const bool queued = Blocking<Result<graph::IngestStatus>>(
      &shared_->lookups, [engine = engine_] { return engine->IngestStatus(); },
      [this](Result<graph::IngestStatus> status) {
        status.ok() ? Answer(http::status::ok, engine::Serialize(engine::ToJson(*status)))
                    : AnswerError(status.status());
      });
  if (!queued) {
    AnswerError(Busy("status requests"));
  }
}

void Session::RunQuery() {
  boost::system::error_code error;
  const json::value body = json::parse(body_, error);
  if (error.failed() || !body.is_object()) {
    AnswerError(Invalid("http.body", "the body must be a JSON object {query, name?, params?}"));
    return;
  }
  engine::QueryRequest request;
  for (const auto& [name, value] : body.as_object()) {
    if (name == "query" && value.is_string()) {
      request.text = std::string(value.as_string());
    } else if (name == "name" && value.is_string()) {
      request.name = std::string(value.as_string());
    } else if (name == "params" && value.is_object()) {
      request.params_json = json::serialize(value);
    } else {
      AnswerError(Invalid("http.body", "the body has a member '" + std::string(name) +
                                           "' that is unknown here or has the wrong type; known: "
                                           "query, name (strings), params (object)"));
      return;
    }
  }
  const Result<query::OutputFormat> format =
      query::ParseOutputFormat(route_.Parameter("format", "json"));
  if (!format.ok()) {
    AnswerError(format.status());
    return;
  }
  const bool queued = Blocking<Result<std::string>>(
      &shared_->queries,
      [shared = shared_, engine = engine_, request = std::move(request),
       format = *format]() -> Result<std::string> {
        if (shared->stopping.load()) {
          return Stopping();
        }
        OG_ASSIGN_OR_RETURN(const query::QueryResult result, engine->Query(request));
        return query::FormatResult(result, format);
      },
      [this, format = *format](const Result<std::string>& text) {
        text.ok() ? Answer(http::status::ok, *text, std::string(ContentTypeOf(format)))
                  : AnswerError(text.status());
      });
  if (!queued) {
    AnswerError(Busy("queries"));
  }
}

void Session::StartIngest() {
  const auto& request = parser_->get();
  keep_alive_ = keep_alive_ && parser_->is_done();
  const std::string_view type = MediaType(request[http::field::content_type]);
  if (type != "application/x-ndjson" && type != "application/jsonl") {
    AnswerError(Invalid("http.content_type",
                        "a stream is NDJSON: send Content-Type: application/x-ndjson. To load a "
                        "file as one commit use `omnigraph load`"));
    return;
  }
  if (!request[http::field::content_encoding].empty() &&
      !beast::iequals(request[http::field::content_encoding], "identity")) {
    AnswerError(Unsupported("http.content_encoding",
                            "compressed bodies are not read yet; send the lines as they are"));
    return;
  }
  const std::string on_error = route_.Parameter("on_error", "continue");
  const std::string fold = route_.Parameter("fold", "false");
  if ((on_error != "continue" && on_error != "stop") || (fold != "true" && fold != "false")) {
    AnswerError(Invalid("http.parameter", "on_error is continue or stop; fold is true or false"));
    return;
  }
  const Result<graph::StreamIngest*> ingest = engine_->Ingest();
  if (!ingest.ok()) {
    AnswerError(ingest.status());
    return;
  }
  graph::SessionOptions options;
  stop_on_error_ = on_error == "stop";
  options.stop_on_error = stop_on_error_;
  Result<std::unique_ptr<graph::IngestSession>> session = (*ingest)->OpenSession(options);
  if (!session.ok()) {
    AnswerError(session.status());
    return;
  }
  ingest_ = std::move(*session);
  streams_ = *ingest;
  began_ = streams_->Counts();
  ended_ = Status::OK();
  started_ = runtime::MonotonicNow();
  keep_alive_ = parser_->get().keep_alive();
  ReadIngestChunk();
}

/// Let the parser write to the chunk, which a request has from its first body byte to its answer.
void Session::OfferChunk() {
  if (chunk_ == nullptr) {
    const uint64_t length = parser_->content_length().value_or(kChunkBytes);
    chunk_size_ = static_cast<size_t>(std::min<uint64_t>(length, kChunkBytes));
    chunk_ = std::make_unique_for_overwrite<char[]>(chunk_size_);
  }
  parser_->get().body().data = chunk_.get();
  parser_->get().body().size = chunk_size_;
}

void Session::ReadIngestChunk() {
  if (parser_->is_done()) {
    EndIngest(Status::OK());
    return;
  }
  if (shared_->stopping.load()) {
    EndIngest(Stopping());
    return;
  }
  OfferChunk();
  reading_ = Reading::kStream;
  WatchIdle();
  http::async_read_some(stream_, buffer_, *parser_,
                        [self = shared_from_this()](beast::error_code error, size_t bytes) {
                          self->OnIngestChunk(error, bytes);
                        });
}

/// A quiet stream is in order. The stream's own timeout would close the socket, and with it the way
/// of the summary.
void Session::WatchIdle() {
  stream_.expires_never();
  idle_ = false;
  timer_.expires_after(shared_->stream_idle);
  timer_.async_wait([self = shared_from_this(), read = ++reads_](beast::error_code error) {
    if (!error.failed() && self->reading_ == Reading::kStream && self->reads_ == read) {
      self->idle_ = true;
      self->stream_.cancel();
    }
  });
}

void Session::OnIngestChunk(beast::error_code error, size_t /*bytes*/) {
  reading_ = Reading::kNothing;
  timer_.cancel();
  chunk_bytes_ = chunk_size_ - parser_->get().body().size;
  if (error.failed() && error != http::error::need_buffer) {
    // Whatever ends the bytes, what came whole is settled and told; a client that is gone does not
    // hear it.
    chunk_bytes_ = 0;
    EndIngest(idle_                      ? Idle(shared_->stream_idle)
              : shared_->stopping.load() ? Stopping()
                                         : Cancelled("http.disconnected", "the client went away"));
    return;
  }
  waited_ = runtime::Duration(0);
  PushChunk();
}

void Session::PushChunk() {
  Guard([this] {
    const Status pushed = chunk_bytes_ == 0
                              ? Status::OK()
                              : ingest_->Push(std::string_view(chunk_.get(), chunk_bytes_));
    if (pushed.ok()) {
      // on_error=stop: the refused line tells why the stream ends here; wherever chunks end, no
      // more is read.
      stop_on_error_ && ingest_->Summary().refused > 0 ? EndIngest(Status::OK())
                                                       : ReadIngestChunk();
      return;
    }
    if (CodeOf(pushed) == "ingest.backpressure" && shared_->stopping.load()) {
      EndIngest(Stopping());
      return;
    }
    if (CodeOf(pushed) != "ingest.backpressure" || waited_ >= kRetryFor) {
      EndIngest(pushed);
      return;
    }
    // A full log slows this client down: nothing of the chunk was taken, it is pushed again.
    waited_ += kRetryEvery;
    timer_.expires_after(kRetryEvery);
    timer_.async_wait([self = shared_from_this()](beast::error_code) { self->PushChunk(); });
  });
}

void Session::EndIngest(Status ended) {
  ended_ = std::move(ended);
  keep_alive_ = keep_alive_ && parser_->is_done();
  const Status finished = ingest_->FinishAsync([self = shared_from_this()] {
    asio::post(self->stream_.get_executor(),
               [self] { self->Guard([&] { self->FinishIngest(); }); });
  });
  // That call answers, on this strand after this one, whatever the end says of itself.
  ended_ = ended_.ok() ? finished : ended_;
}

/// Everything sent is settled. From here on nothing refuses the request any more: rows of it are
/// acked.
void Session::FinishIngest() {
  auto outcome = std::make_shared<engine::IngestOutcome>();
  outcome->session = ingest_->Summary();
  ingest_.reset();
  if (!ended_.ok() || route_.Parameter("fold", "false") != "true") {
    AnswerIngest(outcome.get());
    return;
  }
  const bool queued = Blocking<Status>(
      &shared_->folds, [engine = engine_] { return engine->Fold().status(); },
      [this, outcome](Status folded) {
        outcome->fold_error = std::move(folded);
        AnswerIngest(outcome.get());
      });
  if (!queued) {
    outcome->fold_error = Busy("folds");
    AnswerIngest(outcome.get());
  }
}

void Session::AnswerIngest(engine::IngestOutcome* outcome) {
  engine::TakeEnds(*streams_, began_, outcome);
  outcome->elapsed_s = std::chrono::duration<double>(runtime::MonotonicNow() - started_).count();
  json::object summary = engine::ToJson(*outcome);
  if (ended_.ok()) {
    Answer(http::status::ok, engine::Serialize(summary));
    return;
  }
  json::object error = engine::ErrorToJson(ended_);
  const bool some_taken = outcome->session.acked + outcome->session.unknown > 0;
  if (some_taken) {
    error["retry"] = "never";  // the same request would send rows that are acked again
  }
  if (outcome->session.unknown > 0) {
    error["effect"] = "unknown";
  }
  error["summary"] = std::move(summary);
  Answer(static_cast<http::status>(ErrorKindInfo(KindOf(ended_)).http_status),
         engine::Serialize(error), "application/json", !some_taken);
}

void Session::AnswerError(const Status& status) {
  const int code = ErrorKindInfo(KindOf(status)).http_status;
  Answer(static_cast<http::status>(code), engine::Serialize(engine::ErrorToJson(status)));
}

void Session::Answer(http::status status, std::string body, std::string content_type, bool again) {
  OG_CHECK(!answered_);
  answered_ = true;
  chunk_.reset();
  response_ = Response(status, 11);
  response_.set(http::field::server, "omnigraph/" OMNIGRAPH_VERSION);
  response_.set(http::field::content_type, content_type);
  if (again &&
      (status == http::status::too_many_requests || status == http::status::service_unavailable)) {
    response_.set(http::field::retry_after, std::to_string(kRetryAfterSeconds));
  }
  response_.body() = std::move(body);
  if (content_type == "application/json" && !response_.body().ends_with('\n')) {
    response_.body() += '\n';
  }
  response_.keep_alive(keep_alive_);
  response_.prepare_payload();
  Write();
}

void Session::Write() {
  stream_.expires_after(kBodyTimeout);
  http::async_write(stream_, response_,
                    [self = shared_from_this()](beast::error_code error, size_t) {
                      if (error.failed()) {
                        self->Close();
                      } else if (!self->keep_alive_) {
                        self->Linger();
                      } else {
                        self->ReadHeader();
                      }
                    });
}

/// The last answer was given. A socket that closes with unread bytes makes the kernel send a reset,
/// by which a client that is still sending loses the answer: so what it sends is read and dropped
/// until it closes, for a while.
void Session::Linger() {
  beast::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  buffer_.clear();
  chunk_ = std::make_unique_for_overwrite<char[]>(kLingerChunkBytes);
  discarded_ = 0;
  stream_.expires_after(kLingerFor);
  Discard();
}

void Session::Discard() {
  stream_.async_read_some(asio::buffer(chunk_.get(), kLingerChunkBytes),
                          [self = shared_from_this()](beast::error_code error, size_t bytes) {
                            self->discarded_ += bytes;
                            if (error.failed() || self->discarded_ > kLingerBytesMax) {
                              self->Close();
                            } else {
                              self->Discard();
                            }
                          });
}

void Session::Close() {
  beast::error_code ignored;
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
  stream_.close();
}

}  // namespace omnigraph::server
