// Data files of the official writer (pylance 14.0.2, versions 2.1 and 2.2) with every page kind
// that it chooses by default read to the rows that were written (reader checklist, E.12 of the
// format).

#include <arrow/array/concatenate.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>

#include <cstdlib>
#include <sstream>

#include "file_testing.h"
#include "golden_archive.h"
#include "row_json.h"

namespace omnigraph::lance::testing {
namespace {

std::shared_ptr<arrow::Table> ReadArrow(const std::string& bytes) {
  const auto source = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes));
  const auto reader = arrow::ipc::RecordBatchFileReader::Open(source).ValueOrDie();
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    batches.push_back(reader->ReadRecordBatch(i).ValueOrDie());
  }
  return arrow::Table::FromRecordBatches(batches).ValueOrDie();
}

class GoldenPages : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPages, ReadToTheRowsWritten) {
  OG_ASSERT_OK_AND_ASSIGN(auto files, omnigraph::testing::ReadGoldenArchive("lance/pages"));
  const auto want = ReadArrow(files.at("pages/pages.arrow"));
  OG_ASSERT_OK_AND_ASSIGN(const auto reader,
                          FileReader::Open(StoreOf(files.at("pages/" + GetParam())), kPath));
  OG_ASSERT_OK_AND_ASSIGN(const auto all, ReadAll(*reader));
  ExpectSameValues(*want, *all);
  OG_ASSERT_OK_AND_ASSIGN(const auto pieces, ReadAll(*reader, 300));
  ExpectSameValues(*want, *pieces);
  OG_ASSERT_OK_AND_ASSIGN(const auto taken, TakeEvery(*reader, 37));
  ExpectSameValues(*EveryRow(*want, 37), *taken);
}

/// Damage in official pages: codecs that our own writer never makes.
TEST_P(GoldenPages, Damaged_GivesValuesOrTypedErrors) {
  OG_ASSERT_OK_AND_ASSIGN(auto files, omnigraph::testing::ReadGoldenArchive("lance/pages"));
  const std::string& good = files.at("pages/" + GetParam());
  OG_ASSERT_OK_AND_ASSIGN(const auto names_reader, FileReader::Open(StoreOf(good), kPath));
  OG_ASSERT_OK_AND_ASSIGN(const auto columns, names_reader->RequestColumns());
  // Pages first, at a stride; the metadata at the end more densely.
  std::vector<size_t> positions;
  for (size_t at = 0; at < good.size(); at += at + 40000 < good.size() ? 20011 : 499) {
    positions.push_back(at);
  }
  for (const size_t at : positions) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (at % 2 == 0 ? 0xFF : 0x04));
    const auto reader = FileReader::Open(StoreOf(std::move(bad)), kPath);
    if (!reader.ok()) {
      EXPECT_NE(GetErrorDetail(reader.status()), nullptr);
      continue;
    }
    for (const ColumnRequest& column : columns) {
      const auto batch = (*reader)->ReadRange(std::span(&column, 1), 0,
                                              std::min<int64_t>((*reader)->rows(), 2000));
      if (batch.ok()) {
        OG_EXPECT_OK((*batch)->column(0)->Validate());
      } else {
        EXPECT_NE(GetErrorDetail(batch.status()), nullptr) << batch.status().ToString();
      }
    }
  }
}

/// Pages written by hand from the format's pages: the smallest forms that official readers accept,
/// nested types among them. The client that printed the rows prints decimals, maps and numbers
/// above 2^53 in its own way.
TEST(GoldenHandWritten, ReadToTheirExpectedRows) {
  const std::string archive = "hand_nested_v22";
  OG_ASSERT_OK_AND_ASSIGN(auto files, omnigraph::testing::ReadGoldenArchive("lance/" + archive));
  std::istringstream lines(files.at(archive + "/expected.jsonl"));
  int compared = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string table = line.substr(10, line.find('"', 10) - 10);
    if (table.find("_dec") != std::string::npos || table == "c_map" || table == "a_uint64") {
      continue;
    }
    const auto row = std::atoll(line.c_str() + line.find("\"row\":") + 6);
    const size_t value = line.find("\"value\":{") + 8;
    const std::string want = line.substr(value, line.size() - value - 1);
    OG_ASSERT_OK_AND_ASSIGN(
        const auto reader,
        FileReader::Open(StoreOf(files.at(archive + "/" + table + ".lance/data/a.lance")), kPath));
    OG_ASSERT_OK_AND_ASSIGN(const auto columns, reader->RequestColumns());
    OG_ASSERT_OK_AND_ASSIGN(const auto batch, reader->ReadRange(columns, row, 1));
    EXPECT_EQ(omnigraph::testing::JsonOfRow(*batch, 0, 0, batch->num_columns(),
                                            omnigraph::testing::JsonStyle::kJavaScript),
              want)
        << table << " row " << row;
    ++compared;
  }
  EXPECT_GT(compared, 75);
}

INSTANTIATE_TEST_SUITE_P(Versions, GoldenPages,
                         ::testing::Values("pages_v21.lance", "pages_v22.lance"),
                         [](const auto& each) { return each.param.substr(0, 9); });

}  // namespace
}  // namespace omnigraph::lance::testing
