// Group `lance`: encoding and decoding of data files in memory, one thread. Rows are edges with a
// text: id, src, dst, text, all utf8, about 165 bytes a row.
#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include <string>
#include <vector>

#include "figures.h"
#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/store/memory_store.h"

namespace omnigraph::bench {
namespace {

using lance::EncodedFile;
using lance::FileReader;
using lance::FileWriter;

constexpr int64_t kBatchRows = 8192;
constexpr int64_t kBatches = 64;
constexpr int64_t kRows = kBatchRows * kBatches;
constexpr int kRounds = 5;

std::shared_ptr<arrow::RecordBatch> EdgeBatch(int64_t first) {
  arrow::StringBuilder columns[4];
  const std::string words =
      "streams of rows arrive, are checked, appended, made durable and folded ";
  for (int64_t row = first; row < first + kBatchRows; ++row) {
    OG_CHECK_OK(columns[0].Append("01JEDGE" + std::to_string(1000000000 + row * 7919)));
    OG_CHECK_OK(columns[1].Append("person-" + std::to_string(row * 31 % 1000003)));
    OG_CHECK_OK(columns[2].Append("person-" + std::to_string(row * 17 % 1000003)));
    OG_CHECK_OK(columns[3].Append(words + words.substr(static_cast<size_t>(row % 70))));
  }
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (auto& column : columns) {
    arrays.push_back(column.Finish().ValueOrDie());
  }
  const auto field = [](const char* name) { return arrow::field(name, arrow::utf8(), false); };
  return arrow::RecordBatch::Make(
      arrow::schema({field("id"), field("src"), field("dst"), field("text")}), kBatchRows, arrays);
}

EncodedFile EncodeAll(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  auto schema = lance::Schema::FromArrow(*batches[0]->schema()).ValueOrDie();
  auto writer = FileWriter::Make(std::move(schema)).ValueOrDie();
  for (const auto& batch : batches) {
    OG_CHECK_OK(writer->Write(*batch));
  }
  return writer->Finish().ValueOrDie();
}

void Run() {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (int64_t i = 0; i < kBatches; ++i) {
    batches.push_back(EdgeBatch(i * kBatchRows));
  }
  EncodedFile file;
  Samples encode;
  for (int i = 0; i < kRounds; ++i) {
    encode.Add(TimeUs([&] { file = EncodeAll(batches); }));
  }
  Figure("lance.encode_rows_per_s", static_cast<double>(kRows) / encode.Median() * 1e6);
  Figure("lance.encode_mb_per_s", static_cast<double>(file.size) / encode.Median());
  Figure("lance.file_bytes_per_row", static_cast<double>(file.size) / static_cast<double>(kRows));

  auto store = std::make_shared<store::MemoryStore>();
  OG_CHECK_OK(store->Put("bench.lance", file.parts));
  const auto reader = FileReader::Open(store, "bench.lance", file.size).ValueOrDie();
  const auto columns = reader->RequestColumns().ValueOrDie();
  Samples decode;
  for (int i = 0; i < kRounds; ++i) {
    decode.Add(TimeUs([&] {
      for (int64_t row = 0; row < kRows; row += kBatchRows) {
        OG_CHECK_OK(reader->ReadRange(columns, row, kBatchRows));
      }
    }));
  }
  Figure("lance.decode_rows_per_s", static_cast<double>(kRows) / decode.Median() * 1e6);
  Figure("lance.decode_mb_per_s", static_cast<double>(file.size) / decode.Median());

  Samples take;
  for (int i = 0; i < 200; ++i) {
    std::vector<uint64_t> rows;
    for (uint64_t row = static_cast<uint64_t>(i); row < kRows; row += kRows / 100) {
      rows.push_back(row);
    }
    take.Add(TimeUs([&] { OG_CHECK_OK(reader->Take(columns, rows)); }));
  }
  Figure("lance.take_100_rows_us", take.Median());
}

}  // namespace
}  // namespace omnigraph::bench

int main() {
  omnigraph::bench::Run();
  return 0;
}
