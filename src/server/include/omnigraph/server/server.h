/// \file
/// The HTTP server: sessions over the engine, on a few threads that never wait, and threads for
/// what may: folds, queries, status. Routes and bodies: docs/http.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/ingest/stream_ingest.h"

namespace omnigraph::server {

/// Settings of one Server.
struct ServerOptions {
  std::string host = "127.0.0.1";  ///< an IP address; IPv6 without brackets
  uint16_t port = 8080;            ///< 0: any free one
  int workers = 2;                 ///< threads that run sessions: sockets, parsing, acks
  int queries = 4;  ///< queries that run at a time; 16 more wait, further ones are refused
  /// The URL that processes which come for our shards are told (S9). Empty: the bound address, or
  /// the host's name where that is the wildcard.
  std::string advertise;
  /// Connections at a time; further ones are answered `server.too_many_connections`. One costs a
  /// descriptor and, while it streams, half a MiB.
  int connections = 512;
  /// A stream of which no byte comes for so long ends, with its summary. Peers that are gone are
  /// found by TCP keepalive, within two minutes.
  std::chrono::seconds stream_idle{3600};
  /// Graph id to URI. Ids are 1 to 64 ASCII letters, digits and hyphens.
  std::map<std::string, std::string> graphs;
  graph::IngestOptions ingest;
};

/// Thread-safe.
class Server {
 public:
  /// Bind (the address is told to others with the shards), open the graphs, start the threads.
  /// Shards with pending rows and no living owner are claimed.
  ///
  /// Errors: kInvalid (`server.graph_id`, `server.bind`, `server.advertise`), kUnavailable
  /// (`server.address_in_use`), those of engine::Engine::Open.
  static Result<std::unique_ptr<Server>> Start(ServerOptions options);
  ~Server();

  /// The bound address, `host:port`, with brackets around IPv6.
  std::string address() const;
  /// Wait for SIGINT or SIGTERM.
  void WaitForSignal();
  /// Graceful: no new connections; requests in flight end, streams settle what they have and are
  /// told so; shards are given back. Idempotent.
  Status Stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace omnigraph::server
