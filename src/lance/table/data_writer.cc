#include "omnigraph/lance/table/data_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "omnigraph/lance/file/file_writer.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {
namespace {

/// Rows given to the file writer at once, so that the byte limit is looked at often enough.
constexpr uint64_t kSliceRows = 16384;

}  // namespace

DataWriter::DataWriter(TableLocation location, std::shared_ptr<const Schema> schema,
                       const DataWriterOptions& options)
    : location_(std::move(location)), schema_(std::move(schema)), options_(options) {}

DataWriter::~DataWriter() = default;

Result<std::unique_ptr<DataWriter>> DataWriter::Make(TableLocation location,
                                                     std::shared_ptr<const Schema> schema,
                                                     const DataWriterOptions& options) {
  if (options.file_rows_max == 0 || options.file_rows_max > UINT32_MAX ||
      options.file_bytes_max == 0) {
    return Invalid("write.options", "a data file must hold at least one row and one byte");
  }
  return std::unique_ptr<DataWriter>(
      new DataWriter(std::move(location), std::move(schema), options));
}

Status DataWriter::Write(const arrow::RecordBatch& batch) {
  const uint64_t rows = static_cast<uint64_t>(batch.num_rows());
  for (uint64_t at = 0; at < rows;) {
    if (file_ == nullptr) {
      OG_ASSIGN_OR_RETURN(file_, FileWriter::Make(*schema_));
      file_rows_ = 0;
    }
    const uint64_t count = std::min({rows - at, kSliceRows, options_.file_rows_max - file_rows_});
    OG_RETURN_NOT_OK(
        file_->Write(*batch.Slice(static_cast<int64_t>(at), static_cast<int64_t>(count))));
    at += count;
    file_rows_ += count;
    rows_ += count;
    const uint64_t bytes = static_cast<uint64_t>(file_->buffered_bytes()) +
                           static_cast<uint64_t>(file_->encoded_bytes());
    if (file_rows_ >= options_.file_rows_max || bytes >= options_.file_bytes_max) {
      OG_RETURN_NOT_OK(CloseFile());
    }
  }
  return Status::OK();
}

Status DataWriter::CloseFile() {
  OG_ASSIGN_OR_RETURN(EncodedFile encoded, file_->Finish());
  file_.reset();
  DataFileRef file;
  file.path = FormatDataFileName(runtime::NewUuid());
  file.field_ids = std::move(encoded.field_ids);
  file.column_indices = std::move(encoded.column_indices);
  file.size_bytes = encoded.size;
  OG_RETURN_NOT_OK(PutUnpublished(*location_.store,
                                  location_.Child(fmt::format("{}/{}", kDataFolder, file.path)),
                                  encoded.parts));
  bytes_written_ += encoded.size;
  NewFragment fragment;
  fragment.files.push_back(std::move(file));
  fragment.rows = static_cast<uint64_t>(encoded.rows);
  fragments_.push_back(std::move(fragment));
  return Status::OK();
}

Result<std::vector<NewFragment>> DataWriter::Finish() {
  if (file_ != nullptr) {
    OG_RETURN_NOT_OK(CloseFile());
  }
  return std::move(fragments_);
}

}  // namespace omnigraph::lance
