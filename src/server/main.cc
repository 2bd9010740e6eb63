// The `omnigraph-server` program.

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>

#include "omnigraph/engine/json.h"
#include "omnigraph/engine/process_setup.h"
#include "omnigraph/server/server.h"

namespace omnigraph::server {
namespace {

int Fail(const Status& status) {
  std::fprintf(stderr, "omnigraph-server: %s%s\n", engine::PlacePrefix(status).c_str(),
               status.message().c_str());
  return ErrorKindInfo(KindOf(status)).exit_code;
}

/// `ADDRESS:PORT`; an IPv6 address stands in brackets, as in a URL.
Status ParseBind(const std::string& bind, ServerOptions* options) {
  const size_t colon = bind.rfind(':');
  const std::string port = colon == std::string::npos ? std::string() : bind.substr(colon + 1);
  const bool digits = !port.empty() && port.size() <= 5 &&
                      port.find_first_not_of("0123456789") == std::string::npos;
  std::string host = bind.substr(0, colon == std::string::npos ? 0 : colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  const bool bare_v6 = !bracketed && host.find(':') != std::string::npos;
  if (!digits || std::stoul(port) > 65535 || bare_v6) {
    return Invalid(
        "server.bind",
        "--bind takes ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080; got '" + bind + "'");
  }
  options->host = bracketed ? host.substr(1, host.size() - 2) : std::move(host);
  options->port = static_cast<uint16_t>(std::stoul(port));
  return Status::OK();
}

Status ParseGraphs(const std::vector<std::string>& arguments, ServerOptions* options) {
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    if (equals == std::string::npos || equals + 1 == argument.size()) {
      return Invalid(
          "server.graph_id",
          "--graph takes ID=PATH, such as packages=./packages.omni; got '" + argument + "'");
    }
    if (!options->graphs.emplace(argument.substr(0, equals), argument.substr(equals + 1)).second) {
      return Invalid("server.graph_id",
                     "the graph id '" + argument.substr(0, equals) + "' is given twice");
    }
  }
  return Status::OK();
}

int RunServer(int argc, char** argv) {
  ServerOptions options;
  std::string bind = "127.0.0.1:8080";
  std::vector<std::string> graphs;
  bool unauthenticated = false;
  CLI::App app("Serves graphs over HTTP: streaming ingest, folds, status, queries.",
               "omnigraph-server");
  app.add_option("--graph", graphs, "ID=PATH of a graph to serve (repeatable)")->required();
  app.add_option("--bind", bind, "address and port; port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--advertise", options.advertise,
                 "URL at which other hosts reach this server (default: the bound address, or the "
                 "host's name if that is all of them)");
  app.add_option("--workers", options.workers, "threads for connections")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--queries", options.queries, "queries that run at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--connections", options.connections, "connections at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  int64_t stream_idle_s = options.stream_idle.count();
  app.add_option("--stream-idle", stream_idle_s,
                 "seconds without a byte after which a stream is ended")
      ->capture_default_str()
      ->check(CLI::Range(int64_t{1}, int64_t{31'536'000}));
  app.add_flag(
      "--unauthenticated", unauthenticated,
      "let anybody who reaches the address read and write (needed: there are no tokens yet)");
  app.footer(
      "Prints OMNIGRAPH_LISTEN_ADDR=ADDRESS:PORT once it listens. SIGTERM or Ctrl-C stops it in "
      "order.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : ErrorKindInfo(ErrorKind::kInvalid).exit_code;
  }
  if (!unauthenticated) {
    return Fail(Invalid("server.unauthenticated",
                        "this release has no tokens: anybody who reaches the address can read and "
                        "write. Say --unauthenticated to accept that"));
  }
  options.stream_idle = std::chrono::seconds(stream_idle_s);
  Status status = ParseBind(bind, &options);
  status = status.ok() ? ParseGraphs(graphs, &options) : status;
  if (!status.ok()) {
    return Fail(status);
  }
  Result<std::unique_ptr<Server>> server = Server::Start(std::move(options));
  if (!server.ok()) {
    return Fail(server.status());
  }
  std::printf("OMNIGRAPH_LISTEN_ADDR=%s\n", (*server)->address().c_str());
  std::fflush(stdout);
  (*server)->WaitForSignal();
  status = (*server)->Stop();
  return status.ok() ? 0 : Fail(status);
}

}  // namespace
}  // namespace omnigraph::server

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const omnigraph::Status ready = omnigraph::engine::SetUpProcess();
    if (!ready.ok()) {
      return omnigraph::server::Fail(ready);
    }
    return omnigraph::server::RunServer(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "omnigraph-server: internal error: %s\n", error.what());
    return 70;
  }
}
