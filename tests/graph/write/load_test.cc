// Bulk load (3.3 of the surface; A6 to A12, A30, A31): modes, all or nothing, one commit, checks
// over the input and the graph, in memory and spilled.
#include "omnigraph/graph/write/load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "omnigraph/graph/manifest/graph_store.h"
#include "omnigraph/graph/schema/catalog.h"
#include "omnigraph/graph/write/export.h"
#include "omnigraph/lance/index/btree.h"
#include "omnigraph/lance/index/key_lookup.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/faulty_store.h"
#include "omnigraph/store/memory_store.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::write {
namespace {

constexpr std::string_view kSchema = R"(
interface Named { name: String? @index }
node Person implements Named { slug: String @key  age: I32?  tags: [String]?  email: String? @unique
                               @range(age, 0..150) }
node Team { code: String  region: enum(eu, us, apac)  size: I32?  @key(code, region) }
node Memo { body: String  topic: String?  rank: F64?  @unique(topic, rank) }
edge Knows: Person -> Person { since: Date? }
edge MemberOf: Person -> Team @card(0..1)
edge Rates: Person -> Memo { stars: I32? @key(src, dst) @unique(dst, stars) }
edge Owns: Person -> Memo @card(1..2)
)";

/// Text in pieces.
class PieceSource : public ByteSource {
 public:
  explicit PieceSource(std::string text, size_t piece = 1 << 16, Status end = Status::OK())
      : text_(std::move(text)), piece_(piece), end_(std::move(end)) {}

  Result<size_t> Read(char* data, size_t size) override {
    if (at_ == text_.size() && !end_.ok()) {
      return end_;
    }
    const size_t count = std::min({size, piece_, text_.size() - at_});
    std::memcpy(data, text_.data() + at_, count);
    at_ += count;
    return count;
  }

 private:
  std::string text_;
  size_t piece_;
  size_t at_ = 0;
  Status end_;
};

/// A graph in memory.
class World {
 public:
  explicit World(std::string_view schema_text = kSchema,
                 std::shared_ptr<store::ObjectStore> store = std::make_shared<store::MemoryStore>())
      : store_(std::move(store)) {
    auto graph = graph::Graph::Init(store_, schema_text, "tester");
    OG_CHECK_OK(graph);
    graph_ = *graph;
  }

  Result<LoadReport> TryLoad(const std::string& text, LoadMode mode, size_t key_bytes = 64u << 20) {
    PieceSource source(text);
    LoadOptions options;
    options.mode = mode;
    options.actor = "tester";
    options.key_bytes_max = key_bytes;
    return Load(graph_.get(), &source, options);
  }

  LoadReport Take(const std::string& text, LoadMode mode, size_t key_bytes = 64u << 20) {
    auto report = TryLoad(text, mode, key_bytes);
    OG_CHECK_OK(report);
    return *report;
  }

  /// The code of the first error, or empty after a commit.
  std::string Code(const std::string& text, LoadMode mode, size_t key_bytes = 64u << 20) {
    last = Take(text, mode, key_bytes);
    OG_CHECK((last.error_count == 0) == !last.commit_id.empty());
    return last.errors.empty() ? "" : last.errors.front().code;
  }

  /// All rows of the newest snapshot as sorted export lines; minted ids hidden.
  std::string Rows(std::string_view only = {}) {
    OG_CHECK_OK(graph_->Refresh());
    const auto snapshot = graph_->snapshot();
    const auto catalog = *graph_->CatalogOf(*snapshot);
    std::string all;
    for (const schema::TypeDef& type : catalog->types()) {
      if (!only.empty() && type.name != only) {
        continue;
      }
      const auto table = graph_->OpenTable(*snapshot, type.table_id);
      OG_CHECK_OK(table);
      const auto reader = (*table)->Scan();
      OG_CHECK_OK(reader);
      std::string text;
      std::shared_ptr<arrow::RecordBatch> batch;
      OG_CHECK_OK((*reader)->ReadNext(&batch));
      while (batch != nullptr) {
        OG_CHECK_OK(AppendExportLines(type, *batch, &text));
        OG_CHECK_OK((*reader)->ReadNext(&batch));
      }
      std::vector<std::string> lines;
      for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
      }
      OG_CHECK(snapshot->FindTable(type.table_id)->rows == static_cast<int64_t>(lines.size()));
      std::sort(lines.begin(), lines.end());
      for (const std::string& line : lines) {
        all += line + "\n";
      }
    }
    return all;
  }

  size_t ObjectsBelow(std::string_view prefix) {
    const auto objects = store::ListAll(*store_, prefix);
    OG_CHECK_OK(objects);
    return objects->size();
  }

  graph::Graph& graph() { return *graph_; }
  LoadReport last;

 private:
  std::shared_ptr<store::ObjectStore> store_;
  std::shared_ptr<graph::Graph> graph_;
};

std::string Person(const std::string& slug, const std::string& more = "") {
  return R"({"type":"Person","data":{"slug":")" + slug + "\"" + (more.empty() ? "" : "," + more) +
         "}}\n";
}
std::string Memo(const std::string& id, const std::string& body, const std::string& more = "") {
  return R"({"type":"Memo","id":")" + id + R"(","data":{"body":")" + body + "\"" +
         (more.empty() ? "" : "," + more) + "}}\n";
}
std::string Edge(const std::string& type, const std::string& from, const std::string& to,
                 const std::string& id = "") {
  return R"({"edge":")" + type + R"(","from":")" + from + R"(","to":")" + to + "\"" +
         (id.empty() ? "" : R"(,"id":")" + id + "\"") + "}\n";
}

// The fixture of appendix A.
const std::string kFixture =
    R"({"type":"Person","data":{"slug":"ann","name":"Ann","age":30,"tags":["x","y"]}}
{"type":"Person","data":{"slug":"bob","name":"Bob"}}
{"type":"Person","data":{"slug":"cat","name":"Cat","age":41}}
{"edge":"Knows","id":"k1","from":"ann","to":"bob","data":{"since":"2020-01-01"}}
{"edge":"Knows","id":"k2","from":"ann","to":"bob","data":{"since":"2021-01-01"}}
{"edge":"Knows","id":"k3","from":"bob","to":"cat"}
{"edge":"Knows","id":"k4","from":"cat","to":"cat"}
{"type":"Team","data":{"code":"T1","region":"eu","size":3}}
{"edge":"MemberOf","id":"m1","from":"ann","to":"[\"T1\",\"eu\"]"}
)";

TEST(Load, PutsNodesAndEdgesInOneCommit) {
  World world;
  const uint64_t before = world.graph().snapshot()->sequence;
  const LoadReport report = world.Take(kFixture, LoadMode::kAppend);
  EXPECT_EQ(report.error_count, 0);
  EXPECT_EQ(report.rows, 9);
  EXPECT_EQ(report.lines, 9);
  EXPECT_EQ(world.graph().snapshot()->sequence, before + 1);
  EXPECT_EQ(world.graph().snapshot()->head, report.commit_id);
  ASSERT_EQ(report.types.size(), 4u);
  EXPECT_EQ(report.types[0].type, "Person");
  EXPECT_EQ(report.types[0].inserted, 3);
  EXPECT_EQ(world.Rows("Team"),
            "{\"type\":\"Team\",\"id\":\"[\\\"T1\\\",\\\"eu\\\"]\",\"data\":{\"code\":\"T1\","
            "\"region\":\"eu\",\"size\":3}}\n");
  EXPECT_EQ(world.Rows("Knows").rfind(
                "{\"edge\":\"Knows\",\"id\":\"k1\",\"from\":\"ann\",\"to\":\"bob\",\"data\":"
                "{\"since\":\"2020-01-01\"}}\n",
                0),
            0u);
  EXPECT_EQ(world.ObjectsBelow("_spill"), 0u);
}

TEST(Load, AnInputWithoutLinesIsACommitToo) {
  World world;
  const uint64_t before = world.graph().snapshot()->sequence;
  const LoadReport report = world.Take("\n  \n", LoadMode::kOverwrite);
  EXPECT_EQ(report.blank, 2);
  EXPECT_FALSE(report.commit_id.empty());
  EXPECT_EQ(world.graph().snapshot()->sequence, before + 1);
}

// A6: any bad line, and nothing changes; all bad lines are named, at most 100 of them.
TEST(Load, ABadLineRefusesTheWholeInput) {
  World world;
  world.Take(kFixture, LoadMode::kAppend);
  const std::string rows = world.Rows();
  const uint64_t before = world.graph().snapshot()->sequence;
  EXPECT_EQ(world.Code(Person("d1") + Person("d2", "\"age\":151") + "\n{\n" + Person("d3"),
                       LoadMode::kMerge),
            "constraint.range");
  ASSERT_EQ(world.last.errors.size(), 2u);
  EXPECT_EQ(world.last.errors[0].line, 2);
  EXPECT_EQ(world.last.errors[1].line, 4);
  std::string many;
  for (int i = 0; i < 250; ++i) {
    many += Person("p" + std::to_string(i), i % 2 == 0 ? "\"age\":-1" : "");
  }
  world.Code(many, LoadMode::kMerge);
  EXPECT_EQ(world.last.error_count, 125);
  ASSERT_EQ(world.last.errors.size(), 100u);
  EXPECT_EQ(world.last.errors[99].line, 199);
  EXPECT_EQ(world.Code(R"({"type":"Person","id":"ann","op":"delete"})", LoadMode::kMerge),
            "row.op");
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.graph().snapshot()->sequence, before);
}

// Every case both with all hashes in memory and with next to no memory for them.
class LoadChecks : public ::testing::TestWithParam<size_t> {
 protected:
  std::string Code(World& world, const std::string& text, LoadMode mode) {
    return world.Code(text, mode, GetParam());
  }
};
INSTANTIATE_TEST_SUITE_P(Memory, LoadChecks, ::testing::Values(64u << 20, 0u));

// A7: the same key twice, in every mode.
TEST_P(LoadChecks, AKeyTwiceInOneInputIsRefused) {
  for (const LoadMode mode : {LoadMode::kAppend, LoadMode::kMerge, LoadMode::kOverwrite}) {
    World world;
    EXPECT_EQ(Code(world, Person("ann") + Person("bob") + Person("ann", "\"age\":3"), mode),
              "constraint.unique");
    EXPECT_EQ(world.last.errors[0].line, 3);
    EXPECT_EQ(world.last.errors[0].property, "slug");
    EXPECT_NE(world.last.errors[0].message.find("line 1"), std::string::npos);
    EXPECT_EQ(world.Rows(), "");
  }
}

// A8, A9: the same id twice on a keyless type.
TEST_P(LoadChecks, AnIdTwiceInOneInput) {
  World world;
  const std::string twice = Memo("m1", "first") + Memo("m2", "x") + Memo("m1", "second") +
                            Memo("m3", "y") + Memo("m1", "third");
  EXPECT_EQ(Code(world, twice, LoadMode::kAppend), "load.key_conflict");
  EXPECT_EQ(Code(world, twice, LoadMode::kOverwrite), "load.key_conflict");
  EXPECT_EQ(world.Rows(), "");
  EXPECT_EQ(Code(world, twice, LoadMode::kMerge), "");
  EXPECT_EQ(world.last.types[0].inserted, 3);
  EXPECT_EQ(world.Rows(),
            "{\"type\":\"Memo\",\"id\":\"m1\",\"data\":{\"body\":\"third\"}}\n"
            "{\"type\":\"Memo\",\"id\":\"m2\",\"data\":{\"body\":\"x\"}}\n"
            "{\"type\":\"Memo\",\"id\":\"m3\",\"data\":{\"body\":\"y\"}}\n");
}

// A10, A11: an id that exists.
TEST_P(LoadChecks, AnIdThatExists) {
  World world;
  world.Take(kFixture, LoadMode::kAppend);
  EXPECT_EQ(Code(world, Person("dan") + Person("ann"), LoadMode::kAppend), "load.key_conflict");
  EXPECT_EQ(world.last.errors[0].line, 2);
  EXPECT_EQ(Code(world, Edge("Knows", "ann", "bob", "k1"), LoadMode::kAppend), "load.key_conflict");
  EXPECT_EQ(Code(world, Person("ann", "\"name\":\"A\"") + Person("dan"), LoadMode::kMerge), "");
  EXPECT_EQ(world.last.types[0].inserted, 1);
  EXPECT_EQ(world.last.types[0].updated, 1);
  const std::string people = world.Rows("Person");
  EXPECT_NE(people.find(
                "{\"type\":\"Person\",\"id\":\"ann\",\"data\":{\"slug\":\"ann\",\"name\":\"A\"}}"),
            std::string::npos)
      << people;
  EXPECT_EQ(std::count(people.begin(), people.end(), '\n'), 4);
}

// A31: endpoints must exist after the load, whatever the order of lines.
TEST_P(LoadChecks, EndpointsMustExist) {
  World world;
  EXPECT_EQ(Code(world, Edge("Knows", "a", "b") + Person("a") + Person("b"), LoadMode::kAppend),
            "");
  EXPECT_EQ(Code(world, Edge("Knows", "b", "a") + Edge("Knows", "c", "a") + Person("c"),
                 LoadMode::kAppend),
            "");
  EXPECT_EQ(
      Code(world, Edge("Knows", "a", "b") + "\n" + Edge("Knows", "a", "zzz"), LoadMode::kMerge),
      "edge.endpoint_missing");
  EXPECT_EQ(world.last.errors[0].line, 3);
  EXPECT_EQ(world.last.errors[0].property, "to");
  EXPECT_EQ(world.last.errors[0].type, "Knows");
  EXPECT_NE(world.last.errors[0].message.find("'zzz'"), std::string::npos);
  // A node of another type is no endpoint.
  EXPECT_EQ(Code(world, Edge("MemberOf", "a", "b"), LoadMode::kMerge), "edge.endpoint_missing");
  // B49: another normal form is another key; the message shows the difference.
  EXPECT_EQ(Code(world, Person("Montr\xc3\xa9\x61l") + Edge("Knows", "Montre\xcc\x81\x61l", "a"),
                 LoadMode::kMerge),
            "edge.endpoint_missing");
  EXPECT_NE(world.last.errors[0].message.find("Montre\\u{301}al"), std::string::npos)
      << world.last.errors[0].message;
}

// A12: overwrite touches only types that occur, and leaves no edge without its ends.
TEST_P(LoadChecks, OverwriteReplacesTypesThatOccur) {
  World world;
  world.Take(kFixture + Memo("m", "memo"), LoadMode::kAppend);
  EXPECT_EQ(Code(world, Person("ann") + Person("bob"), LoadMode::kOverwrite),
            "edge.endpoint_missing");
  EXPECT_EQ(world.last.errors[0].type, "Knows");
  EXPECT_EQ(world.last.errors[0].line, 0);
  EXPECT_EQ(Code(world, Person("ann", "\"age\":1") + Person("bob") + Person("cat") + Person("dan"),
                 LoadMode::kOverwrite),
            "");
  EXPECT_EQ(world.last.types[0].inserted, 4);
  EXPECT_EQ(world.last.types[0].deleted, 3);
  const std::string people = world.Rows("Person");
  EXPECT_EQ(people.find("Ann"), std::string::npos);
  EXPECT_EQ(std::count(people.begin(), people.end(), '\n'), 4);
  EXPECT_NE(world.Rows("Memo"), "");
  EXPECT_NE(world.Rows("Team"), "");
  // New edges are checked against the new nodes only.
  EXPECT_EQ(Code(world,
                 Person("x") + Edge("Knows", "x", "ann", "n1") +
                     R"({"edge":"MemberOf","from":"x","to":"[\"T1\",\"eu\"]"})",
                 LoadMode::kOverwrite),
            "edge.endpoint_missing");
  EXPECT_EQ(Code(world,
                 Person("x") + Edge("Knows", "x", "x", "n1") +
                     R"({"edge":"MemberOf","from":"x","to":"[\"T1\",\"eu\"]"})",
                 LoadMode::kOverwrite),
            "");
  EXPECT_EQ(world.Rows("Knows"),
            "{\"edge\":\"Knows\",\"id\":\"n1\",\"from\":\"x\",\"to\":\"x\",\"data\":{}}\n");
}

TEST_P(LoadChecks, UniqueOverTheInputAndTheGraph) {
  World world;
  EXPECT_EQ(Code(world, Person("a", R"("email":"e1")") + Person("b", R"("email":"e1")"),
                 LoadMode::kMerge),
            "constraint.unique");
  EXPECT_EQ(world.last.errors[0].line, 2);
  EXPECT_EQ(world.last.errors[0].property, "email");
  EXPECT_EQ(Code(world,
                 Person("a", R"("email":"e1")") + Person("b", R"("email":"e2")") + Person("c") +
                     Person("d"),
                 LoadMode::kMerge),
            "");
  EXPECT_EQ(Code(world, Person("e", R"("email":"e2")"), LoadMode::kMerge), "constraint.unique");
  // The row that held the value is itself replaced.
  EXPECT_EQ(Code(world, Person("e", R"("email":"e2")") + Person("b"), LoadMode::kMerge), "");
  EXPECT_EQ(Code(world, Person("e", R"("email":"e2")"), LoadMode::kMerge), "");
  // Tuples: both must be equal, a null exempts, both zeros are one value.
  EXPECT_EQ(Code(world,
                 Memo("m1", "x", R"("topic":"t","rank":0.0)") +
                     Memo("m2", "x", R"("topic":"t","rank":1)") +
                     Memo("m3", "x", R"("topic":"t")") + Memo("m4", "x", R"("topic":"t")"),
                 LoadMode::kMerge),
            "");
  EXPECT_EQ(Code(world, Memo("m5", "x", R"("topic":"t","rank":-0.0)"), LoadMode::kMerge),
            "constraint.unique");
  // Members may be endpoints; a keyed edge upserts.
  EXPECT_EQ(
      Code(world, R"({"edge":"Rates","from":"a","to":"m1","data":{"stars":5}})", LoadMode::kMerge),
      "");
  EXPECT_EQ(
      Code(world, R"({"edge":"Rates","from":"b","to":"m1","data":{"stars":5}})", LoadMode::kMerge),
      "constraint.unique");
  EXPECT_EQ(
      Code(world, R"({"edge":"Rates","from":"a","to":"m1","data":{"stars":4}})", LoadMode::kMerge),
      "");
  EXPECT_EQ(world.Rows("Rates"),
            "{\"edge\":\"Rates\",\"id\":\"[\\\"a\\\",\\\"m1\\\"]\",\"from\":\"a\",\"to\":\"m1\","
            "\"data\":{\"stars\":4}}\n");
}

// A30, and minima for sources that the load touches.
TEST_P(LoadChecks, CardCountsTheInputAndTheGraph) {
  World world;
  world.Take(kFixture + Memo("m1", "x") + Memo("m2", "x") + Memo("m3", "x"), LoadMode::kAppend);
  EXPECT_EQ(
      Code(world, R"({"edge":"MemberOf","from":"ann","to":"[\"T1\",\"eu\"]"})", LoadMode::kAppend),
      "constraint.card");
  EXPECT_EQ(world.last.errors[0].line, 1);
  EXPECT_NE(world.last.errors[0].message.find("@card(0..1)"), std::string::npos);
  // Replaced by its id it is no second one.
  EXPECT_EQ(Code(world, R"({"edge":"MemberOf","id":"m1","from":"ann","to":"[\"T1\",\"eu\"]"})",
                 LoadMode::kMerge),
            "");
  EXPECT_EQ(
      Code(world,
           Edge("Owns", "ann", "m1", "o1") + Edge("Owns", "ann", "m2") + Edge("Owns", "ann", "m3"),
           LoadMode::kMerge),
      "constraint.card");
  EXPECT_EQ(Code(world, Edge("Owns", "ann", "m1", "o1"), LoadMode::kMerge), "");
  EXPECT_EQ(Code(world, Edge("Owns", "ann", "m2") + Edge("Owns", "bob", "m2"), LoadMode::kMerge),
            "");
  // Moving bob's second edge away is fine, ann's o1 too, but not both of ann's.
  EXPECT_EQ(Code(world, Edge("Owns", "bob", "m3", "o1"), LoadMode::kMerge), "");
  World other;
  other.Take(Person("a") + Person("b") + Memo("m", "x") + Edge("Owns", "a", "m", "o"),
             LoadMode::kMerge);
  EXPECT_EQ(Code(other, Edge("Owns", "b", "m", "o"), LoadMode::kMerge), "constraint.card");
}

// The same input gives the same rows, and merging it again changes nothing (B61).
// The sources of replaced edges count too, though the input does not name them, and however many
// they are.
TEST_P(LoadChecks, CardMinimumOfTheSourcesThatAMergeTakesEdgesFrom) {
  World world("node P { k: String @key }\nedge E: P -> P @card(1..)");
  constexpr int kPersons = 2000;
  std::string first;
  std::string some_move;
  std::string rest_moves;
  for (int i = 0; i < kPersons; ++i) {
    const std::string n = std::to_string(i);
    const auto edge = [&n](const char* id, const std::string& from) {
      return R"({"edge":"E","id":")" + (id + n) + R"(","from":"p)" + from +
             R"(","to":"p0","data":{}})" + "\n";
    };
    first += R"({"type":"P","data":{"k":"p)" + n + "\"}}\n" + edge("e", n) + edge("f", n);
    some_move += edge("f", "0");
    rest_moves += edge("e", "0");
  }
  OG_ASSERT_OK(world.TryLoad(first, LoadMode::kMerge, GetParam()));
  OG_ASSERT_OK_AND_ASSIGN(const LoadReport moved,
                          world.TryLoad(some_move, LoadMode::kMerge, GetParam()));
  EXPECT_EQ(moved.error_count, 0) << moved.errors.front().message;
  OG_ASSERT_OK_AND_ASSIGN(const LoadReport refused,
                          world.TryLoad(rest_moves, LoadMode::kMerge, GetParam()));
  EXPECT_EQ(refused.error_count, kPersons - 1);
  EXPECT_EQ(refused.errors.front().code, "constraint.card");
  EXPECT_NE(refused.errors.front().message.find("0 edges of E"), std::string::npos);
}

TEST_P(LoadChecks, LoadingTwiceIsIdempotent) {
  World world;
  std::string text;
  std::string reversed;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = "p" + std::to_string(i);
    const std::string lines =
        Person(name, "\"age\":" + std::to_string(i % 100)) +
        Edge("Knows", name, "p" + std::to_string(i * 7 % 3000), "k" + std::to_string(i));
    text += lines;
    reversed = lines + reversed;
  }
  EXPECT_EQ(Code(world, text, LoadMode::kMerge), "");
  const std::string rows = world.Rows();
  EXPECT_EQ(Code(world, text, LoadMode::kMerge), "");
  EXPECT_EQ(world.last.types[0].updated, 3000);
  EXPECT_EQ(world.last.types[0].inserted, 0);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(Code(world, reversed, LoadMode::kMerge), "");
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(Code(world, text, LoadMode::kOverwrite), "");
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(Code(world, text, LoadMode::kAppend), "load.key_conflict");
  EXPECT_EQ(world.last.error_count, 6000);
  EXPECT_EQ(world.ObjectsBelow("_spill"), 0u);
}

// Hashes that do not fit spill, and the answers stay the same; nothing is left behind.
TEST(Load, SpillsAndStillFindsEveryFault) {
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += Person("p" + std::to_string(i), R"("email":"e)" + std::to_string(i) + "\"");
  }
  for (int i = 0; i < 20000; ++i) {
    text += Edge("Knows", "p" + std::to_string(i), "p" + std::to_string(i * 31 % 20000),
                 "k" + std::to_string(i));
  }
  World world;
  EXPECT_EQ(world.Code(text, LoadMode::kMerge, 1u << 20), "");
  EXPECT_EQ(world.last.rows, 40000);
  const std::string bad =
      text + Person("p3") + Edge("Knows", "p1", "nobody") + Person("q", R"("email":"e77")");
  EXPECT_EQ(world.Code(bad, LoadMode::kMerge, 1u << 20), "constraint.unique");
  EXPECT_EQ(world.last.error_count, 2);  // duplicates end the checks before the graph is asked
  EXPECT_EQ(world.Code(text + Edge("Knows", "p1", "nobody") + Edge("Knows", "none", "p1"),
                       LoadMode::kMerge, 1u << 20),
            "edge.endpoint_missing");
  EXPECT_EQ(world.last.error_count, 2);
  EXPECT_EQ(world.last.errors[0].line, 40001);
  EXPECT_EQ(world.ObjectsBelow("_spill"), 0u);
}

// A large load leaves an index on the ids that later writers look up, and it stays right when rows
// are replaced or overwritten; edges with fresh ids need none.
TEST(Load, LeavesAnIndexOnIds) {
  World world;
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += Person("p" + std::to_string(i)) + Edge("Knows", "p" + std::to_string(i), "p0");
  }
  lance::KeyLookup lookup;
  for (const LoadMode mode : {LoadMode::kMerge, LoadMode::kMerge, LoadMode::kOverwrite}) {
    ASSERT_EQ(world.Code(text, mode), "");
    const auto snapshot = world.graph().snapshot();
    OG_ASSERT_OK_AND_ASSIGN(const auto people, world.graph().OpenTable(*snapshot->FindTable(
                                                   graph::TableKind::kNode, "Person")));
    OG_ASSERT_OK_AND_ASSIGN(const auto knows, world.graph().OpenTable(*snapshot->FindTable(
                                                  graph::TableKind::kEdge, "Knows")));
    EXPECT_FALSE(people->IndexSegments(lance::BTreeIndexName("id")).empty());
    EXPECT_TRUE(knows->IndexSegments(lance::BTreeIndexName("id")).empty());
    const std::vector<std::string_view> keys = {"p1", "p4999", "p5000"};
    OG_ASSERT_OK_AND_ASSIGN(const auto found, lookup.FindAddresses(*people, keys));
    EXPECT_TRUE(found[0].has_value());
    EXPECT_TRUE(found[1].has_value());
    EXPECT_FALSE(found[2].has_value());
  }
}

TEST(Load, FailuresOfInputAndStoreLeaveNothing) {
  const auto memory = std::make_shared<store::MemoryStore>();
  World world(kSchema, memory);
  const uint64_t before = world.graph().snapshot()->sequence;
  const size_t objects = world.ObjectsBelow("");
  PieceSource source(kFixture, 100, Unavailable("input.closed", "the pipe broke"));
  LoadOptions options;
  OG_EXPECT_ERROR(Load(&world.graph(), &source, options), ErrorKind::kUnavailable, "input.closed");
  EXPECT_EQ(world.ObjectsBelow(""), objects);
  EXPECT_EQ(world.graph().snapshot()->sequence, before);
  EXPECT_EQ(world.Code(kFixture + "{\n", LoadMode::kMerge), "row.incomplete");
  EXPECT_EQ(world.ObjectsBelow(""), objects);
}

// A type whose table cannot be opened has no files to abandon (found by the soak, seed 10).
TEST(Load, WhenATableDoesNotOpen_SaysSo) {
  const auto faulty = std::make_shared<store::FaultyStore>(std::make_shared<store::MemoryStore>(),
                                                           store::FaultPlan{});
  const World world(kSchema, faulty);
  OG_ASSERT_OK_AND_ASSIGN(const auto graph, graph::Graph::Open(faulty));
  for (const store::StoreOp op : {store::StoreOp::kGet, store::StoreOp::kGetTail}) {
    faulty->Arm({.op = op, .fault = store::StoreFault::kFailBefore, .path_contains = "nodes/"});
  }
  PieceSource source(kFixture);
  OG_EXPECT_ERROR(Load(graph.get(), &source, {}), ErrorKind::kUnavailable, "store.unavailable");
}

// C1: another commit comes first; the checks run again over what moved, the files stay.
TEST(Load, ChecksAgainWhenTheGraphMoved) {
  const auto memory = std::make_shared<store::MemoryStore>();
  World world(kSchema, memory);
  world.Take(Person("a") + Person("b"), LoadMode::kMerge);
  OG_ASSERT_OK_AND_ASSIGN(const auto other, graph::Graph::Open(memory));

  /// Loads something else while this input is being read.
  class Meddler : public PieceSource {
   public:
    Meddler(std::string text, graph::Graph* graph, std::string theirs)
        : PieceSource(std::move(text)), graph_(graph), theirs_(std::move(theirs)) {}
    Result<size_t> Read(char* data, size_t size) override {
      if (!done_) {
        done_ = true;
        PieceSource source(theirs_);
        const auto report = Load(graph_, &source, {});
        OG_CHECK_OK(report);
        OG_CHECK(report->error_count == 0);
      }
      return PieceSource::Read(data, size);
    }

   private:
    graph::Graph* graph_;
    std::string theirs_;
    bool done_ = false;
  };

  // Both replace `a` and add a row: the later commit wins, nothing is lost or doubled.
  Meddler merge(Person("a", "\"age\":1") + Person("c"), other.get(),
                Person("a", "\"age\":2") + Person("d"));
  OG_ASSERT_OK_AND_ASSIGN(const LoadReport merged, Load(&world.graph(), &merge, {}));
  EXPECT_EQ(merged.error_count, 0);
  EXPECT_EQ(merged.types[0].updated, 1);
  EXPECT_EQ(world.Rows(),
            "{\"type\":\"Person\",\"id\":\"a\",\"data\":{\"slug\":\"a\",\"age\":1}}\n"
            "{\"type\":\"Person\",\"id\":\"b\",\"data\":{\"slug\":\"b\"}}\n"
            "{\"type\":\"Person\",\"id\":\"c\",\"data\":{\"slug\":\"c\"}}\n"
            "{\"type\":\"Person\",\"id\":\"d\",\"data\":{\"slug\":\"d\"}}\n");
  // The other commit makes this input wrong.
  LoadOptions append;
  append.mode = LoadMode::kAppend;
  Meddler conflict(Person("e"), other.get(), Person("e"));
  OG_ASSERT_OK_AND_ASSIGN(const LoadReport refused, Load(&world.graph(), &conflict, append));
  EXPECT_EQ(refused.errors.at(0).code, "load.key_conflict");
  EXPECT_TRUE(refused.commit_id.empty());
}

// C6: its files are about to count as orphans.
TEST(Load, WhenItTookTooLong_DoesNotPublish) {
  World world;
  TextSource source(R"({"type":"Person","data":{"slug":"ann"}})");
  LoadOptions options;
  options.publish_before = std::chrono::microseconds(0);
  OG_EXPECT_ERROR(Load(&world.graph(), &source, options), ErrorKind::kExhausted, "load.too_long");
  EXPECT_EQ(world.graph().snapshot()->FindTable(graph::TableKind::kNode, "Person")->rows, 0);
}

TEST(Load, ModesHaveNames) {
  OG_ASSERT_OK_AND_ASSIGN(const LoadMode mode, ParseLoadMode("merge"));
  EXPECT_EQ(mode, LoadMode::kMerge);
  OG_EXPECT_OK(ParseLoadMode("append"));
  OG_EXPECT_OK(ParseLoadMode("overwrite"));
  OG_EXPECT_ERROR(ParseLoadMode("upsert"), ErrorKind::kInvalid, "load.mode");
}

}  // namespace
}  // namespace omnigraph::write
