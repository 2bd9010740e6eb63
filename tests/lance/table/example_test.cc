// The example of src/lance/README.md, compiled and run; the text between the two marks is compared
// with the page.
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

// [example]
#include "omnigraph/lance/table/commit.h"
#include "omnigraph/lance/table/data_writer.h"
#include "omnigraph/lance/table/table.h"
#include "omnigraph/store/object_store.h"

namespace lance = omnigraph::lance;

// Append a batch to a table (made if need be), delete its first row, and count what is left.
arrow::Result<uint64_t> AppendAndDelete(const std::string& folder,
                                        const std::shared_ptr<arrow::RecordBatch>& rows) {
  ARROW_ASSIGN_OR_RAISE(auto store, omnigraph::store::OpenStore(folder));
  const lance::TableLocation location{store, "people.lance"};
  auto table = lance::Table::Open(location);
  if (!table.ok() && omnigraph::IsNotFound(table.status())) {
    table = lance::CreateTable(location, rows->schema(), {.primary_key = {"id"}});
  }
  ARROW_RETURN_NOT_OK(table.status());

  ARROW_ASSIGN_OR_RAISE(auto writer, lance::DataWriter::Make(location, (*table)->lance_schema()));
  ARROW_RETURN_NOT_OK(writer->Write(*rows));
  lance::Change append;
  ARROW_ASSIGN_OR_RAISE(append.added, writer->Finish());
  ARROW_ASSIGN_OR_RAISE(auto after, lance::CommitOrdinary(*table, append));

  ARROW_ASSIGN_OR_RAISE(auto scan, after->Scan({.columns = {{"id"}}, .with_row_address = true}));
  ARROW_ASSIGN_OR_RAISE(auto batch, scan->Next());
  lance::Change removal;
  removal.deleted_addresses = {batch->column(1)->data()->GetValues<uint64_t>(1)[0]};
  ARROW_ASSIGN_OR_RAISE(after, lance::CommitOrdinary(after, removal));
  return after->CountRows();
}
// [example]

namespace {

TEST(Example, OfTheReadme_RunsAsPrinted) {
  arrow::StringBuilder ids;
  ASSERT_TRUE(ids.AppendValues({"ada", "grace", "edsger"}).ok());
  const auto schema = arrow::schema({arrow::field("id", arrow::utf8(), false)});
  const auto rows = arrow::RecordBatch::Make(schema, 3, {*ids.Finish()});
  const auto left = AppendAndDelete("memory:", rows);
  ASSERT_TRUE(left.ok()) << left.status().ToString();
  EXPECT_EQ(*left, 2u);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(std::string(OMNIGRAPH_SOURCE_DIR) + "/" + path);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

TEST(Example, StandsInTheReadme) {
  const std::string source = ReadText("tests/lance/table/example_test.cc");
  const std::string mark = "// [example]\n";
  const size_t begin = source.find(mark) + mark.size();
  const std::string example = source.substr(begin, source.find(mark, begin) - begin);
  EXPECT_NE(ReadText("src/lance/README.md").find(example), std::string::npos);
}

}  // namespace
