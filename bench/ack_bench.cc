// Group ack: what an acknowledgement costs. Prints `figure ack.<name> <number>` lines.
//
// ack.one.*: one producer, one row at a time, against a bare append and fdatasync of as many bytes
// as its log entry has, in turn in the same run. ack.p<P>.r<R>.rows_per_s: P producers, each sends
// R rows and waits for their ack. ack.http.*: the same through the server. All on a graph in the
// folder that --work names.

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "figures.h"
#include "omnigraph/engine/engine.h"
#include "omnigraph/engine/process_setup.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/mutex.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/server/server.h"

namespace omnigraph {
namespace {

using runtime::Duration;

constexpr const char* kSchema =
    "node Event @stream { slug: String @key  kind: String?  value: I64? }";
constexpr int kOneIterations = 2000;
constexpr Duration kThroughputFor = std::chrono::milliseconds(1500);
/// Log entry of one such row, in bytes; what the bare append writes.
size_t entry_bytes = 0;

void Figure(const std::string& name, double value) {
  bench::Figure("ack." + name, value);
}

std::string Row(int producer, int64_t number) {
  return fmt::format(
      "{{\"type\":\"Event\",\"data\":{{\"slug\":\"p{}-{}\",\"kind\":\"click\",\"value\":{}}}}}\n",
      producer, number, number);
}

/// Waits for the ack of what was pushed. Thread-safe.
class Waiter {
 public:
  void Settle(int64_t rows) {
    const runtime::MutexLock lock(mutex_);
    settled_ += rows;
    changed_.NotifyAll();
  }
  void WaitFor(int64_t rows) {
    const runtime::MutexLock lock(mutex_);
    while (settled_ < rows) {
      changed_.Wait(mutex_);
    }
  }

 private:
  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  int64_t settled_ = 0;
};

struct Producer {
  Waiter waiter;
  std::unique_ptr<graph::IngestSession> session;
  int64_t sent = 0;

  /// `alone`: one writer that waits for each ack asks for the put in its own thread.
  Producer(graph::StreamIngest* ingest, bool alone) {
    graph::SessionOptions options;
    options.wait_for_acks = alone;
    options.on_ack = [this](const graph::AckEvent& event) {
      OG_CHECK_OK(event.status);
      waiter.Settle(event.rows);
    };
    session = ingest->OpenSession(options).ValueOrDie();
  }
  void Send(const std::string& text, int64_t rows) {
    OG_CHECK_OK(session->Push(text));
    OG_CHECK_OK(session->Flush());
    sent += rows;
    waiter.WaitFor(sent);
  }
};

size_t SizeOfLastEntry(const std::string& graph) {
  size_t size = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(graph)) {
    if (entry.path().extension() == ".arrow" && entry.path().parent_path().filename() == "wal") {
      size = std::max(size, static_cast<size_t>(entry.file_size()));
    }
  }
  return size;
}

void OneProducer(engine::Engine* engine, const std::string& graph, const std::string& work) {
  Producer producer(engine->Ingest().ValueOrDie(), true);
  int64_t number = 0;
  for (int i = 0; i < 50; ++i) {
    producer.Send(Row(0, number++), 1);
  }
  entry_bytes = SizeOfLastEntry(graph);
  const std::string bytes(entry_bytes, 'x');
  const std::string path = work + "/bare-append";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  OG_CHECK(file >= 0);
  bench::Samples acks;
  bench::Samples syncs;
  for (int i = 0; i < kOneIterations; ++i) {
    const std::string row = Row(0, number++);
    acks.Add(bench::TimeUs([&] { producer.Send(row, 1); }));
    syncs.Add(bench::TimeUs([&] {
      OG_CHECK(::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
      OG_CHECK(::fdatasync(file) == 0);
    }));
  }
  ::close(file);
  ::unlink(path.c_str());
  OG_CHECK_OK(producer.session->Finish());
  Figure("one.entry_bytes", static_cast<double>(entry_bytes));
  Figure("one.p50_us", acks.Median());
  Figure("one.p99_us", acks.Quantile(0.99));
  Figure("sync.p50_us", syncs.Median());
  Figure("sync.p99_us", syncs.Quantile(0.99));
  Figure("one.p50_over_sync", acks.Median() / syncs.Median());
  Figure("one.p99_over_sync", acks.Quantile(0.99) / syncs.Quantile(0.99));
}

/// Runs `send(producer, batch)` on each of `producers` threads until the time is over; rows per
/// second.
double Throughput(int producers, int64_t rows, const std::function<void(int, int64_t)>& send) {
  std::atomic<int64_t> total{0};
  const Duration started = runtime::MonotonicNow();
  {
    std::vector<runtime::Thread> threads;
    for (int p = 0; p < producers; ++p) {
      threads.push_back(runtime::Thread::Start("producer", [&, p] {
        for (int64_t batch = 0; runtime::MonotonicNow() - started < kThroughputFor; ++batch) {
          send(p, batch);
          total += rows;
        }
      }));
    }
  }
  return static_cast<double>(total.load()) /
         std::chrono::duration<double>(runtime::MonotonicNow() - started).count();
}

std::string Batch(int round, int producer, int64_t batch, int64_t rows) {
  std::string text;
  for (int64_t i = 0; i < rows; ++i) {
    text += Row(round * 1000 + producer, batch * rows + i);
  }
  return text;
}

void InProcess(engine::Engine* engine) {
  int round = 1;
  for (const int producers : {1, 16, 64}) {
    for (const int64_t rows : {1, 100, 1000}) {
      std::vector<std::unique_ptr<Producer>> all;
      for (int p = 0; p < producers; ++p) {
        all.push_back(std::make_unique<Producer>(engine->Ingest().ValueOrDie(), producers == 1));
      }
      const double rate = Throughput(producers, rows, [&](int p, int64_t batch) {
        all[static_cast<size_t>(p)]->Send(Batch(round, p, batch, rows), rows);
      });
      Figure(fmt::format("p{}.r{}.rows_per_s", producers, rows), rate);
      for (auto& producer : all) {
        OG_CHECK_OK(producer->session->Finish());
      }
      OG_CHECK_OK(engine->Fold().status());
      ++round;
    }
  }
}

/// A blocking HTTP client on one connection.
class Client {
 public:
  explicit Client(const std::string& address) : stream_(io_) {
    const size_t colon = address.find(':');
    boost::asio::ip::tcp::resolver resolver(io_);
    stream_.connect(resolver.resolve(address.substr(0, colon), address.substr(colon + 1)));
    stream_.socket().set_option(boost::asio::ip::tcp::no_delay(true));
  }
  void Send(std::string body) {
    namespace http = boost::beast::http;
    http::request<http::string_body> request(http::verb::post, "/graphs/g/ingest", 11);
    request.set(http::field::content_type, "application/x-ndjson");
    request.body() = std::move(body);
    request.prepare_payload();
    http::write(stream_, request);
    http::response<http::string_body> response;
    http::read(stream_, buffer_, response);
    OG_CHECK(response.result() == http::status::ok);
  }

 private:
  boost::asio::io_context io_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
};

void OverHttp(const std::string& graph) {
  server::ServerOptions options;
  options.port = 0;
  options.graphs["g"] = graph;
  const std::unique_ptr<server::Server> server =
      server::Server::Start(std::move(options)).ValueOrDie();
  int round = 101;
  for (const int producers : {1, 16, 64}) {
    for (const int64_t rows : {1, 100, 1000}) {
      std::vector<std::unique_ptr<Client>> clients;
      for (int p = 0; p < producers; ++p) {
        clients.push_back(std::make_unique<Client>(server->address()));
      }
      const double rate = Throughput(producers, rows, [&](int p, int64_t batch) {
        clients[static_cast<size_t>(p)]->Send(Batch(round, p, batch, rows));
      });
      Figure(fmt::format("http.p{}.r{}.rows_per_s", producers, rows), rate);
      ++round;
    }
  }
  OG_CHECK_OK(server->Stop());
}

int Run(const std::string& work) {
  const std::string graph = work + "/ack.omni";
  std::filesystem::remove_all(graph);
  OG_CHECK_OK(engine::Engine::Init(graph, kSchema, ""));
  {
    const std::shared_ptr<engine::Engine> engine = engine::Engine::Open(graph, {}).ValueOrDie();
    OneProducer(engine.get(), graph, work);
    InProcess(engine.get());
    OG_CHECK_OK(engine->Close());
  }
  OverHttp(graph);
  std::filesystem::remove_all(graph);
  return 0;
}

}  // namespace
}  // namespace omnigraph

int main(int argc, char** argv) {
  OG_CHECK_OK(omnigraph::engine::SetUpProcess());
  return omnigraph::Run(omnigraph::bench::WorkFolder(argc, argv));
}
