// Turns an Arrow IPC file into a Lance data file and back, so that scripts can judge the two with
// another implementation.
//   lance_file_tool encode IN.arrow OUT.lance [PAGE_BYTES]
//   lance_file_tool decode IN.lance OUT.arrow [ROWS_PER_BATCH]
//   lance_file_tool take IN.lance OUT.arrow EVERY     (rows 0, EVERY, 2 * EVERY, ...)

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {
namespace {

Status Encode(const std::string& from, const std::string& to, int64_t page_bytes) {
  OG_ASSIGN_OR_RETURN(auto in, arrow::io::ReadableFile::Open(from));
  OG_ASSIGN_OR_RETURN(auto reader, arrow::ipc::RecordBatchFileReader::Open(in));
  OG_ASSIGN_OR_RETURN(const Schema schema, Schema::FromArrow(*reader->schema()));
  FileWriterOptions options;
  options.page_bytes = page_bytes;
  OG_ASSIGN_OR_RETURN(auto writer, FileWriter::Make(schema, options));
  for (int i = 0; i < reader->num_record_batches(); ++i) {
    OG_ASSIGN_OR_RETURN(auto batch, reader->ReadRecordBatch(i));
    OG_RETURN_NOT_OK(writer->Write(*batch));
  }
  OG_ASSIGN_OR_RETURN(const EncodedFile file, writer->Finish());
  OG_ASSIGN_OR_RETURN(auto out, arrow::io::FileOutputStream::Open(to));
  for (const auto& part : file.parts) {
    OG_RETURN_NOT_OK(out->Write(part));
  }
  return out->Close();
}

Status Decode(const std::string& from, const std::string& to, int64_t batch_rows, bool take) {
  const size_t slash = from.rfind('/');
  const bool bare = slash == std::string::npos;
  OG_ASSIGN_OR_RETURN(auto store, store::OpenStore(bare ? "." : from.substr(0, slash)));
  OG_ASSIGN_OR_RETURN(auto reader, FileReader::Open(store, bare ? from : from.substr(slash + 1)));
  OG_ASSIGN_OR_RETURN(auto schema, reader->schema().ToArrow());
  OG_ASSIGN_OR_RETURN(const auto columns, reader->RequestColumns());
  OG_ASSIGN_OR_RETURN(auto out, arrow::io::FileOutputStream::Open(to));
  OG_ASSIGN_OR_RETURN(auto writer, arrow::ipc::MakeFileWriter(out, schema));
  if (take) {
    std::vector<uint64_t> rows;
    for (int64_t row = 0; row < reader->rows(); row += batch_rows) {
      rows.push_back(static_cast<uint64_t>(row));
    }
    OG_ASSIGN_OR_RETURN(auto batch, reader->Take(columns, rows));
    OG_RETURN_NOT_OK(batch->ValidateFull());
    OG_RETURN_NOT_OK(writer->WriteRecordBatch(*batch->ReplaceSchemaMetadata(schema->metadata())));
  }
  for (int64_t row = 0; !take && row < reader->rows(); row += batch_rows) {
    OG_ASSIGN_OR_RETURN(
        auto batch, reader->ReadRange(columns, row, std::min(batch_rows, reader->rows() - row)));
    OG_RETURN_NOT_OK(batch->ValidateFull());
    OG_RETURN_NOT_OK(writer->WriteRecordBatch(*batch->ReplaceSchemaMetadata(schema->metadata())));
  }
  OG_RETURN_NOT_OK(writer->Close());
  return out->Close();
}

}  // namespace
}  // namespace omnigraph::lance

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  const std::string mode = argv[1];
  const int64_t number = argc > 4 ? std::atoll(argv[4]) : (8 << 20);
  const auto status = mode == "encode"
                          ? omnigraph::lance::Encode(argv[2], argv[3], number)
                          : omnigraph::lance::Decode(argv[2], argv[3], number, mode == "take");
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
