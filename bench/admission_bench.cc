// Figures of admission: how fast NDJSON becomes checked Arrow rows on one thread.
#include <cstdio>
#include <string>

#include "omnigraph/graph/write/row_parser.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"

namespace omnigraph {
namespace {

constexpr std::string_view kSchema = R"(
node Package { name: String @key  version: String?  section: String?  priority: String?
               size: I64?  summary: String? }
node Section { name: String @key }
edge DependsOn: Package -> Package { constraint: String? }
edge InSection: Package -> Section
)";

/// About the shape of the demo: one node line to five edge lines.
std::string MakeLines(int packages) {
  std::string text;
  for (int i = 0; i < packages; ++i) {
    const std::string name = "lib" + std::to_string(i * 7919 % packages) + "-dev";
    text += R"({"type":"Package","data":{"name":")" + name +
            R"(","version":"1.2.3-4+b1","section":"libdevel","priority":"optional","size":)" +
            std::to_string(i * 37 % 100000) +
            R"(,"summary":"development files for a library of some kind"}})" + "\n";
    for (int k = 1; k <= 4; ++k) {
      text += R"({"edge":"DependsOn","from":")" + name + R"(","to":"lib)" +
              std::to_string((i * k + 13) % packages) + R"(-dev","data":{"constraint":">= 1.2"}})" +
              "\n";
    }
    text += R"({"edge":"InSection","from":")" + name + R"(","to":"libdevel"})" + "\n";
  }
  return text;
}

int Run() {
  const auto catalog = schema::CompileSchema(kSchema, nullptr, runtime::NewId64);
  OG_CHECK_OK(catalog);
  const std::string text = MakeLines(60000);
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    auto parser = write::RowParser::Make(*catalog);
    OG_CHECK_OK(parser);
    write::RowSet rows(*catalog);
    write::LineReader reader;
    write::Line line;
    write::AdmittedRow admitted;
    write::LineError error;
    int64_t count = 0;
    const runtime::Duration start = runtime::MonotonicNow();
    constexpr size_t kChunk = 256 << 10;
    for (size_t at = 0; at < text.size(); at += kChunk) {
      reader.Feed(std::string_view(text).substr(at, kChunk));
      while (reader.Next(&line)) {
        count += (*parser)->Parse(line, &rows, &admitted, &error) ? 1 : 0;
      }
      for (size_t i = 0; i < (*catalog)->types().size(); ++i) {
        if (rows.at(static_cast<int>(i)).rows() >= 16384) {
          OG_CHECK_OK(rows.at(static_cast<int>(i)).Finish());
        }
      }
    }
    reader.Finish();
    const double seconds = std::chrono::duration<double>(runtime::MonotonicNow() - start).count();
    best = std::max(best, static_cast<double>(count) / seconds);
  }
  std::printf("figure admission.rows_per_s %.0f\n", best);
  return 0;
}

}  // namespace
}  // namespace omnigraph

int main() {
  return omnigraph::Run();
}
