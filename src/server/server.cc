#include "omnigraph/server/server.h"

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <csignal>
#include <set>
#include <vector>

#include "omnigraph/runtime/future.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/process.h"
#include "omnigraph/runtime/thread.h"
#include "session.h"
#include "shared.h"

namespace omnigraph::server {
namespace asio = boost::asio;
using asio::ip::tcp;
namespace {

constexpr std::chrono::seconds kDrainFor{25};
/// Folds of one graph run one after the other; a second thread serves a second graph.
constexpr int kFoldThreads = 2;
constexpr int kLookupThreads = 1;
/// Connections beyond the limit that are told so at a time; more are closed without a word.
constexpr size_t kRefusalsMax = 32;
/// What makes an accept fail (no descriptor is left) is not over at once.
constexpr std::chrono::milliseconds kAcceptPause{100};

bool IsGraphId(const std::string& id) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), allowed);
}

std::string HostAndPort(const asio::ip::address& host, uint16_t port) {
  const std::string text = host.to_string();
  return (host.is_v6() ? "[" + text + "]" : text) + ":" + std::to_string(port);
}

}  // namespace

Result<std::shared_ptr<engine::Engine>> Shared::FindGraph(const std::string& id) const {
  const auto found = graphs.find(id);
  if (found != graphs.end()) {
    return found->second;
  }
  std::string names;
  for (const auto& [name, engine] : graphs) {
    names += (names.empty() ? "" : ", ") + name;
  }
  return NotFound("server.unknown_graph",
                  "this server has no graph '" + id + "'; it has: " + names);
}

struct Server::Impl {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  asio::io_context io;
  /// Keeps the session threads while the only sessions left wait for work done elsewhere.
  asio::executor_work_guard<asio::io_context::executor_type> until_stopped{io.get_executor()};
  asio::strand<asio::io_context::executor_type> accepting{io.get_executor()};
  tcp::acceptor acceptor{accepting};
  asio::steady_timer accept_pause{accepting};
  size_t connections_max = 0;
  asio::signal_set signals{io, SIGINT, SIGTERM};
  std::string address;
  std::string advertised;
  std::vector<runtime::Thread> workers;
  std::vector<runtime::Thread> blocking;
  runtime::Mutex mutex;
  runtime::CondVar changed;
  std::vector<std::weak_ptr<Session>> sessions OG_GUARDED_BY(mutex);
  bool signalled OG_GUARDED_BY(mutex) = false;
  bool stopped OG_GUARDED_BY(mutex) = false;

  Status Bind(const ServerOptions& options);
  Status OpenGraphs(const ServerOptions& options);
  void Run(const ServerOptions& options);
  void StartThreads(const std::string& name, int count, WorkQueue* queue);
  void Accept();
  void Admit(tcp::socket socket);
  bool AnySession();
};

Status Server::Impl::Bind(const ServerOptions& options) {
  boost::system::error_code error;
  const asio::ip::address host = asio::ip::make_address(options.host, error);
  if (error.failed()) {
    return Invalid("server.bind", "'" + options.host + "' is not an IP address to bind to");
  }
  const tcp::endpoint endpoint(host, options.port);
  const std::string wanted = HostAndPort(host, options.port);
  acceptor.open(endpoint.protocol(), error);
  acceptor.set_option(asio::socket_base::reuse_address(true), error);
  acceptor.bind(endpoint, error);
  if (!error.failed()) {
    acceptor.listen(asio::socket_base::max_listen_connections, error);
  }
  if (error == asio::error::address_in_use) {
    return Unavailable("server.address_in_use",
                       wanted + " is in use by another program; choose another --bind address");
  }
  if (error.failed()) {
    return Invalid("server.bind", "cannot bind to " + wanted + ": " + error.message());
  }
  const uint16_t port = acceptor.local_endpoint().port();
  address = HostAndPort(host, port);
  advertised = options.advertise;
  if (advertised.empty()) {
    advertised =
        "http://" +
        (host.is_unspecified() ? runtime::HostName() + ":" + std::to_string(port) : address);
  } else if (!advertised.starts_with("http://") && !advertised.starts_with("https://")) {
    return Invalid("server.advertise",
                   "--advertise takes a URL, such as http://db1:8080; got '" + advertised + "'");
  }
  return Status::OK();
}

Status Server::Impl::OpenGraphs(const ServerOptions& options) {
  if (options.graphs.empty()) {
    return Invalid("server.no_graph", "which graphs? Give --graph ID=PATH");
  }
  for (const auto& [id, uri] : options.graphs) {
    if (!IsGraphId(id)) {
      return Invalid("server.graph_id",
                     "'" + id + "' is no graph id: 1 to 64 ASCII letters, digits and hyphens");
    }
    engine::EngineOptions engine;
    engine.ingest = options.ingest;
    engine.ingest.address = advertised;
    // A full log slows a session down by a timer, never a worker by a wait.
    engine.ingest.wait_max = std::chrono::milliseconds(0);
    OG_ASSIGN_OR_RETURN(shared->graphs[id], engine::Engine::Open(uri, std::move(engine)));
    OG_RETURN_NOT_OK(shared->graphs[id]->Ingest().status());
  }
  return Status::OK();
}

void Server::Impl::Accept() {
  acceptor.async_accept(asio::make_strand(io),
                        [this](boost::system::error_code error, tcp::socket socket) {
                          if (!acceptor.is_open()) {
                            return;
                          }
                          if (!error.failed()) {
                            Admit(std::move(socket));
                            Accept();
                            return;
                          }
                          accept_pause.expires_after(kAcceptPause);
                          accept_pause.async_wait([this](boost::system::error_code ended) {
                            if (!ended.failed()) {
                              Accept();
                            }
                          });
                        });
}

void Server::Impl::Admit(tcp::socket socket) {
  std::shared_ptr<Session> session;
  bool refused = false;
  {
    const runtime::MutexLock lock(mutex);
    std::erase_if(sessions, [](const std::weak_ptr<Session>& old) { return old.expired(); });
    refused = sessions.size() >= connections_max;
    if (sessions.size() >= connections_max + kRefusalsMax) {
      return;
    }
    session = std::make_shared<Session>(std::move(socket), shared);
    sessions.push_back(session);
  }
  refused ? session->StartRefusing() : session->Start();
}

void Server::Impl::Run(const ServerOptions& options) {
  signals.async_wait([this](boost::system::error_code error, int) {
    if (!error.failed()) {
      const runtime::MutexLock lock(mutex);
      signalled = true;
      changed.NotifyAll();
    }
  });
  asio::post(accepting, [this] { Accept(); });
  for (int i = 0; i < options.workers; ++i) {
    workers.push_back(runtime::Thread::Start("http-" + std::to_string(i), [this] { io.run(); }));
  }
  StartThreads("http-fold-", kFoldThreads, &shared->folds);
  StartThreads("http-query-", options.queries, &shared->queries);
  StartThreads("http-look-", kLookupThreads, &shared->lookups);
}

void Server::Impl::StartThreads(const std::string& name, int count, WorkQueue* queue) {
  for (int i = 0; i < count; ++i) {
    blocking.push_back(runtime::Thread::Start(name + std::to_string(i), [queue] {
      while (std::optional<std::function<void()>> task = queue->Pop()) {
        (*task)();
      }
    }));
  }
}

bool Server::Impl::AnySession() {
  const runtime::MutexLock lock(mutex);
  return std::any_of(sessions.begin(), sessions.end(),
                     [](const std::weak_ptr<Session>& session) { return !session.expired(); });
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  (void)Stop();
}

Result<std::unique_ptr<Server>> Server::Start(ServerOptions options) {
  auto impl = std::make_unique<Impl>();
  impl->connections_max = static_cast<size_t>(options.connections);
  impl->shared->stream_idle = options.stream_idle;
  OG_RETURN_NOT_OK(impl->Bind(options));
  OG_RETURN_NOT_OK(impl->OpenGraphs(options));
  impl->Run(options);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::string Server::address() const {
  return impl_->address;
}

void Server::WaitForSignal() {
  const runtime::MutexLock lock(impl_->mutex);
  while (!impl_->signalled) {
    impl_->changed.Wait(impl_->mutex);
  }
}

Status Server::Stop() {
  std::vector<std::weak_ptr<Session>> sessions;
  {
    const runtime::MutexLock lock(impl_->mutex);
    if (impl_->stopped) {
      return Status::OK();
    }
    impl_->stopped = true;
    // Before the list is taken: a session that is not on it sees the flag when it starts.
    impl_->shared->stopping = true;
    sessions = impl_->sessions;
  }
  asio::post(impl_->accepting, [impl = impl_.get()] {
    boost::system::error_code ignored;
    impl->acceptor.close(ignored);
    impl->accept_pause.cancel();
    impl->signals.cancel(ignored);
  });
  for (const std::weak_ptr<Session>& session : sessions) {
    if (const std::shared_ptr<Session> alive = session.lock()) {
      alive->OnStop();
    }
  }
  // What waits for a thread is answered now: it sees the flag.
  while (std::optional<std::function<void()>> task = impl_->shared->queries.TryPop()) {
    (*task)();
  }
  const runtime::Duration deadline = runtime::MonotonicNow() + kDrainFor;
  while (impl_->AnySession() && runtime::MonotonicNow() < deadline) {
    runtime::SleepFor(std::chrono::milliseconds(10));
  }
  Status first;
  for (const auto& [id, engine] : impl_->shared->graphs) {
    const Status closed = engine->Close();
    first = first.ok() ? closed : first;
  }
  for (WorkQueue* queue :
       {&impl_->shared->folds, &impl_->shared->queries, &impl_->shared->lookups}) {
    queue->Close();
  }
  impl_->io.stop();
  for (runtime::Thread& thread : impl_->workers) {
    thread.Join();
  }
  for (runtime::Thread& thread : impl_->blocking) {
    thread.Join();
  }
  return first;
}

}  // namespace omnigraph::server
