// Turns an Arrow IPC file into a Lance data file and back, so that scripts can judge the two with another implementation.
//   lance_file_tool encode IN.arrow OUT.lance [PAGE_BYTES]

#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "omnigraph/lance/file/file_writer.h"

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

}  // namespace
}  // namespace omnigraph::lance

int main(int argc, char** argv) {
  if (argc < 4) {
    return 2;
  }
  const int64_t page_bytes = argc > 4 ? std::atoll(argv[4]) : (8 << 20);
  const auto status = omnigraph::lance::Encode(argv[2], argv[3], page_bytes);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
