// Figures of bulk load: the shape and size of the demo, about 64,000 nodes and 300,000 edges, onto
// a local disk.
#include <algorithm>
#include <cstring>
#include <string>

#include "figures.h"
#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/write/load.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph {
namespace {

constexpr std::string_view kSchema = R"(
node Package { name: String @key  version: String?  section: String?  priority: String?
               size: I64?  summary: String? }
node Section { name: String @key }
edge DependsOn: Package -> Package { constraint: String? }
edge InSection: Package -> Section
)";

constexpr int kPackages = 60000;

std::string MakeLines() {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += R"({"type":"Section","data":{"name":"section)" + std::to_string(i) + "\"}}\n";
  }
  for (int i = 0; i < kPackages; ++i) {
    const std::string name = "lib" + std::to_string(i * 7919 % kPackages) + "-dev";
    const std::string section = "section" + std::to_string(i % 100);
    text += R"({"type":"Package","data":{"name":")" + name +
            R"(","version":"1.2.3-4+b1","section":")" + section +
            R"(","priority":"optional","size":)" + std::to_string(i * 37 % 100000) +
            R"(,"summary":"development files for a library of some kind"}})" + "\n";
    for (int k = 1; k <= 4; ++k) {
      text += R"({"edge":"DependsOn","from":")" + name + R"(","to":"lib)" +
              std::to_string((i * k * 31 + 13) % kPackages) +
              R"(-dev","data":{"constraint":">= 1.2"}})" + "\n";
    }
    text += R"({"edge":"InSection","from":")" + name + R"(","to":")" + section + "\"}\n";
  }
  return text;
}

/// Rows per second of one load into a new graph, or into one that holds them all.
double LoadOnce(graph::Graph* graph, std::string_view text, write::LoadMode mode) {
  write::TextSource source(text);
  write::LoadOptions options;
  options.mode = mode;
  options.actor = "bench";
  const runtime::Duration start = runtime::MonotonicNow();
  const auto report = write::Load(graph, &source, options);
  OG_CHECK_OK(report);
  OG_CHECK(report->error_count == 0);
  return static_cast<double>(report->rows) /
         std::chrono::duration<double>(runtime::MonotonicNow() - start).count();
}

void Run(const std::string& work) {
  const std::string text = MakeLines();
  double fresh = 0;
  double overwrite = 0;
  for (int round = 0; round < 3; ++round) {
    const auto store = store::OpenStore(work + "/load-" + runtime::NewUlid());
    OG_CHECK_OK(store);
    const auto graph = graph::Graph::Init(*store, kSchema, "bench");
    OG_CHECK_OK(graph);
    fresh = std::max(fresh, LoadOnce(graph->get(), text, write::LoadMode::kMerge));
    overwrite = std::max(overwrite, LoadOnce(graph->get(), text, write::LoadMode::kOverwrite));
  }
  bench::Figure("load.rows_per_s", fresh);
  bench::Figure("load.overwrite_rows_per_s", overwrite);
}

}  // namespace
}  // namespace omnigraph

int main(int argc, char** argv) {
  omnigraph::Run(omnigraph::bench::WorkFolder(argc, argv));
  return 0;
}
