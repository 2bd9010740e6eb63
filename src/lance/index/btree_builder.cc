#include <utility>

#include "key_collector.h"
#include "omnigraph/lance/index/btree.h"
#include "segment_writer.h"

namespace omnigraph::lance {

struct BTreeBuilder::Impl {
  uint32_t page_rows;
  KeyCollector rows;
};

BTreeBuilder::BTreeBuilder(uint32_t page_rows)
    : impl_(new Impl{.page_rows = page_rows, .rows = {}}) {}
BTreeBuilder::~BTreeBuilder() = default;
BTreeBuilder::BTreeBuilder(BTreeBuilder&&) noexcept = default;

void BTreeBuilder::Add(std::shared_ptr<arrow::StringArray> keys, uint64_t first_row_id) {
  impl_->rows.Add(std::move(keys), first_row_id);
}

void BTreeBuilder::Add(std::shared_ptr<arrow::StringArray> keys,
                       std::shared_ptr<arrow::UInt64Array> row_ids) {
  impl_->rows.Add(std::move(keys), std::move(row_ids));
}

int64_t BTreeBuilder::rows() const {
  return impl_->rows.rows();
}

Result<IndexMetadata> BTreeBuilder::Finish(const TableLocation& location,
                                           const BTreeCoverage& coverage) {
  OG_ASSIGN_OR_RETURN(const KeyRows rows, impl_->rows.Sort());
  OG_ASSIGN_OR_RETURN(const auto writer, SegmentWriter::Make(impl_->page_rows));
  OG_RETURN_NOT_OK(writer->Write(rows));
  return writer->Finish(location, coverage);
}

}  // namespace omnigraph::lance
