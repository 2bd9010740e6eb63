#include <curl/curl.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>

#include "omnigraph/engine/json.h"
#include "query_text.h"
#include "target.h"

namespace omnigraph::cli {
namespace json = boost::json;
namespace {

constexpr long kConnectTimeoutSeconds = 10;
/// How much of the body of an upload curl asks for at a time.
constexpr long kUploadBufferBytes = 1L << 20;

struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// One HTTP exchange. Thread-compatible.
struct Exchange {
  std::string method = "GET";
  std::string path;
  std::string content_type;
  std::string body;         ///< sent unless `upload` is set
  Input* upload = nullptr;  ///< sent as it is read, chunked
  Progress* progress = nullptr;
  int64_t uploaded_rows = 0;
  Status upload_error;  ///< why reading the input ended early; the rest was sent
  std::string answer;
  long http_status = 0;
};

size_t TakeAnswer(char* data, size_t size, size_t count, void* user) {
  static_cast<Exchange*>(user)->answer.append(data, size * count);
  return size * count;
}

/// Ctrl-C and unreadable input end the body in order, so that the server settles what it has and
/// answers.
size_t GiveUpload(char* data, size_t size, size_t count, void* user) {
  auto* exchange = static_cast<Exchange*>(user);
  if (!exchange->answer.empty()) {
    return 0;  // the server is through with this stream, and drops what still comes
  }
  const Result<size_t> got = exchange->upload->Read(data, size * count);
  if (!got.ok()) {
    exchange->upload_error = got.status();
    return 0;
  }
  exchange->uploaded_rows += std::count(data, data + *got, '\n');
  if (exchange->progress->Due()) {
    exchange->progress->Show(ProgressFigures{exchange->uploaded_rows, -1, -1, -1});
  }
  return *got;
}

/// A server that answers before the end of an upload may be gone before the rest is sent. True:
/// its answer is here all the same.
bool IsAnswered(const Exchange& exchange) {
  boost::system::error_code error;
  const json::value body = json::parse(exchange.answer, error);
  return exchange.http_status != 0 && !error.failed() && body.is_object();
}

std::string TextIn(const json::object& object, std::string_view name, std::string otherwise) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string())
                                                : std::move(otherwise);
}

/// The error that an object of a server's answer describes.
Status ErrorIn(const json::object& object, std::string otherwise,
               ErrorKind kind = ErrorKind::kInternal) {
  const std::string kind_name = TextIn(object, "kind", "");
  for (int k = 0; k <= static_cast<int>(ErrorKind::kInternal); ++k) {
    if (ErrorKindInfo(static_cast<ErrorKind>(k)).name == kind_name) {
      kind = static_cast<ErrorKind>(k);
    }
  }
  Place place;
  if (const json::value* value = object.if_contains("place");
      value != nullptr && value->is_object()) {
    const json::object& found = value->as_object();
    place.line = found.contains("line") ? found.at("line").to_number<int64_t>() : 0;
    place.column = found.contains("column") ? found.at("column").to_number<int64_t>() : 0;
  }
  const Status status = MakeError(kind, TextIn(object, "code", "server.error"),
                                  TextIn(object, "error", std::move(otherwise)), std::move(place));
  return object.contains("effect") ? WithUnknownEffect(status) : status;
}

/// The error that a server's body describes.
Status ErrorOfAnswer(const Exchange& exchange) {
  boost::system::error_code ignored;
  const json::value body = json::parse(exchange.answer, ignored);
  return ErrorIn(body.is_object() ? body.as_object() : json::object(),
                 "the server answered " + std::to_string(exchange.http_status),
                 exchange.http_status == 404 ? ErrorKind::kNotFound : ErrorKind::kInternal);
}

/// A stream that the server ended early: its summary, and what ended it. `error`, where the answer
/// has no summary.
Result<json::object> EarlyEnd(const Exchange& exchange, const Status& error) {
  boost::system::error_code ignored;
  const json::value body = json::parse(exchange.answer, ignored);
  const json::value* summary = body.is_object() ? body.as_object().if_contains("summary") : nullptr;
  if (summary == nullptr || !summary->is_object()) {
    return error;
  }
  json::object ended = body.as_object();
  ended.erase("summary");
  json::object out = summary->as_object();
  out["ended_by"] = std::move(ended);
  out["exit_code"] = ErrorKindInfo(KindOf(error)).exit_code;
  return out;
}

class ServerTarget : public Target {
 public:
  ServerTarget(std::string url, std::string graph)
      : url_(std::move(url)), graph_(std::move(graph)) {}

  Result<json::object> IngestStream(const IngestArguments& arguments, Input* input,
                                    Progress* progress) override;
  Result<json::object> Fold() override { return Call("POST", "/ingest/fold"); }
  Result<json::object> IngestStatus() override { return Call("GET", "/ingest/status"); }
  Result<std::string> Query(const QueryArguments& arguments) override;

  /// Learn the graph's id where the user named none. Errors: kInvalid (`cli.which_graph`),
  /// kUnavailable.
  Status FindGraph();

 private:
  Status Perform(Exchange* exchange);
  Result<json::object> Call(std::string method, const std::string& path);
  Result<json::object> ParseObject(const Exchange& exchange);

  std::string url_;
  std::string graph_;
};

Status ServerTarget::Perform(Exchange* exchange) {
  const std::unique_ptr<CURL, CurlDeleter> curl(curl_easy_init());
  const std::string url = url_ + exchange->path;
  const std::unique_ptr<curl_slist, CurlDeleter> headers(curl_slist_append(
      curl_slist_append(nullptr, ("Content-Type: " + exchange->content_type).c_str()), "Expect:"));
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, exchange->method.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, kConnectTimeoutSeconds);
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, TakeAnswer);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, exchange);
  if (exchange->upload != nullptr) {
    curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_UPLOAD_BUFFERSIZE, kUploadBufferBytes);
    curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, GiveUpload);
    curl_easy_setopt(curl.get(), CURLOPT_READDATA, exchange);
  } else if (exchange->method == "POST") {
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, exchange->body.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(exchange->body.size()));
  }
  const CURLcode code = curl_easy_perform(curl.get());
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &exchange->http_status);
  if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST) {
    return Unavailable("server.unreachable",
                       "no server answers at " + url_ + ": " + curl_easy_strerror(code),
                       Place{.object = url_});
  }
  const bool broken = code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR;
  if (code != CURLE_OK && !(broken && IsAnswered(*exchange))) {
    const Status status = Unavailable(
        "server.lost",
        "the connection to " + url_ + " broke: " + std::string(curl_easy_strerror(code)),
        Place{.object = url_});
    return exchange->method == "GET" ? status : WithUnknownEffect(status);
  }
  return exchange->http_status / 100 == 2 ? Status::OK() : ErrorOfAnswer(*exchange);
}

Result<json::object> ServerTarget::ParseObject(const Exchange& exchange) {
  boost::system::error_code error;
  json::value value = json::parse(exchange.answer, error);
  if (error.failed() || !value.is_object()) {
    return Unavailable(
        "server.answer",
        "the server at " + url_ + " did not answer with a JSON object; is it an omnigraph-server?",
        Place{.object = url_});
  }
  return std::move(value.as_object());
}

Result<json::object> ServerTarget::Call(std::string method, const std::string& path) {
  Exchange exchange;
  exchange.method = std::move(method);
  exchange.path = "/graphs/" + graph_ + path;
  exchange.content_type = "application/json";
  OG_RETURN_NOT_OK(Perform(&exchange));
  return ParseObject(exchange);
}

Status ServerTarget::FindGraph() {
  if (!graph_.empty()) {
    return Status::OK();
  }
  Exchange exchange;
  exchange.path = "/graphs";
  exchange.content_type = "application/json";
  OG_RETURN_NOT_OK(Perform(&exchange));
  OG_ASSIGN_OR_RETURN(const json::object answer, ParseObject(exchange));
  const json::value* graphs = answer.if_contains("graphs");
  if (graphs == nullptr || !graphs->is_array()) {
    return Unavailable("server.answer", "the server at " + url_ + " did not list its graphs",
                       Place{.object = url_});
  }
  std::string names;
  for (const json::value& entry : graphs->as_array()) {
    graph_ = std::string(entry.at("graph_id").as_string());
    names += (names.empty() ? "" : ", ") + graph_;
  }
  if (graphs->as_array().size() != 1) {
    return Invalid("cli.which_graph", "which graph of the server? Give --graph, one of: " + names);
  }
  return Status::OK();
}

Result<json::object> ServerTarget::IngestStream(const IngestArguments& arguments, Input* input,
                                                Progress* progress) {
  Exchange exchange;
  exchange.method = "POST";
  exchange.path = "/graphs/" + graph_ +
                  "/ingest?on_error=" + (arguments.stop_on_error ? "stop" : "continue") +
                  "&fold=" + (arguments.no_fold ? "false" : "true");
  exchange.content_type = "application/x-ndjson";
  exchange.upload = input;
  exchange.progress = progress;
  const Status performed = Perform(&exchange);
  progress->Clear();
  if (!performed.ok()) {
    return EarlyEnd(exchange, performed);
  }
  OG_ASSIGN_OR_RETURN(json::object out, ParseObject(exchange));
  const json::value* fold_error = out.if_contains("fold_error");
  if (!exchange.upload_error.ok()) {
    out["ended_by"] = engine::ErrorToJson(exchange.upload_error);
    out["exit_code"] = ErrorKindInfo(KindOf(exchange.upload_error)).exit_code;
  } else if (fold_error != nullptr && fold_error->is_object()) {
    const Status error = ErrorIn(fold_error->as_object(), "the fold at the end failed");
    out["ended_by"] = json::object(fold_error->as_object());
    out["exit_code"] = ErrorKindInfo(KindOf(error)).exit_code;
  }
  return out;
}

Result<std::string> ServerTarget::Query(const QueryArguments& arguments) {
  OG_ASSIGN_OR_RETURN(const std::string text, QueryText(arguments));
  OG_ASSIGN_OR_RETURN(const std::string params, QueryParams(arguments));
  boost::system::error_code error;
  json::value parsed = json::parse(params.empty() ? "{}" : params, error);
  if (error.failed()) {
    return Invalid("query.params_json", "--params is not JSON: " + error.message());
  }
  Exchange exchange;
  exchange.method = "POST";
  exchange.path = "/graphs/" + graph_ + "/query?format=" + arguments.format;
  exchange.content_type = "application/json";
  json::object body{{"query", text}, {"params", std::move(parsed)}};
  if (!arguments.name.empty()) {
    body["name"] = arguments.name;
  }
  exchange.body = json::serialize(body);
  OG_RETURN_NOT_OK(Perform(&exchange));
  return exchange.answer;
}

}  // namespace

Result<std::unique_ptr<Target>> OpenServerTarget(const GlobalOptions& global) {
  std::string url = global.server;
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    url = "http://" + url;
  }
  while (url.ends_with('/')) {
    url.pop_back();
  }
  auto target = std::make_unique<ServerTarget>(std::move(url), global.graph);
  OG_RETURN_NOT_OK(target->FindGraph());
  return target;
}

}  // namespace omnigraph::cli
