// The manifest file: frame, explicit zeros, unknown fields, damage (docs/format/lance-table.md).
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <gtest/gtest.h>

#include "lance/file.pb.h"
#include "lance/table.pb.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/proto/serialize.h"
#include "omnigraph/lance/table/feature_flags.h"
#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/row_ids.h"
#include "omnigraph/testing/status_matchers.h"

namespace omnigraph::lance {
namespace {

Manifest Example() {
  Manifest manifest;
  const auto arrow_schema =
      arrow::schema({arrow::field("id", arrow::utf8(), false), arrow::field("n", arrow::int64())},
                    arrow::key_value_metadata({"k"}, {"v"}));
  manifest.schema = std::make_shared<const Schema>(*Schema::FromArrow(*arrow_schema));
  manifest.version = 7;
  manifest.timestamp_us = 1'700'000'000'123'456;
  manifest.reader_flags = manifest.writer_flags = kFlagStableRowIds | kFlagDeletionFiles;
  manifest.max_fragment_id = 0;
  manifest.transaction_file = "6-x.txn";
  manifest.writer = WriterVersion{.library = "omnigraph", .version = "0.1.0", .unknown = ""};
  manifest.next_row_id = 10;
  manifest.table_metadata = {{"b", "2"}, {"a", "1"}};
  Fragment fragment;
  fragment.physical_rows = 10;
  DataFileRef file;
  file.path = "f.lance";
  file.field_ids = {0, 1};
  file.column_indices = {0, 1};
  file.size_bytes = 99;
  fragment.files.push_back(file);
  fragment.deletion_file = DeletionFileRef{.read_version = 6, .id = 3, .deleted_rows = 2};
  fragment.row_ids = RowIdSequence::Range(0, 10).Encode();
  fragment.created_versions = RowVersionSequence::Constant(2, 10).Encode();
  fragment.updated_versions = fragment.created_versions;
  manifest.fragments.push_back(fragment);
  IndexMetadata index;
  index.uuid.bytes[0] = 9;
  index.field_ids = {0};
  index.name = "id_idx";
  index.fragment_ids = {0};
  index.details_type_url = "/lance.table.BTreeIndexDetails";
  index.index_version = 0;
  index.files = {{"page_data.lance", 1}};
  manifest.indices.push_back(index);
  manifest.transaction = "\x12\x01u";
  return manifest;
}

/// The index section inside a file that has one.
pb::IndexSection SectionIn(const std::string& bytes, const pb::Manifest& message) {
  const uint64_t at = message.index_section();
  pb::IndexSection section;
  EXPECT_TRUE(
      section.ParseFromString(bytes.substr(at + 4, LoadLittle<uint32_t>(bytes.data() + at))));
  return section;
}

/// The manifest message inside a file.
pb::Manifest MessageIn(const std::string& bytes) {
  const uint64_t at = LoadLittle<uint64_t>(bytes.data() + bytes.size() - 16);
  pb::Manifest message;
  EXPECT_TRUE(message.ParseFromString(bytes.substr(at + 4, bytes.size() - 16 - at - 4)));
  return message;
}

/// A manifest file of an index section (none: empty) and a message.
std::string FileOf(const pb::Manifest& message, const std::string& section = "") {
  const std::string body = SerializeProto(message);
  std::string out;
  if (!section.empty()) {
    AppendLittle(&out, static_cast<uint32_t>(section.size()));
    out += section;
  }
  const uint64_t at = out.size();
  AppendLittle(&out, static_cast<uint32_t>(body.size()));
  out += body;
  AppendLittle(&out, at);
  AppendLittle(&out, uint16_t{0});
  AppendLittle(&out, uint16_t{2});
  return out + "LANC";
}

TEST(ManifestCodec, RoundTrip_KeepsEverything) {
  const Manifest manifest = Example();
  const std::string bytes = EncodeManifest(manifest);
  OG_ASSERT_OK_AND_ASSIGN(const Manifest back, DecodeManifest(bytes, "t"));
  EXPECT_EQ(*back.schema, *manifest.schema);
  EXPECT_EQ(back.fragments, manifest.fragments);
  EXPECT_EQ(back.indices, manifest.indices);
  EXPECT_EQ(back.transaction, manifest.transaction);
  EXPECT_EQ(back.table_metadata, manifest.table_metadata);
  EXPECT_EQ(back.timestamp_us, manifest.timestamp_us);
  EXPECT_EQ(back.live_rows(), 8u);
  EXPECT_EQ(EncodeManifest(back), bytes);
}

TEST(ManifestCodec, Frame_EndsWithTrailerZeroTwo) {
  const std::string bytes = EncodeManifest(Example());
  EXPECT_EQ(bytes.substr(bytes.size() - 8), std::string("\0\0\2\0LANC", 8));
  // The index section comes first, so that its place 0 must be written out.
  const pb::Manifest message = MessageIn(bytes);
  EXPECT_TRUE(message.has_index_section());
  EXPECT_EQ(message.index_section(), 0u);
}

TEST(ManifestCodec, Transaction_IsNamedByBothFieldsAndExplicitlyAtZero) {
  Manifest manifest = Example();
  manifest.indices.clear();
  const pb::Manifest message = MessageIn(EncodeManifest(manifest));
  ASSERT_TRUE(message.has_transaction_section());
  ASSERT_TRUE(message.has_transaction_section_12());
  EXPECT_EQ(message.transaction_section(), 0u);
  EXPECT_EQ(message.transaction_section_12(), 0u);
  EXPECT_TRUE(message.has_max_fragment_id());  // 0 is a value
}

TEST(ManifestCodec, ParentIdOfTopLevelFields_IsWrittenAsMinusOne) {
  const pb::Manifest message = MessageIn(EncodeManifest(Example()));
  const std::string minus_one("\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
  for (const std::string& field : message.fields()) {
    EXPECT_NE(field.find(minus_one), std::string::npos);
  }
}

TEST(ManifestCodec, UnknownFields_SurviveOnEveryLevel) {
  const std::string example = EncodeManifest(Example());
  pb::Manifest message = MessageIn(example);
  pb::IndexSection section = SectionIn(example, message);
  message.clear_transaction_section();
  message.clear_transaction_section_12();
  const auto add = [](google::protobuf::Message* m, int number) {
    m->GetReflection()->MutableUnknownFields(m)->AddLengthDelimited(number, "kept");
  };
  add(&message, 2000);
  add(message.mutable_fragments(0), 2001);
  add(message.mutable_fragments(0)->mutable_files(0), 2002);
  add(message.mutable_fragments(0)->mutable_deletion_file(), 2003);
  add(message.mutable_writer(), 2004);
  pb::Field field;
  ASSERT_TRUE(field.ParseFromString(message.fields(0)));
  add(&field, 2005);
  *message.mutable_fields(0) = field.SerializeAsString();
  add(message.mutable_data_format(), 2006);
  message.add_base_paths()->set_path("elsewhere");
  add(message.mutable_base_paths(0), 2007);
  add(&section, 2008);
  add(section.mutable_indices(0), 2009);
  add(section.mutable_indices(0)->mutable_details(), 2010);
  add(section.mutable_indices(0)->mutable_files(0), 2011);
  OG_ASSERT_OK_AND_ASSIGN(const Manifest manifest,
                          DecodeManifest(FileOf(message, SerializeProto(section)), "t"));
  const std::string bytes = EncodeManifest(manifest);
  const pb::Manifest back = MessageIn(bytes);
  EXPECT_EQ(SerializeProto(back), SerializeProto(message));
  EXPECT_EQ(SerializeProto(SectionIn(bytes, back)), SerializeProto(section));
}

TEST(ManifestCodec, UnknownFieldsOfASectionWithoutIndexes_Survive) {
  pb::Manifest message = MessageIn(EncodeManifest(Example()));
  message.clear_transaction_section();
  message.clear_transaction_section_12();
  const std::string section("\xf2\x7d\x04kept", 7);  // field 2014
  OG_ASSERT_OK_AND_ASSIGN(const Manifest manifest, DecodeManifest(FileOf(message, section), "t"));
  const std::string bytes = EncodeManifest(manifest);
  EXPECT_EQ(SerializeProto(SectionIn(bytes, MessageIn(bytes))), section);
}

TEST(ManifestCodec, Field23WinsOverField21) {
  Manifest manifest = Example();
  manifest.indices.clear();
  std::string bytes = EncodeManifest(manifest);
  pb::Manifest message = MessageIn(bytes);
  message.set_transaction_section_12(1);
  const std::string body = SerializeProto(message);
  std::string file;
  AppendLittle(&file, uint32_t{3});
  file += "new";
  const uint64_t at = file.size();
  AppendLittle(&file, static_cast<uint32_t>(body.size()));
  file += body;
  AppendLittle(&file, at);
  file += std::string("\0\0\2\0LANC", 8);
  OG_ASSERT_OK_AND_ASSIGN(const Manifest back, DecodeManifest(file, "t"));
  EXPECT_EQ(back.transaction, "new");
}

TEST(ManifestCodec, SmallestOfficialForm_IsRead) {
  pb::Manifest message;
  message.set_version(1);
  *message.add_fields() = EncodeField(
      Field{.id = 0, .parent_id = -1, .name = "id", .logical_type = "int64", .nullable = false});
  message.mutable_data_format()->set_file_format("lance");
  message.mutable_data_format()->set_version("2.2");
  OG_ASSERT_OK_AND_ASSIGN(const Manifest manifest, DecodeManifest(FileOf(message), "t"));
  EXPECT_EQ(manifest.version, 1u);
  EXPECT_FALSE(manifest.max_fragment_id);
  EXPECT_EQ(manifest.next_fragment_id(), 0u);
  EXPECT_TRUE(manifest.transaction.empty());
}

TEST(ManifestCodec, CutShort_IsCorruptionThatNamesTheObject) {
  const std::string good = EncodeManifest(Example());
  for (size_t size = 0; size < good.size(); ++size) {
    const auto decoded = DecodeManifest(good.substr(0, size), "x/7.manifest");
    ASSERT_FALSE(decoded.ok());
    EXPECT_TRUE(IsCorruption(decoded.status()) || IsUnsupported(decoded.status())) << size;
    EXPECT_EQ(GetErrorDetail(decoded.status())->place().object, "x/7.manifest") << size;
  }
}

TEST(ManifestCodec, EveryByteFlipped_GivesAManifestOrATypedErrorThatNamesTheObject) {
  const std::string good = EncodeManifest(Example());
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int mask : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ mask);
      const auto decoded = DecodeManifest(bad, "x/7.manifest");
      if (!decoded.ok()) {
        EXPECT_TRUE(IsCorruption(decoded.status()) || IsUnsupported(decoded.status()))
            << i << " " << decoded.status().ToString();
        EXPECT_EQ(GetErrorDetail(decoded.status())->place().object, "x/7.manifest") << i;
      }
    }
  }
}

TEST(ManifestCodec, ImpossibleContent_IsCorruption) {
  const std::string example = EncodeManifest(Example());
  pb::Manifest message = MessageIn(example);
  pb::IndexSection section = SectionIn(example, message);
  message.clear_transaction_section();
  message.clear_transaction_section_12();
  pb::Manifest twice = message;
  *twice.add_fragments() = twice.fragments(0);
  OG_EXPECT_ERROR(DecodeManifest(FileOf(twice), "t"), ErrorKind::kCorruption, "manifest.malformed");
  pb::Manifest overdeleted = message;
  overdeleted.mutable_fragments(0)->mutable_deletion_file()->set_deleted_rows(11);
  OG_EXPECT_ERROR(DecodeManifest(FileOf(overdeleted), "t"), ErrorKind::kCorruption,
                  "manifest.fragment");
  pb::Manifest unpaired = message;
  unpaired.mutable_fragments(0)->mutable_files(0)->add_fields(5);
  OG_EXPECT_ERROR(DecodeManifest(FileOf(unpaired), "t"), ErrorKind::kCorruption,
                  "manifest.fragment");
  pb::Manifest spilled = message;
  spilled.mutable_fragments(0)->clear_row_ids();
  OG_EXPECT_ERROR(DecodeManifest(FileOf(spilled), "t"), ErrorKind::kCorruption, "row_ids.absent");
  // Release 14 may keep them in a column, and marks the fragment with field 12.
  auto* fragment = spilled.mutable_fragments(0);
  fragment->GetReflection()->MutableUnknownFields(fragment)->AddLengthDelimited(12, "");
  OG_EXPECT_ERROR(DecodeManifest(FileOf(spilled), "t"), ErrorKind::kUnsupported,
                  "row_ids.external");
}

}  // namespace
}  // namespace omnigraph::lance
