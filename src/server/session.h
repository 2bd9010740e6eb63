/// \file
/// One HTTP connection: reads a request, answers it, and goes on until the peer or a stop ends it.
///
/// Everything of a session runs on its strand, and never waits, but for the first row of a type
/// (enrolment and claim). What may take long (a fold, a query, a status) runs on a thread of its
/// queue and posts its answer back; acks of a stream come back by callback.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>

#include "omnigraph/engine/json.h"
#include "route.h"
#include "shared.h"

namespace omnigraph::server {

/// Single-owner: its strand. Kept alive by its pending operations.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket&& socket, std::shared_ptr<Shared> shared);

  void Start();
  /// Instead: answer that there are too many connections, and close.
  void StartRefusing();
  /// Called on a stop, from any thread: an idle connection closes, a stream ends early and is told
  /// so.
  void OnStop();

 private:
  /// What the session waits for from its client; OnStop() cuts such waits short.
  enum class Reading : uint8_t { kNothing, kHeader, kBody, kStream };
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  using Response = boost::beast::http::response<boost::beast::http::string_body>;

  void ReadHeader();
  void OnHeader(boost::beast::error_code error);
  void Dispatch();
  void Guard(const std::function<void()>& body);

  // Small bodies, read whole.
  void ReadWholeBody();
  void OnWholeBody(boost::beast::error_code error, size_t bytes);
  void RunQuery();

  // Streams.
  void StartIngest();
  void OfferChunk();
  void ReadIngestChunk();
  void OnIngestChunk(boost::beast::error_code error, size_t bytes);
  void WatchIdle();
  void PushChunk();
  void EndIngest(Status ended);
  void FinishIngest();
  void AnswerIngest(engine::IngestOutcome* outcome);

  void RunFold();
  void RunStatus();
  /// `again`: a status that asks for patience says when to send the request again.
  void Answer(boost::beast::http::status status, std::string body,
              std::string content_type = "application/json", bool again = true);
  void AnswerError(const Status& status);
  void Write();
  void Linger();
  void Discard();
  void Close();
  /// Run `work` on a thread of `queue`, which may block; its result is handed to `then` on the
  /// strand. T: a Status or a Result. False, and nothing runs, when the queue is full.
  template <typename T>
  bool Blocking(WorkQueue* queue, std::function<T()> work, std::function<void(T)> then);

  boost::beast::tcp_stream stream_;
  std::shared_ptr<Shared> shared_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  Response response_;
  Route route_;
  std::shared_ptr<engine::Engine> engine_;
  std::unique_ptr<char[]> chunk_;
  size_t chunk_size_ = 0;
  size_t chunk_bytes_ = 0;  ///< bytes of chunk_ that are not pushed yet
  std::string body_;
  boost::asio::steady_timer timer_;  ///< of the next push, or of a read of stream bytes
  runtime::Duration waited_{0};      ///< how long the present chunk has been refused
  runtime::Duration started_{0};     ///< of the stream
  std::unique_ptr<graph::IngestSession> ingest_;
  graph::StreamIngest* streams_ = nullptr;  ///< of engine_
  graph::IngestCounts began_;               ///< when the stream began
  bool stop_on_error_ = false;
  Status ended_;          ///< why the stream ended early
  size_t discarded_ = 0;  ///< bytes that came after the last answer
  Reading reading_ = Reading::kNothing;
  uint64_t reads_ = 0;     ///< of stream bytes; tells the timer of one read from the next
  bool idle_ = false;      ///< the last of them took too long
  bool answered_ = false;  ///< the present request
  bool keep_alive_ = true;
};

}  // namespace omnigraph::server
