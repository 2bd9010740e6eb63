// Whole graphs as golden bytes: what an older build wrote still reads, and the same history still
// writes the same bytes. The pages under docs/format define every object in it.
//
// A declared change of a format: OMNIGRAPH_WRITE_GOLDEN=FOLDER writes what this build makes of the
// history; see tests/golden/data/graph/README.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "golden_archive.h"
#include "ingest_world.h"
#include "omnigraph/graph/write/load.h"
#include "omnigraph/runtime/sim.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::graph {
namespace {

using testing::City;
using testing::Delete;
using testing::Edge;
using testing::Person;
using testing::Process;

/// The newest is what this build writes; all of them are read.
constexpr const char* kArchives[] = {"graph/1"};
constexpr std::string_view kGoldenSchema =
    "interface Named { name: String @key }\n"
    "node Person @stream implements Named { age: I32? email: String? @unique }\n"
    "node City @stream implements Named { }\n"
    "edge Knows: Person -> Person @stream { since: Date? }\n"
    "edge LivesIn: Person -> City @card(0..1) @stream\n";

/// Creation, a load, two folds with a reject, a tombstone and a cascade, and acked rows that no
/// fold has seen: every kind of object that a graph is made of.
void MakeHistory(const std::shared_ptr<store::ObjectStore>& memory) {
  OG_ASSERT_OK_AND_ASSIGN(const auto created, Graph::Init(memory, kGoldenSchema, "golden"));
  const std::string lines = Person("ann", R"("age":41)") + City("ulm") + City("bonn");
  write::TextSource rows(lines);
  write::LoadOptions load;
  load.mode = write::LoadMode::kAppend;
  load.actor = "golden";
  OG_ASSERT_OK(write::Load(created.get(), &rows, load));
  Process process = testing::StartOn(memory);
  process.Send(Person("bob", R"("age":7,"email":"b@x")") + Person("cid") +
               Edge("Knows", "ann", "bob", "e1", R"({"since":"2020-02-29"})") +
               Edge("Knows", "bob", "cid", "e2") + Edge("Knows", "bob", "nobody", "e3") +
               Edge("LivesIn", "ann", "ulm", "l1"));
  EXPECT_EQ(process.Fold().rejected, 1);
  process.Send(Person("ann", R"("age":42)") + Delete("type", "Person", "cid"));
  EXPECT_EQ(process.Fold().cascaded_edges, 1);
  process.Send(Person("dan") + Edge("LivesIn", "dan", "bonn", "l2"));
  OG_ASSERT_OK(process.ingest->Stop());
}

std::map<std::string, std::string> FilesOf(store::ObjectStore& memory) {
  std::map<std::string, std::string> files;
  const auto objects = store::ListAll(memory, "");
  OG_CHECK_OK(objects);
  for (const store::ObjectInfo& object : *objects) {
    files[object.path] = (*memory.Get(object.path))->ToString();
  }
  return files;
}

void WriteTo(const std::filesystem::path& folder, const std::map<std::string, std::string>& files) {
  for (const auto& [path, bytes] : files) {
    std::filesystem::create_directories((folder / path).parent_path());
    std::ofstream(folder / path, std::ios::binary) << bytes;
  }
}

/// Everything random comes from the seed, and time stands still between waits, so that the bytes do
/// not depend on how many steps the code takes.
runtime::SimResult InSimulation(const std::function<void()>& body) {
  runtime::SimOptions options;
  options.seed = 1;
  options.step_time = {};
  return runtime::RunSimulation(options, [&](runtime::Simulator&) { body(); });
}

TEST(GraphGolden, TheSameHistoryWritesTheSameBytes) {
  std::map<std::string, std::string> made;
  const runtime::SimResult result = InSimulation([&] {
    const auto memory = std::make_shared<store::MemoryStore>();
    MakeHistory(memory);
    made = FilesOf(*memory);
  });
  ASSERT_TRUE(result.ok()) << result.problem;
  if (const char* folder = std::getenv("OMNIGRAPH_WRITE_GOLDEN"); folder != nullptr) {
    WriteTo(folder, made);
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto golden,
                          omnigraph::testing::ReadGoldenArchive(std::end(kArchives)[-1]));
  for (const auto& [path, bytes] : golden) {
    ASSERT_TRUE(made.contains(path)) << path << " is not written any more";
    EXPECT_TRUE(made.at(path) == bytes)
        << path
        << " has other bytes: declare the change of its format in the page and the CHANGELOG";
  }
  for (const auto& [path, bytes] : made) {
    EXPECT_TRUE(golden.contains(path)) << path << " is new";
  }
}

void ReadAndGoOn(const char* archive) {
  OG_ASSERT_OK_AND_ASSIGN(const auto files, omnigraph::testing::OpenGoldenArchive(archive));
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, Graph::Open(files));
  EXPECT_EQ(
      testing::RowsOf(*graph, "Person"),
      (std::map<std::string, std::string>{
          {"ann", R"({"type":"Person","id":"ann","data":{"age":42,"name":"ann"}})"},
          {"bob", R"({"type":"Person","id":"bob","data":{"age":7,"email":"b@x","name":"bob"}})"}}));
  EXPECT_EQ(testing::IdsOf(*graph, "City"), (std::set<std::string>{"bonn", "ulm"}));
  EXPECT_EQ(testing::EndsOf(*graph, "Knows"), (std::multiset<std::string>{"ann>bob"}));
  EXPECT_EQ(testing::EndsOf(*graph, "LivesIn"), (std::multiset<std::string>{"ann>ulm"}));
  OG_ASSERT_OK_AND_ASSIGN(const auto commits, graph->Commits(*graph->snapshot(), 10));
  std::vector<CommitOp> ops;
  for (const CommitRecord& commit : commits) {
    ops.push_back(commit.op);
  }
  EXPECT_EQ(ops, (std::vector<CommitOp>{CommitOp::kFold, CommitOp::kFold, CommitOp::kEnrol,
                                        CommitOp::kLoad, CommitOp::kInit}));
  const std::vector<Reject> rejects = testing::RejectsOf(*graph);
  ASSERT_EQ(rejects.size(), 1u);
  EXPECT_EQ(rejects[0].code, "edge.endpoint_missing");
  EXPECT_EQ(rejects[0].entity_id, "e3");

  Process next = testing::StartOn(files);
  EXPECT_EQ(next.Send(Person("eve")).acked, 1);
  EXPECT_EQ(next.Fold().visible, 3);
  EXPECT_EQ(testing::IdsOf(*next.graph, "Person"),
            (std::set<std::string>{"ann", "bob", "dan", "eve"}));
  EXPECT_EQ(testing::EndsOf(*next.graph, "LivesIn"),
            (std::multiset<std::string>{"ann>ulm", "dan>bonn"}));
}

TEST(GraphGolden, AGraphOfAnOlderBuildReadsAndGoesOn) {
  for (const char* archive : kArchives) {
    SCOPED_TRACE(archive);
    const runtime::SimResult result = InSimulation([archive] { ReadAndGoOn(archive); });
    EXPECT_TRUE(result.ok()) << result.problem;
  }
}

}  // namespace
}  // namespace omnigraph::graph
