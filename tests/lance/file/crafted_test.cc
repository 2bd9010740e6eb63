// Files that no writer makes: counts that do not fit their buffers, sizes near 2^64, types that are
// too wide or too deep. Flipping single bytes of a good file does not lead there.

#include <functional>
#include <optional>

#include "file_format.h"
#include "file_testing.h"
#include "lance/encodings.pb.h"
#include "lance/file.pb.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/proto/serialize.h"

namespace omnigraph::lance::testing {
namespace {

struct CraftedPage {
  uint64_t rows = 0;
  pb::PageLayout layout;
  std::vector<std::string> buffers;
};

/// A file of one column `c` with one page. Public members may be bent before Bytes().
struct CraftedFile {
  std::string logical_type = "int32";
  CraftedPage page;
  uint64_t rows = 0;  ///< as the file says; 0 = those of the page
  /// Where a page buffer is said to be and how long, instead of the truth.
  std::optional<std::pair<uint64_t, uint64_t>> buffer_at;
  /// The seven numbers of the footer may be bent here.
  std::function<void(std::vector<uint64_t>*)> bend_footer = [](std::vector<uint64_t>*) {};

  std::string Bytes() const {
    std::string out;
    pb::Page record;
    for (const std::string& buffer : page.buffers) {
      record.add_buffer_offsets(buffer_at ? buffer_at->first : out.size());
      record.add_buffer_sizes(buffer_at ? buffer_at->second : buffer.size());
      out += buffer;
      out.resize(static_cast<size_t>(AlignUp(static_cast<int64_t>(out.size()), kBufferAlignment)));
    }
    record.set_rows(page.rows);
    pb::AnyMessage any;
    any.set_type_url(std::string(kPageLayoutUrl));
    any.set_value(SerializeProto(page.layout));
    record.mutable_encoding()->mutable_direct()->set_encoding(SerializeProto(any));
    pb::ColumnMetadata column;
    *column.add_pages() = record;
    pb::FileDescriptor descriptor;
    pb::Field* field = descriptor.mutable_schema()->add_fields();
    field->set_name("c");
    field->set_parent_id(-1);
    field->set_logical_type(logical_type);
    field->set_nullable(true);
    descriptor.set_rows(rows != 0 ? rows : page.rows);
    const auto put = [&](const std::string& bytes) {
      out += bytes;
      return std::pair<uint64_t, uint64_t>(out.size() - bytes.size(), bytes.size());
    };
    const auto schema_at = put(SerializeProto(descriptor));
    const auto column_at = put(SerializeProto(column));
    const auto table = [&](std::pair<uint64_t, uint64_t> entry) {
      std::string bytes;
      AppendLittle(&bytes, entry.first);
      AppendLittle(&bytes, entry.second);
      return put(bytes).first;
    };
    std::vector<uint64_t> footer = {
        column_at.first, table(column_at), table(schema_at), 1, 1, 2, 2};
    bend_footer(&footer);
    for (size_t i = 0; i < 3; ++i) {
      AppendLittle<uint64_t>(&out, footer[i]);
    }
    AppendLittle<uint32_t>(&out, static_cast<uint32_t>(footer[3]));
    AppendLittle<uint32_t>(&out, static_cast<uint32_t>(footer[4]));
    AppendLittle<uint16_t>(&out, static_cast<uint16_t>(footer[5]));
    AppendLittle<uint16_t>(&out, static_cast<uint16_t>(footer[6]));
    out += kFileMagic;
    return out;
  }
};

/// Read up to a thousand rows from the first on.
Result<std::shared_ptr<arrow::RecordBatch>> Read(const CraftedFile& file) {
  OG_ASSIGN_OR_RETURN(const auto reader, FileReader::Open(StoreOf(file.Bytes()), kPath));
  OG_ASSIGN_OR_RETURN(const auto columns, reader->RequestColumns());
  OG_ASSIGN_OR_RETURN(auto batch,
                      reader->ReadRange(columns, 0, std::min<int64_t>(reader->rows(), 1000)));
  OG_RETURN_NOT_OK(batch->ValidateFull());
  return batch;
}

std::string Words(std::initializer_list<uint16_t> words) {
  std::string bytes;
  for (const uint16_t word : words) {
    AppendLittle(&bytes, word);
  }
  return bytes;
}

/// `rows` times one value of a nullable column without lists.
CraftedFile Constant(const std::string& logical_type, std::string value, uint64_t rows) {
  CraftedFile file;
  file.logical_type = logical_type;
  file.page.rows = rows;
  file.page.layout.mutable_constant()->add_layers(pb::LAYER_NULLABLE_ITEM);
  file.page.layout.mutable_constant()->set_inline_value(std::move(value));
  return file;
}

/// A mini-block page of flat int32 values with this chunk table and these chunks.
CraftedFile MiniBlock(uint64_t rows, std::string table, std::string chunks) {
  CraftedFile file;
  file.page.rows = rows;
  pb::MiniBlockLayout* layout = file.page.layout.mutable_mini_block();
  layout->add_layers(pb::LAYER_ALL_VALID_ITEM);
  layout->mutable_value_compression()->mutable_flat()->set_bits_per_value(32);
  layout->set_num_buffers(1);
  layout->set_num_items(rows);
  file.page.buffers = {std::move(table), std::move(chunks)};
  return file;
}

/// A chunk with one buffer of four int32 values, said to be `size` bytes.
std::string ChunkOfFour(uint16_t size) {
  return Words({0, size}) + std::string(4, '\0') + std::string(16, '\7');
}

TEST(CraftedFile, AsAWriterWouldMakeIt_Reads) {
  OG_ASSERT_OK_AND_ASSIGN(const auto constant, Read(Constant("int32", {"\1\0\0\0", 4}, 5)));
  EXPECT_EQ(constant->num_rows(), 5);
  OG_ASSERT_OK_AND_ASSIGN(const auto four, Read(MiniBlock(4, Words({2 << 4}), ChunkOfFour(16))));
  EXPECT_EQ(four->column(0)->ToString(),
            "[\n  117901063,\n  117901063,\n  117901063,\n  117901063\n]");
}

// ---- counts against buffers ------------------------------------------------------------------

TEST(CraftedFile, ConstantPageWithoutLists_HasNoRepetitionLevels) {
  CraftedFile file = Constant("int32", {"\1\0\0\0", 4}, 1000);
  file.page.buffers = {Words({0}), ""};  // fewer than rows
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.levels");
  file.page.buffers = {std::string(2000, '\0'), std::string(2000, '\0')};
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.levels");
}

TEST(CraftedFile, ConstantPage_LevelsFitItsRows) {
  CraftedFile file = Constant("int32", {"\1\0\0\0", 4}, 1000);
  file.page.buffers = {"", Words({0, 1})};
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.levels");
  file.page.layout.mutable_constant()
      ->mutable_def_compression()
      ->mutable_flat()
      ->set_bits_per_value(16);
  for (const uint64_t stated : {uint64_t{1000}, uint64_t{1} << 62, UINT64_MAX}) {
    file.page.layout.mutable_constant()->set_num_def_values(stated);
    EXPECT_TRUE(IsCorruption(Read(file).status())) << stated;
  }
}

TEST(CraftedFile, ConstantPage_ScalarFitsItsType) {
  OG_EXPECT_ERROR(Read(Constant("int32", "abc", 5)), ErrorKind::kCorruption, "lance.file.page");
  CraftedFile file = Constant("string", "", 5);
  file.page.layout.mutable_constant()->clear_inline_value();
  // Two buffers: offsets [0, 2^31 - 1] and one byte.
  std::string scalar;
  for (const uint32_t word : {2u, 8u, 1u, 0u, 0x7FFFFFFFu}) {
    AppendLittle(&scalar, word);
  }
  file.page.buffers = {scalar + "x"};
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.page");
  scalar[0] = scalar[1] = scalar[2] = scalar[3] = '\xFF';  // 2^32 - 1 buffers
  file.page.buffers = {scalar};
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.page");
}

TEST(CraftedFile, MiniBlockPage_ChunksHoldItsValues) {
  for (const uint64_t rows : {uint64_t{5}, uint64_t{1} << 32, uint64_t{1} << 40}) {
    const Status status = Read(MiniBlock(rows, Words({2 << 4}), ChunkOfFour(16))).status();
    EXPECT_TRUE(IsCorruption(status)) << rows << " " << status.ToString();
  }
  // A chunk longer than its buffer, a value buffer longer than its chunk.
  OG_EXPECT_ERROR(Read(MiniBlock(4, Words({0xFFF0}), ChunkOfFour(16))), ErrorKind::kCorruption,
                  "lance.file.page");
  EXPECT_TRUE(IsCorruption(Read(MiniBlock(4, Words({2 << 4}), ChunkOfFour(0xFFFF))).status()));
  CraftedFile many = MiniBlock(4, Words({2 << 4}), ChunkOfFour(16));
  many.page.layout.mutable_mini_block()->set_num_buffers(UINT64_MAX);
  OG_EXPECT_ERROR(Read(many), ErrorKind::kCorruption, "lance.file.page");
  CraftedFile items = MiniBlock(4, Words({2 << 4}), ChunkOfFour(16));
  items.page.layout.mutable_mini_block()->set_num_items(UINT64_MAX);
  OG_EXPECT_ERROR(Read(items), ErrorKind::kCorruption, "lance.file.page");
}

TEST(CraftedFile, MiniBlockPage_DictionaryHoldsItsItems) {
  CraftedFile file = MiniBlock(4, Words({2 << 4}), ChunkOfFour(16));
  pb::MiniBlockLayout* layout = file.page.layout.mutable_mini_block();
  layout->mutable_dictionary()->mutable_flat()->set_bits_per_value(32);
  file.page.buffers.emplace_back(8, '\0');
  for (const uint64_t items : {uint64_t{2}, uint64_t{3}, uint64_t{1} << 26, UINT64_MAX}) {
    layout->set_num_dictionary_items(items);
    EXPECT_TRUE(IsCorruption(Read(file).status())) << items;
  }
}

TEST(CraftedFile, FullZipPage_ValuesFitItsRows) {
  CraftedFile file;
  file.logical_type = "fixed_size_list:int8:300";
  file.page.rows = 2;
  pb::FullZipLayout* layout = file.page.layout.mutable_full_zip();
  layout->add_layers(pb::LAYER_ALL_VALID_ITEM);
  layout->set_bits_per_value(2400);
  pb::FixedSizeList* list = layout->mutable_value_compression()->mutable_fixed_size_list();
  list->set_items_per_value(300);
  list->mutable_values()->mutable_flat()->set_bits_per_value(8);
  file.page.buffers = {std::string(600, '\1')};
  OG_EXPECT_OK(Read(file));
  for (const uint64_t rows : {uint64_t{3}, uint64_t{1} << 40}) {
    file.page.rows = rows;
    OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.page");
  }
  file.page.rows = 2;
  list->set_items_per_value(UINT64_MAX);
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.page");
  list->set_items_per_value(300);
  layout->set_bits_per_value(UINT32_MAX);
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.page");
}

// ---- places and sizes ------------------------------------------------------------------------

TEST(CraftedFile, PlacesAndSizesNear2To64_AreOutsideTheFile) {
  CraftedFile file = MiniBlock(4, Words({2 << 4}), ChunkOfFour(16));
  const std::pair<uint64_t, uint64_t> places[] = {
      {0, UINT64_MAX}, {UINT64_MAX, 1}, {1, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}, {64, 1 << 20}};
  for (const auto& place : places) {
    file.buffer_at = place;
    OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.container");
  }
  file.buffer_at.reset();
  for (size_t number = 0; number < 3; ++number) {
    for (const uint64_t at : {UINT64_MAX, UINT64_MAX - 15, uint64_t{1} << 63}) {
      file.bend_footer = [&](std::vector<uint64_t>* footer) { (*footer)[number] = at; };
      OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.container");
    }
  }
  for (size_t number = 3; number < 5; ++number) {
    file.bend_footer = [&](std::vector<uint64_t>* footer) { (*footer)[number] = UINT32_MAX; };
    OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.container");
  }
}

TEST(CraftedFile, RowCounts_AreBoundedAndAgree) {
  for (const uint64_t rows : {(uint64_t{1} << 40) + 1, UINT64_MAX}) {
    CraftedFile page = Constant("int32", {"\1\0\0\0", 4}, rows);
    page.rows = 5;
    OG_EXPECT_ERROR(Read(page), ErrorKind::kCorruption, "lance.file.container");
    CraftedFile whole = Constant("int32", {"\1\0\0\0", 4}, 5);
    whole.rows = rows;
    OG_EXPECT_ERROR(Read(whole), ErrorKind::kCorruption, "lance.file.container");
  }
  CraftedFile file = Constant("int32", {"\1\0\0\0", 4}, 5);
  file.rows = 6;
  OG_EXPECT_ERROR(Read(file), ErrorKind::kCorruption, "lance.file.container");
}

// ---- types -----------------------------------------------------------------------------------

TEST(CraftedFile, TypesWiderThanAValueCanBe_AreRefused) {
  const std::string wide[] = {
      "fixed_size_binary:268435456",  // 2^31 bits
      "fixed_size_binary:536870913",  // one byte, if its bits were counted in an int
      "fixed_size_binary:2147483647",
      "fixed_size_list:int8:268435456",
      "fixed_size_list:fixed_size_list:int8:65536:65536",
      // 2^64 items: none, if they were counted in 64 bits
      "fixed_size_list:fixed_size_list:fixed_size_list:int8:16:1073741824:1073741824",
  };
  for (const std::string& type : wide) {
    const Status status = Read(Constant(type, std::string(64, '\0'), 5)).status();
    EXPECT_TRUE(IsUnsupported(status)) << type << " " << status.ToString();
  }
  OG_EXPECT_OK(Read(Constant("fixed_size_list:fixed_size_list:int8:3:2", "abcdef", 5)));
}

TEST(CraftedFile, TypesNestedTooDeep_AreRefused) {
  constexpr int kDeep = 200'000;
  const auto repeat = [](const std::string& text) {
    std::string out;
    for (int i = 0; i < kDeep; ++i) {
      out += text;
    }
    return out;
  };
  for (const std::string& type :
       {repeat("fixed_size_list:") + "int8" + repeat(":1"),
        repeat("dict:") + "int8" + repeat(":int8:false"), repeat("dict:"), repeat(":")}) {
    const Status status = Read(Constant(type, "a", 5)).status();
    EXPECT_TRUE(IsUnsupported(status)) << type.substr(0, 40);
  }
}

TEST(CraftedFile, StringsThatAreNoTypes_AreRefused) {
  for (const std::string type : {"",
                                 ":",
                                 "fixed_size_binary:",
                                 "fixed_size_binary:0",
                                 "fixed_size_binary:-1",
                                 "fixed_size_binary:99999999999999999999",
                                 "fixed_size_list:",
                                 "fixed_size_list::3",
                                 "fixed_size_list:3",
                                 "fixed_size_list:string:3",
                                 "fixed_size_list:null:3",
                                 "fixed_size_list:int8:0",
                                 "fixed_size_list:struct:2",
                                 "dict:",
                                 "dict::",
                                 "dict:::",
                                 "dict:int8",
                                 "timestamp:",
                                 "timestamp:::",
                                 "decimal:",
                                 "decimal:128",
                                 "decimal:128:0:0",
                                 "decimal:128:99999:0",
                                 "decimal:512:3:0",
                                 "duration:",
                                 "time32:ns",
                                 "list",
                                 "struct"}) {
    const Status status = Read(Constant(type, "a", 5)).status();
    EXPECT_TRUE(IsUnsupported(status) || IsCorruption(status)) << type << status.ToString();
  }
}

// ---- writing ---------------------------------------------------------------------------------

TEST(FileWriter, MemoryThatIsNotThere_IsAnErrorOfItsOwn) {
  // One row that says it is 2^60 bytes long: no page of any number of rows can hold it.
  std::string offsets;
  AppendLittle<int64_t>(&offsets, 0);
  AppendLittle<int64_t>(&offsets, int64_t{1} << 60);
  const auto data = arrow::ArrayData::Make(
      arrow::large_binary(), 1,
      {nullptr, arrow::Buffer::FromString(offsets), arrow::Buffer::FromString("x")}, 0);
  const auto schema = arrow::schema({arrow::field("c", arrow::large_binary())});
  const auto batch = arrow::RecordBatch::Make(schema, 1, {arrow::MakeArray(data)});
  FileWriterOptions options;
  options.page_bytes = INT64_MAX;
  const Status status = Encode({batch}, options).status();
  EXPECT_TRUE(Is(status, ErrorKind::kExhausted)) << status.ToString();
}

}  // namespace
}  // namespace omnigraph::lance::testing
