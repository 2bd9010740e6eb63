// Figures of the fold: rows per second from the log into tables, new keys and existing ones.
#include <cstdio>
#include <string>

#include "figures.h"
#include "omnigraph/graph/ingest/stream_ingest.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph {
namespace {

constexpr std::string_view kSchema = R"(
node Package @stream { name: String @key  version: String?  section: String?  priority: String?
                       size: I64?  summary: String? }
node Section @stream { name: String @key }
edge DependsOn: Package -> Package @stream { constraint: String? }
edge InSection: Package -> Section @stream
)";
constexpr int kPackages = 60'000;

/// About the shape of the demo: one node line to five edge lines; every eighth dependency dangles.
std::string MakeLines() {
  std::string text = R"({"type":"Section","data":{"name":"libdevel"}})"
                     "\n";
  for (int i = 0; i < kPackages; ++i) {
    const std::string name = "lib" + std::to_string(i) + "-dev";
    text += R"({"type":"Package","data":{"name":")" + name +
            R"(","version":"1.2.3-4+b1","section":"libdevel","priority":"optional","size":)" +
            std::to_string(i * 37 % 100000) +
            R"(,"summary":"development files for a library of some kind"}})" + "\n";
    for (int k = 1; k <= 4; ++k) {
      const int to = (i * k + 13) % kPackages;
      text += R"({"edge":"DependsOn","from":")" + name + R"(","to":"lib)" + std::to_string(to) +
              ((i + k) % 32 == 0 ? "-virtual" : "-dev") + R"(","data":{"constraint":">= 1.2"}})" +
              "\n";
    }
    text += R"({"edge":"InSection","from":")" + name + R"(","to":"libdevel"})" + "\n";
  }
  return text;
}

struct Times {
  double ack_s = 0;
  double fold_s = 0;
  int64_t rows = 0;
};

Times StreamAndFold(graph::StreamIngest& ingest, const std::string& text) {
  Times out;
  const runtime::Duration start = runtime::MonotonicNow();
  auto session = ingest.OpenSession({.actor = "bench"});
  OG_CHECK_OK(session);
  constexpr size_t kChunk = 1 << 20;
  for (size_t at = 0; at < text.size(); at += kChunk) {
    OG_CHECK_OK((*session)->Push(std::string_view(text).substr(at, kChunk)));
  }
  OG_CHECK_OK((*session)->Finish());
  const runtime::Duration acked = runtime::MonotonicNow();
  auto report = ingest.Fold();
  OG_CHECK_OK(report);
  out.ack_s = std::chrono::duration<double>(acked - start).count();
  out.fold_s = std::chrono::duration<double>(runtime::MonotonicNow() - acked).count();
  out.rows = (*session)->Summary().acked;
  return out;
}

int Run(const std::string& folder) {
  const std::string text = MakeLines();
  auto store =
      store::OpenStore(folder + "/fold_bench_" + std::to_string(runtime::WallNow().count()));
  OG_CHECK_OK(store);
  auto graph = graph::Graph::Init(*store, kSchema, "bench");
  OG_CHECK_OK(graph);
  graph::IngestOptions options;
  options.fold_in_background = false;
  options.pending_bytes_max = 512 << 20;
  auto ingest = graph::StreamIngest::Start(*graph, options);
  OG_CHECK_OK(ingest);
  const Times fresh = StreamAndFold(**ingest, text);
  const Times again = StreamAndFold(**ingest, text);
  bench::Figure("fold.acked_rows_per_s", static_cast<double>(fresh.rows) / fresh.ack_s);
  bench::Figure("fold.rows_per_s", static_cast<double>(fresh.rows) / fresh.fold_s);
  bench::Figure("fold.again_rows_per_s", static_cast<double>(again.rows) / again.fold_s);
  return 0;
}

}  // namespace
}  // namespace omnigraph

int main(int argc, char** argv) {
  return omnigraph::Run(omnigraph::bench::WorkFolder(argc, argv));
}
