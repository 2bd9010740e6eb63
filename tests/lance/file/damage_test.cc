// Decoders are total: whatever the bytes, a value of the right shape or a typed error that names
// the object.

#include "file_testing.h"

namespace omnigraph::lance::testing {
namespace {

std::shared_ptr<arrow::RecordBatch> ManyKinds() {
  std::string long_text(300, 'x');
  const std::vector<std::pair<std::shared_ptr<arrow::DataType>, std::string>> columns = {
      {arrow::int64(), "[1,2,3]"},
      {arrow::utf8(), R"(["a",null,"bc"])"},
      {arrow::utf8(), "[\"" + long_text + "\",null,\"bc\"]"},
      {arrow::boolean(), "[true,null,false]"},
      {arrow::fixed_size_list(arrow::float32(), 2), "[[1,2],null,[3,null]]"},
      {arrow::list(arrow::utf8()), R"([["a","b"],null,[]])"},
      {arrow::struct_({arrow::field("x", arrow::int32())}), R"([{"x":1},null,{"x":null}])"},
      {arrow::list(arrow::int32()), "[null,[],null]"},
      {arrow::int32(), "[null,null,null]"},
  };
  std::vector<std::shared_ptr<arrow::Field>> fields;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const auto& [type, json] : columns) {
    fields.push_back(arrow::field("c" + std::to_string(fields.size()), type));
    arrays.push_back(arrow::json::ArrayFromJSONString(type, json).ValueOrDie());
  }
  return arrow::RecordBatch::Make(arrow::schema(fields), 3, arrays);
}

/// Open and read what can be read; true if all of it could. Errors must be typed.
bool ReadDamaged(const std::string& bytes) {
  const auto store = StoreOf(bytes);
  const auto check = [](const Status& status) {
    EXPECT_TRUE(IsCorruption(status) || IsUnsupported(status) || IsInvalid(status) ||
                Is(status, ErrorKind::kExhausted))
        << status.ToString();
    return false;
  };
  const auto reader = FileReader::Open(store, kPath, bytes.size());
  if (!reader.ok()) {
    return check(reader.status());
  }
  const auto columns = (*reader)->RequestColumns();
  if (!columns.ok()) {
    return check(columns.status());
  }
  bool all = true;
  const int64_t rows = std::min<int64_t>((*reader)->rows(), 1000);
  for (const ColumnRequest& column : *columns) {
    const auto batch = (*reader)->ReadRange(std::span(&column, 1), 0, rows);
    if (!batch.ok()) {
      all = check(batch.status());
      continue;
    }
    EXPECT_EQ((*batch)->num_rows(), rows);
    EXPECT_EQ((*batch)->column(0)->length(), rows);
    OG_EXPECT_OK((*batch)->column(0)->Validate());
    const std::vector<uint64_t> row = {static_cast<uint64_t>(rows / 2)};
    const auto taken = (*reader)->Take(std::span(&column, 1), row);
    if (rows > 0 && !taken.ok()) {
      check(taken.status());
    }
  }
  return all;
}

TEST(FileReader, EveryByteFlipped_GivesValuesOrTypedErrors) {
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({ManyKinds()}));
  const std::string good = BytesOf(file);
  ASSERT_TRUE(ReadDamaged(good));
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int mask : {0xFF, 0x01, 0x80}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ mask);
      ReadDamaged(bad);
    }
  }
}

TEST(FileReader, EveryTruncation_IsAnError) {
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({ManyKinds()}));
  const std::string good = BytesOf(file);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadDamaged(good.substr(0, size))) << size;
  }
}

TEST(FileReader, OtherVersionsAndForeignFiles_AreNamed) {
  OG_ASSERT_OK_AND_ASSIGN(const EncodedFile file, Encode({BatchOf(arrow::int32(), "[1]")}));
  std::string bytes = BytesOf(file);
  bytes[bytes.size() - 6] = 9;
  const auto store = StoreOf(bytes);
  OG_EXPECT_ERROR(FileReader::Open(store, kPath), ErrorKind::kUnsupported, "lance.file.version");
  OG_EXPECT_ERROR(FileReader::Open(StoreOf(std::string(100, 'x')), kPath), ErrorKind::kCorruption,
                  "lance.file.container");
  OG_EXPECT_ERROR(FileReader::Open(StoreOf("short"), kPath), ErrorKind::kCorruption,
                  "lance.file.container");
}

}  // namespace
}  // namespace omnigraph::lance::testing
