// What the writer writes, the reader reads: every type and layout, by range and by row (B.4, E.2 to
// E.6 of the format).

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/builder.h>

#include <fstream>
#include <iterator>
#include <random>

#include "file_testing.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/counting_store.h"

namespace omnigraph::lance::testing {
namespace {

struct TypeCase {
  std::string name;
  std::shared_ptr<arrow::DataType> type;
  std::string json;
};

std::string Repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

std::string JsonVector(int length, int first) {
  std::string out = "[";
  for (int i = 0; i < length; ++i) {
    out += (i > 0 ? "," : "") + std::to_string(first + i);
  }
  return out + "]";
}

std::vector<TypeCase> Cases() {
  const auto item =
      arrow::struct_({arrow::field("x", arrow::int32()), arrow::field("y", arrow::utf8())});
  const std::string longest = Repeated("long", 100);
  return {
      {"Int8", arrow::int8(), "[1,null,-3]"},
      {"UInt16", arrow::uint16(), "[1,null,65535]"},
      {"Int32", arrow::int32(), "[1,2,-3]"},
      {"UInt32", arrow::uint32(), "[1,null,4294967295]"},
      {"Int64", arrow::int64(), "[1,null,-9223372036854775808]"},
      {"UInt64", arrow::uint64(), "[1,null,18446744073709551615]"},
      {"Float", arrow::float32(), "[1.5,null,-0.25]"},
      {"Double", arrow::float64(), "[1.5,null,-0.25]"},
      {"Bool", arrow::boolean(), "[true,null,false,true]"},
      {"Date32", arrow::date32(), "[1,null,-3]"},
      {"Timestamp", arrow::timestamp(arrow::TimeUnit::MILLI, "UTC"), "[1,null,-3]"},
      {"Time64", arrow::time64(arrow::TimeUnit::MICRO), "[1,null,3]"},
      {"Duration", arrow::duration(arrow::TimeUnit::NANO), "[1,null,3]"},
      {"Decimal128", arrow::decimal128(10, 2), R"(["1.25",null,"-3.50"])"},
      {"Decimal256", arrow::decimal256(60, 0), R"(["1",null,"-3"])"},
      {"Null", arrow::null(), "[null,null,null]"},
      {"Utf8", arrow::utf8(), R"(["a",null,"","délta"])"},
      {"Utf8Long", arrow::utf8(), "[\"" + longest + "\",null,\"\",\"b\"]"},
      {"LargeUtf8", arrow::large_utf8(), R"(["a",null,"","d"])"},
      {"LargeBinaryLong", arrow::large_binary(), "[\"" + longest + "\",null,\"\",\"b\"]"},
      {"Binary", arrow::binary(), R"(["a",null,"","d"])"},
      {"FixedBinary", arrow::fixed_size_binary(3), R"(["abc",null,"def"])"},
      {"Vector", arrow::fixed_size_list(arrow::float32(), 4), "[[1,2,3,4],null,[5,null,7,8]]"},
      {"VectorLong", arrow::fixed_size_list(arrow::float32(), 70),
       "[" + JsonVector(70, 0) + ",null," + JsonVector(70, 9) + "]"},
      {"VectorOfBool", arrow::fixed_size_list(arrow::boolean(), 3),
       "[[true,false,true],null,[false,null,true]]"},
      {"VectorOfVectors", arrow::fixed_size_list(arrow::fixed_size_list(arrow::int16(), 2), 2),
       "[[[1,2],[3,4]],null,[[5,6],null],[[7,null],[8,9]]]"},
      {"List", arrow::list(arrow::utf8()), R"([["a","b"],null,[],["c",null],["dd"]])"},
      {"ListOfInts", arrow::list(arrow::int32()), "[[1],[2,3],[4,5,6]]"},
      {"LargeList", arrow::large_list(arrow::int64()), "[[1],null,[],[4,null,6]]"},
      {"ListOfLong", arrow::list(arrow::utf8()), "[[\"" + longest + "\",null],null,[],[\"x\"]]"},
      {"ListOfVectors", arrow::list(arrow::fixed_size_list(arrow::float64(), 40)),
       "[[" + JsonVector(40, 0) + ",null],null,[]]"},
      {"ListOfLists", arrow::list(arrow::list(arrow::int32())),
       "[[[1,2],null,[]],null,[],[[3]],[[null]]]"},
      {"Struct", item, R"([{"x":1,"y":"a"},null,{"x":null,"y":"c"},{"x":4,"y":null}])"},
      {"ListOfStructs", arrow::list(item),
       R"([[{"x":1,"y":"a"}],null,[],[{"x":4,"y":null},{"x":5,"y":"e"}],[null]])"},
      {"StructOfList",
       arrow::struct_(
           {arrow::field("l", arrow::list(arrow::int32())), arrow::field("z", arrow::int64())}),
       R"([{"l":[1,2],"z":1},null,{"l":[],"z":null},{"l":null,"z":4}])"},
      {"Map", arrow::map(arrow::utf8(), arrow::int32()), R"([[["a",1],["b",null]],null,[]])"},
      {"AllNull", arrow::int32(), "[null,null]"},
      {"AllNullLists", arrow::list(arrow::int32()), "[null,null,[],null]"},
      {"AllNullItems", arrow::list(arrow::utf8()), "[[null],[null,null],[]]"},
      {"AllNullStructs", item, R"([null,{"x":null,"y":null},null])"},
      {"Empty", arrow::utf8(), "[]"},
      {"EmptyLists", arrow::list(arrow::int32()), "[]"},
  };
}

class RoundTrip : public ::testing::TestWithParam<TypeCase> {};

/// `copies` of the case's rows in batches, some of them slices; pages of `page_bytes`.
void CheckRoundTrip(const TypeCase& param, int copies, int64_t page_bytes) {
  const auto batch = BatchOf(param.type, param.json);
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (int i = 0; i < copies; ++i) {
    batches.push_back(i % 3 == 1 && batch->num_rows() > 1 ? batch->Slice(1) : batch);
  }
  FileWriterOptions options;
  options.page_bytes = page_bytes;
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode(batches, options));
  EXPECT_EQ(file.field_ids.size(), file.column_indices.size());
  const std::string bytes = BytesOf(file);
  EXPECT_EQ(file.size, bytes.size());
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(bytes), kPath, bytes.size()));
  EXPECT_EQ(reader->rows(), file.rows);
  const auto want = arrow::Table::FromRecordBatches(batches).ValueOrDie();
  OG_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*reader));
  ExpectSameValues(*want, *all);
  OG_ASSERT_OK_AND_ASSIGN(const auto pieces, ReadAll(*reader, 7));
  ExpectSameValues(*want, *pieces);
  if (reader->rows() > 0) {
    OG_ASSERT_OK_AND_ASSIGN(const auto taken, TakeEvery(*reader, 5));
    ExpectSameValues(*EveryRow(*want, 5), *taken);
  }
}

TEST_P(RoundTrip, FewRows) {
  CheckRoundTrip(GetParam(), 1, 8 << 20);
}
TEST_P(RoundTrip, ManyRowsManyChunks) {
  CheckRoundTrip(GetParam(), 2000, 8 << 20);
}
TEST_P(RoundTrip, ManyPages) {
  CheckRoundTrip(GetParam(), 40, 100);
}

INSTANTIATE_TEST_SUITE_P(Types, RoundTrip, ::testing::ValuesIn(Cases()),
                         [](const auto& each) { return each.param.name; });

/// Lists of random lengths, so that rows and chunks end apart, some of them over several chunks.
TEST(FileReader, ListsOverChunkBorders_ReadByRangeAndRow) {
  std::mt19937 random(7);
  for (const int longest : {3, 400, 20000}) {
    auto values = std::make_shared<arrow::Int64Builder>();
    arrow::ListBuilder lists(arrow::default_memory_pool(), values);
    for (int row = 0; row < 300; ++row) {
      if (random() % 10 == 0) {
        OG_ASSERT_OK(lists.AppendNull());
        continue;
      }
      OG_ASSERT_OK(lists.Append());
      for (auto left = random() % static_cast<unsigned>(longest); left > 0; --left) {
        OG_ASSERT_OK(random() % 20 == 0 ? values->AppendNull() : values->Append(random()));
      }
    }
    const auto array = lists.Finish().ValueOrDie();
    const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("c", array->type())}),
                                                array->length(), {array});
    OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({batch}));
    OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
    const auto want = arrow::Table::FromRecordBatches({batch}).ValueOrDie();
    OG_ASSERT_OK_AND_ASSIGN(const auto pieces, ReadAll(*reader, 13));
    ExpectSameValues(*want, *pieces);
    for (const int step : {1, 2, 11}) {
      OG_ASSERT_OK_AND_ASSIGN(const auto taken, TakeEvery(*reader, step));
      ExpectSameValues(*EveryRow(*want, step), *taken);
    }
  }
}

/// A chunk's header counts level slots in 16 bits: long stretches of empty lists cut the page
/// instead.
TEST(FileWriter, ManyEmptyLists_CutThePage) {
  const auto empty = BatchOf(arrow::list(arrow::int32()), "[" + Repeated("[],", 49999) + "[]]");
  const auto full = BatchOf(arrow::list(arrow::int32()), "[[1],[2,3]]");
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({full, empty, full, empty, full}));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
  OG_ASSERT_OK_AND_ASSIGN(const auto got, ReadAll(*reader));
  const auto want = arrow::Table::FromRecordBatches({full, empty, full, empty, full}).ValueOrDie();
  ExpectSameValues(*want, *got);
}

TEST(FileWriter, NullInRequired_IsRefused) {
  OG_EXPECT_ERROR(Encode({BatchOf(arrow::utf8(), R"(["a",null])", false)}), ErrorKind::kInvalid,
                  "lance.file.null_in_required");
  const auto required_item = arrow::list(arrow::field("item", arrow::int32(), false));
  OG_EXPECT_ERROR(Encode({BatchOf(required_item, "[[1,null]]")}), ErrorKind::kInvalid,
                  "lance.file.null_in_required");
}

TEST(FileWriter, OtherTypes_AreRefused) {
  OG_ASSERT_OK_AND_ASSIGN(const Schema schema,
                          Schema::FromArrow(*arrow::schema({arrow::field("c", arrow::int32())})));
  OG_ASSERT_OK_AND_ASSIGN(auto writer, FileWriter::Make(schema));
  OG_EXPECT_ERROR(writer->Write(*BatchOf(arrow::int64(), "[1]")), ErrorKind::kInvalid,
                  "lance.file.schema_mismatch");
  OG_EXPECT_ERROR(Schema::FromArrow(*arrow::schema({arrow::field("c", arrow::month_interval())})),
                  ErrorKind::kUnsupported, "lance.schema.type");
}

TEST(FileWriter, EqualInput_GivesEqualBytes) {
  const auto batch = BatchOf(arrow::list(arrow::utf8()), R"([["a","b"],null,[],["c",null]])");
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile one, Encode({batch}));
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile two, Encode({batch}));
  EXPECT_EQ(BytesOf(one), BytesOf(two));
}

/// The example of docs/format/lance-file.md: our bytes do not change undeclared.
TEST(FileWriter, GoldenExample_IsWrittenByteForByte) {
  const auto schema =
      arrow::schema({arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int32()),
                     arrow::field("tags", arrow::list(arrow::utf8()))});
  const auto column = [&](int i, const char* json) {
    return arrow::json::ArrayFromJSONString(schema->field(i)->type(), json).ValueOrDie();
  };
  const auto batch = arrow::RecordBatch::Make(
      schema, 2, {column(0, R"(["a","bc"])"), column(1, "[7,null]"), column(2, R"([["x"],[]])")});
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({batch}));
  std::ifstream golden(OMNIGRAPH_SOURCE_DIR "/tests/golden/data/lance/lance-file.lance",
                       std::ios::binary);
  const std::string want((std::istreambuf_iterator<char>(golden)),
                         std::istreambuf_iterator<char>());
  EXPECT_EQ(BytesOf(file), want);
}

TEST(FileWriter, GlobalBuffersAndMetadata_ComeBack) {
  const auto batch = BatchOf(arrow::int32(), "[1]");
  OG_ASSERT_OK_AND_ASSIGN(const Schema schema, Schema::FromArrow(*batch->schema()));
  OG_ASSERT_OK_AND_ASSIGN(auto writer, FileWriter::Make(schema));
  OG_ASSERT_OK(writer->Write(*batch));
  writer->SetSchemaMetadata("batch_size", "256");
  EXPECT_EQ(writer->AddGlobalBuffer(arrow::Buffer::FromString("extra")), 1);
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, writer->Finish());
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
  EXPECT_EQ(reader->schema().metadata().at("batch_size"), "256");
  EXPECT_EQ(reader->num_global_buffers(), 2);
  OG_ASSERT_OK_AND_ASSIGN(const auto extra, reader->ReadGlobalBuffer(1));
  EXPECT_EQ(extra->ToString(), "extra");
  OG_EXPECT_ERROR(reader->ReadGlobalBuffer(2), ErrorKind::kCorruption, "lance.file.global_buffer");
}

TEST(FileReader, RowsOutsideOrOutOfOrder_AreRefused) {
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({BatchOf(arrow::int32(), "[1,2,3]")}));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
  OG_ASSERT_OK_AND_ASSIGN(const auto columns, reader->RequestColumns());
  OG_EXPECT_ERROR(reader->ReadRange(columns, 2, 2), ErrorKind::kInvalid, "lance.file.range");
  const std::vector<uint64_t> twice = {1, 1};
  OG_EXPECT_ERROR(reader->Take(columns, twice), ErrorKind::kInvalid, "lance.file.range");
  const std::vector<uint64_t> outside = {3};
  OG_EXPECT_ERROR(reader->Take(columns, outside), ErrorKind::kInvalid, "lance.file.range");
  OG_EXPECT_ERROR(reader->RequestColumns({"absent"}), ErrorKind::kNotFound, "lance.schema.field");
}

/// A leaf that the file does not hold reads as null: added columns, added struct members.
TEST(FileReader, AbsentLeaves_ReadAsNull) {
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({BatchOf(arrow::int32(), "[1,null]")}));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
  const std::vector<ColumnRequest> requests = {
      {arrow::field("new", arrow::list(arrow::utf8())), {-1}}};
  OG_ASSERT_OK_AND_ASSIGN(const auto batch, reader->ReadRange(requests, 0, 2));
  EXPECT_EQ(batch->column(0)->null_count(), 2);
}

/// One open file serves many threads.
TEST(FileReader, ManyThreads_ReadTheSame) {
  const auto batch =
      BatchOf(arrow::utf8(), "[" + Repeated("\"some text\",null,", 9999) + "\"end\"]");
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({batch}));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(StoreOf(BytesOf(file)), kPath));
  const auto want = EveryRow(*arrow::Table::FromRecordBatches({batch}).ValueOrDie(), 1000);
  std::vector<std::shared_ptr<arrow::Table>> got(4);
  std::vector<runtime::Thread> threads;
  for (auto& each : got) {
    threads.push_back(runtime::Thread::Start("reader", [&reader, &each] {
      const auto taken = TakeEvery(*reader, 1000);
      each = taken.ok() ? *taken : nullptr;
    }));
  }
  for (auto& thread : threads) {
    thread.Join();
  }
  for (const auto& each : got) {
    ASSERT_NE(each, nullptr);
    ExpectSameValues(*want, *each);
  }
}

/// Opening is one read; a point read touches a chunk, not a page (cost rule of the file layer).
TEST(FileReader, PointReads_CostLittle) {
  arrow::StringBuilder ids;
  arrow::Int64Builder numbers;
  for (int i = 0; i < 200000; ++i) {
    OG_ASSERT_OK(ids.Append("entity-" + std::to_string(i)));
    OG_ASSERT_OK(numbers.Append(i));
  }
  const auto batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("id", arrow::utf8()), arrow::field("n", arrow::int64())}), 200000,
      {ids.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()});
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({batch}));
  const auto counting = std::make_shared<store::CountingStore>(StoreOf(BytesOf(file)));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader, FileReader::Open(counting, kPath, file.size));
  EXPECT_EQ(counting->Reset().calls(), 1u);
  OG_ASSERT_OK_AND_ASSIGN(const auto columns, reader->RequestColumns());
  const std::vector<uint64_t> rows = {77, 123456};
  OG_ASSERT_OK_AND_ASSIGN(const auto first, reader->Take(columns, rows));
  EXPECT_EQ(counting->Reset().calls(), 2u);
  OG_ASSERT_OK_AND_ASSIGN(const auto second, reader->Take(columns, rows));
  const auto again = counting->Reset();
  EXPECT_EQ(again.calls(), 1u) << "chunk tables are remembered";
  EXPECT_LT(again.read_bytes(), 40000u);
  EXPECT_TRUE(first->Equals(*second));
  OG_ASSERT_OK(reader->ReadRange(columns, 0, 200000).status());
  EXPECT_LE(counting->Reset().calls(), 2u);
}

}  // namespace
}  // namespace omnigraph::lance::testing
