#include "omnigraph/lance/table/deletion.h"

#include <arrow/array.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <roaring/roaring.hh>

#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"
#include "roaring_codec.h"

// Older releases of the library keep their class in no namespace, newer ones in this.
namespace roaring {}

namespace omnigraph::lance {

using namespace ::roaring;

struct DeletionVector::Rep {
  Roaring set;
  uint64_t size = 0;
};

DeletionVector::DeletionVector() : rep_(std::make_shared<const Rep>()) {}
DeletionVector::DeletionVector(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

DeletionVector DeletionVector::FromOffsets(std::span<const uint32_t> offsets) {
  return DeletionVector().With(offsets);
}

DeletionVector DeletionVector::With(std::span<const uint32_t> offsets) const {
  auto rep = std::make_shared<Rep>(*rep_);
  rep->set.addMany(offsets.size(), offsets.data());
  rep->size = rep->set.cardinality();
  return DeletionVector(std::move(rep));
}

bool DeletionVector::Contains(uint32_t offset) const {
  return rep_->set.contains(offset);
}

uint64_t DeletionVector::size() const {
  return rep_->size;
}

uint32_t DeletionVector::max() const {
  return empty() ? 0 : rep_->set.maximum();
}

std::vector<uint32_t> DeletionVector::ToOffsets() const {
  std::vector<uint32_t> offsets(rep_->size);
  rep_->set.toUint32Array(offsets.data());
  return offsets;
}

uint64_t DeletionVector::CountRange(uint64_t begin, uint64_t end) const {
  if (begin >= end || empty()) {
    return 0;
  }
  const auto up_to = [&](uint64_t bound) -> uint64_t {
    return bound == 0
               ? 0
               : rep_->set.rank(static_cast<uint32_t>(std::min<uint64_t>(bound - 1, UINT32_MAX)));
  };
  return up_to(end) - up_to(begin);
}

std::string DeletionVector::EncodeRoaring() const {
  return EncodeRoaringBitmap(ToOffsets());
}

Result<DeletionVector> DeletionVector::ParseRoaring(std::string_view bytes,
                                                    std::string_view object) {
  OG_ASSIGN_OR_RETURN(const std::vector<uint32_t> offsets, ParseRoaringBitmap(bytes, object));
  return FromOffsets(offsets);
}

namespace {

Status BadArrow(std::string_view object, std::string_view what) {
  return Corruption("deletion.arrow", fmt::format("deletion file {}: {}", object, what), object);
}

Status AddBatch(const arrow::RecordBatch& batch, std::string_view object,
                std::vector<uint32_t>* offsets) {
  const Status valid = batch.ValidateFull();
  if (!valid.ok()) {
    return BadArrow(object, valid.message());
  }
  if (batch.num_columns() != 1 || batch.column(0)->type_id() != arrow::Type::UINT32 ||
      batch.column(0)->null_count() != 0) {
    return BadArrow(object, "expected one uint32 column without nulls");
  }
  const auto& rows = static_cast<const arrow::UInt32Array&>(*batch.column(0));
  offsets->insert(offsets->end(), rows.raw_values(), rows.raw_values() + rows.length());
  return Status::OK();
}

Result<std::vector<uint32_t>> ReadArrowOffsets(const std::shared_ptr<arrow::Buffer>& bytes,
                                               std::string_view object) {
  arrow::ipc::IpcReadOptions options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  auto opened = arrow::ipc::RecordBatchFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(bytes), options);
  if (!opened.ok()) {
    return BadArrow(object, opened.status().message());
  }
  std::vector<uint32_t> offsets;
  for (int i = 0; i < (*opened)->num_record_batches(); ++i) {
    auto batch = (*opened)->ReadRecordBatch(i);
    if (!batch.ok()) {
      return BadArrow(object, batch.status().message());
    }
    OG_RETURN_NOT_OK(AddBatch(**batch, object, &offsets));
  }
  return offsets;
}

}  // namespace

Result<DeletionVector> DeletionVector::ParseArrow(std::shared_ptr<arrow::Buffer> bytes,
                                                  std::string_view object) {
  try {
    OG_ASSIGN_OR_RETURN(const std::vector<uint32_t> offsets, ReadArrowOffsets(bytes, object));
    return FromOffsets(offsets);
  } catch (const std::exception& error) {
    return BadArrow(object, error.what());
  }
}

std::string DeletionFilePath(uint64_t fragment_id, const DeletionFileRef& file) {
  return fmt::format("{}/{}-{}-{}.{}", kDeletionsFolder, fragment_id, file.read_version, file.id,
                     file.kind == DeletionFileRef::Kind::kArrow ? "arrow" : "bin");
}

Result<DeletionVector> ReadDeletions(const TableLocation& location, const Fragment& fragment) {
  if (!fragment.deletion_file) {
    return DeletionVector();
  }
  const DeletionFileRef& file = *fragment.deletion_file;
  const std::string object = location.Child(DeletionFilePath(fragment.id, file));
  if (file.base_id) {
    return Unsupported("table.base_path",
                       fmt::format("deletion file {} lies below another base path, which is not "
                                   "supported",
                                   object),
                       {.object = object});
  }
  auto bytes = location.store->Get(object);
  if (!bytes.ok() && IsNotFound(bytes.status())) {
    return Corruption("deletion.absent", fmt::format("deletion file {} does not exist", object),
                      object);
  }
  OG_RETURN_NOT_OK(bytes.status());
  OG_ASSIGN_OR_RETURN(DeletionVector deletions,
                      file.kind == DeletionFileRef::Kind::kArrow
                          ? DeletionVector::ParseArrow(*bytes, object)
                          : DeletionVector::ParseRoaring(std::string_view(**bytes), object));
  if (deletions.size() != file.deleted_rows ||
      (!deletions.empty() && deletions.max() >= fragment.physical_rows)) {
    return Corruption("deletion.mismatch",
                      fmt::format("deletion file {} holds {} rows up to {}; the manifest says {} "
                                  "of {}",
                                  object, deletions.size(), deletions.max(), file.deleted_rows,
                                  fragment.physical_rows),
                      object);
  }
  return deletions;
}

Result<DeletionFileRef> WriteDeletions(const TableLocation& location, uint64_t fragment_id,
                                       uint64_t read_version, const DeletionVector& deletions) {
  DeletionFileRef file;
  file.kind = DeletionFileRef::Kind::kRoaring;
  file.read_version = read_version;
  file.id = runtime::NewId64();
  file.deleted_rows = deletions.size();
  OG_RETURN_NOT_OK(PutUnpublished(*location.store,
                                  location.Child(DeletionFilePath(fragment_id, file)),
                                  store::BytesOf(deletions.EncodeRoaring())));
  return file;
}

}  // namespace omnigraph::lance
