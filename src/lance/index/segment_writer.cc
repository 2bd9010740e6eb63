#include "segment_writer.h"

#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <utility>

#include "bloom_filter.h"
#include "btree_format.h"
#include "omnigraph/base/hash.h"
#include "omnigraph/lance/file/schema.h"
#include "omnigraph/lance/table/unpublished.h"
#include "omnigraph/runtime/clock.h"
#include "omnigraph/runtime/ids.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {
namespace {

std::shared_ptr<arrow::Schema> DataSchema() {
  return arrow::schema({arrow::field("values", arrow::utf8()),
                        arrow::field("ids", arrow::uint64(), /*nullable=*/false)});
}

std::shared_ptr<arrow::Schema> LookupSchema() {
  return arrow::schema({arrow::field("min", arrow::utf8()), arrow::field("max", arrow::utf8()),
                        arrow::field("null_count", arrow::uint32(), /*nullable=*/false),
                        arrow::field("page_idx", arrow::uint32(), /*nullable=*/false)});
}

}  // namespace

Result<std::unique_ptr<SegmentWriter>> SegmentWriter::Make(uint32_t page_rows) {
  OG_CHECK(page_rows > 0);
  std::unique_ptr<SegmentWriter> writer(new SegmentWriter(page_rows));
  OG_ASSIGN_OR_RETURN(Schema schema, Schema::FromArrow(*DataSchema()));
  // A chunk never holds more than a page, so that reading a page reads little else.
  OG_ASSIGN_OR_RETURN(writer->data_,
                      FileWriter::Make(std::move(schema), {.chunk_rows_max = page_rows}));
  return writer;
}

Status SegmentWriter::Write(const KeyRows& rows) {
  const int64_t count = rows.keys->length();
  OG_CHECK(count == rows.row_ids->length());
  if (count == 0) {
    return Status::OK();
  }
  OG_CHECK(rows_ == 0 || last_key_ <= rows.keys->GetView(0));
  hashes_.reserve(hashes_.size() + static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view key = rows.keys->GetView(i);
    hashes_.push_back(XxHash64(key));
    const int64_t place = (rows_ + i) % page_rows_;
    if (place == 0) {
      mins_.emplace_back(key);
    }
    if (place == page_rows_ - 1) {
      maxes_.emplace_back(key);
    }
  }
  last_key_ = rows.keys->GetView(count - 1);
  rows_ += count;
  return data_->Write(*arrow::RecordBatch::Make(DataSchema(), count, {rows.keys, rows.row_ids}));
}

Result<EncodedFile> SegmentWriter::EncodeLookup() {
  if (maxes_.size() < mins_.size()) {
    maxes_.push_back(last_key_);
  }
  arrow::StringBuilder mins;
  arrow::StringBuilder maxes;
  arrow::UInt32Builder nulls;
  arrow::UInt32Builder pages;
  for (size_t i = 0; i < mins_.size(); ++i) {
    OG_CHECK(mins_[i] <= maxes_[i] && (i == 0 || maxes_[i - 1] <= mins_[i]));
    OG_RETURN_NOT_OK(mins.Append(mins_[i]));
    OG_RETURN_NOT_OK(maxes.Append(maxes_[i]));
    OG_RETURN_NOT_OK(nulls.Append(0));
    OG_RETURN_NOT_OK(pages.Append(static_cast<uint32_t>(i)));
  }
  OG_ASSIGN_OR_RETURN(Schema schema, Schema::FromArrow(*LookupSchema()));
  OG_ASSIGN_OR_RETURN(const auto file, FileWriter::Make(std::move(schema)));
  file->SetSchemaMetadata(kBatchSizeKey, std::to_string(page_rows_));
  file->SetSchemaMetadata(kRangePartitionedKey, "false");
  file->SetSchemaMetadata(kBloomKey,
                          std::to_string(file->AddGlobalBuffer(BloomFilter::Encode(hashes_))));
  arrow::ArrayVector columns(4);
  OG_RETURN_NOT_OK(mins.Finish(&columns[0]));
  OG_RETURN_NOT_OK(maxes.Finish(&columns[1]));
  OG_RETURN_NOT_OK(nulls.Finish(&columns[2]));
  OG_RETURN_NOT_OK(pages.Finish(&columns[3]));
  OG_RETURN_NOT_OK(file->Write(*arrow::RecordBatch::Make(
      LookupSchema(), static_cast<int64_t>(mins_.size()), std::move(columns))));
  return file->Finish();
}

Result<IndexMetadata> SegmentWriter::Finish(const TableLocation& location,
                                            const BTreeCoverage& coverage) {
  OG_CHECK(std::ranges::is_sorted(coverage.fragment_ids));
  IndexMetadata index;
  index.uuid = runtime::NewUuid();
  index.field_ids = {coverage.field_id};
  index.name = BTreeIndexName(coverage.column);
  index.dataset_version = coverage.dataset_version;
  index.fragment_ids = coverage.fragment_ids;
  index.details_type_url = kBTreeDetailsUrl;
  index.index_version = coverage.addresses ? kBTreeOfAddresses : kBTreeOfRowIds;
  index.created_at_ms = static_cast<uint64_t>(runtime::WallNow().count() / 1000);
  const std::string folder =
      location.Child(std::string(kIndicesFolder) + "/" + index.uuid.ToString());
  const auto put = [&](std::string_view name, EncodedFile file) {
    index.files.push_back({std::string(name), file.size});
    return PutUnpublished(*location.store, folder + "/" + std::string(name), file.parts);
  };
  OG_ASSIGN_OR_RETURN(EncodedFile data, data_->Finish());
  OG_RETURN_NOT_OK(put(kPageDataFile, std::move(data)));
  OG_ASSIGN_OR_RETURN(EncodedFile lookup, EncodeLookup());
  OG_RETURN_NOT_OK(put(kPageLookupFile, std::move(lookup)));
  return index;
}

std::string BTreeIndexName(std::string_view column) {
  return std::string(column) + "_idx";
}

}  // namespace omnigraph::lance
