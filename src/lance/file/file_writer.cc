#include "omnigraph/lance/file/file_writer.h"

#include <arrow/array/array_base.h>
#include <arrow/array/concatenate.h>
#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "file_format.h"
#include "lance/file.pb.h"
#include "leaf_path.h"
#include "logical_type.h"
#include "omnigraph/base/bytes.h"
#include "omnigraph/lance/proto/serialize.h"
#include "page_encoder.h"
#include "schema_proto.h"
#include "shred.h"

namespace omnigraph::lance {
namespace {

using arrow::ArrayData;

/// Raw bytes of rows [begin, end) relative to the array's offset. Constant time per level of
/// nesting.
int64_t RangeBytes(const ArrayData& array, int64_t begin, int64_t end) {
  const arrow::DataType& type = *array.type;
  const auto offset_at = [&](int64_t row) -> int64_t {
    const bool large = type.id() == arrow::Type::LARGE_LIST ||
                       type.id() == arrow::Type::LARGE_STRING ||
                       type.id() == arrow::Type::LARGE_BINARY;
    return large ? array.GetValues<int64_t>(1)[row] : array.GetValues<int32_t>(1)[row];
  };
  if (end <= begin || type.id() == arrow::Type::NA) {
    return 0;
  }
  if (type.id() == arrow::Type::STRUCT) {
    int64_t bytes = 0;
    for (const auto& child : array.child_data) {
      bytes += RangeBytes(*child, array.offset + begin, array.offset + end);
    }
    return bytes;
  }
  if (HasChildFields(type)) {
    return (end - begin) * 4 + RangeBytes(*array.child_data[0], offset_at(begin), offset_at(end));
  }
  if (type.id() == arrow::Type::FIXED_SIZE_LIST) {
    const int64_t size = static_cast<const arrow::FixedSizeListType&>(type).list_size();
    return RangeBytes(*array.child_data[0], (array.offset + begin) * size,
                      (array.offset + end) * size);
  }
  if (type.bit_width() > 0) {
    return arrow::bit_util::BytesForBits((end - begin) * type.bit_width());
  }
  return (end - begin) * 4 + offset_at(end) - offset_at(begin);
}

/// Most rows of [begin, length) whose raw bytes fit into `budget`; at least 1.
int64_t RowsThatFit(const ArrayData& array, int64_t begin, int64_t budget) {
  int64_t low = begin + 1;
  int64_t high = array.length;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (RangeBytes(array, begin, middle) <= budget) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low - begin;
}

/// Logarithm of the most values of a chunk.
int ChunkLog(int64_t rows) {
  const auto at_least_two = static_cast<uint64_t>(std::max<int64_t>(rows, 2));
  return std::min(static_cast<int>(std::bit_width(at_least_two)) - 1, kChunkLogMax);
}

pb::Encoding DirectAny(std::string_view url, std::string value) {
  pb::AnyMessage any;
  any.set_type_url(std::string(url));
  any.set_value(std::move(value));
  pb::Encoding encoding;
  encoding.mutable_direct()->set_encoding(SerializeProto(any));
  return encoding;
}

/// One top-level field: rows that wait for their page, and the pages of its leaves.
struct ColumnState {
  std::shared_ptr<arrow::Field> field;
  std::vector<LeafPath> paths;
  arrow::ArrayVector pending;
  int64_t pending_bytes = 0;
  int64_t encoded_rows = 0;
  std::vector<pb::ColumnMetadata> leaves;
};

}  // namespace

class FileWriter::Impl {
 public:
  Impl(Schema schema, std::shared_ptr<arrow::Schema> arrow_schema, FileWriterOptions options)
      : schema_(std::move(schema)),
        arrow_schema_(std::move(arrow_schema)),
        options_(options),
        chunk_log_max_(ChunkLog(options.chunk_rows_max)) {}

  Status Init() {
    for (const auto& field : arrow_schema_->fields()) {
      ColumnState column;
      column.field = field;
      OG_ASSIGN_OR_RETURN(column.paths, LeafPathsOf(*field));
      column.leaves.resize(column.paths.size());
      for (pb::ColumnMetadata& leaf : column.leaves) {
        *leaf.mutable_encoding() = DirectAny(kColumnEncodingUrl, std::string(kColumnEncodingValue));
      }
      columns_.push_back(std::move(column));
    }
    return Status::OK();
  }

  Status Write(const arrow::RecordBatch& batch) {
    OG_RETURN_NOT_OK(CheckBatch(batch));
    for (size_t i = 0; i < columns_.size(); ++i) {
      OG_RETURN_NOT_OK(Append(&columns_[i], batch.column_data(static_cast<int>(i))));
    }
    rows_ += batch.num_rows();
    return Status::OK();
  }

  int64_t buffered_bytes() const {
    int64_t bytes = 0;
    for (const ColumnState& column : columns_) {
      bytes += column.pending_bytes;
    }
    return bytes;
  }

  Result<EncodedFile> Finish() {
    OG_CHECK(!finished_);
    finished_ = true;
    EncodedFile file;
    for (ColumnState& column : columns_) {
      OG_RETURN_NOT_OK(Flush(&column));
    }
    // Extra global buffers stand before the schema in the file; the schema is number 0 in the table
    // all the same.
    std::vector<std::pair<uint64_t, uint64_t>> globals(1);
    for (const auto& buffer : global_buffers_) {
      globals.emplace_back(static_cast<uint64_t>(position_), static_cast<uint64_t>(buffer->size()));
      Put(buffer);
      PadToAlignment();
    }
    pb::FileDescriptor descriptor;
    *descriptor.mutable_schema() = SchemaToProto(schema_);
    descriptor.set_rows(static_cast<uint64_t>(rows_));
    std::string described = SerializeProto(descriptor);
    globals[0] = {static_cast<uint64_t>(position_), described.size()};
    PutString(std::move(described));
    PutTail(globals);
    file.parts = std::move(parts_);
    file.size = static_cast<uint64_t>(position_);
    file.rows = rows_;
    file.field_ids = schema_.LeafIds();
    for (size_t i = 0; i < file.field_ids.size(); ++i) {
      file.column_indices.push_back(static_cast<int32_t>(i));
    }
    return file;
  }

  Schema schema_;
  std::vector<std::shared_ptr<arrow::Buffer>> global_buffers_;
  int64_t rows_ = 0;
  int64_t position_ = 0;

 private:
  Status CheckBatch(const arrow::RecordBatch& batch) const {
    if (batch.num_columns() != arrow_schema_->num_fields()) {
      return Invalid("lance.file.schema_mismatch",
                     "write a batch of " + std::to_string(batch.num_columns()) +
                         " columns to a file of " + std::to_string(arrow_schema_->num_fields()));
    }
    for (int i = 0; i < batch.num_columns(); ++i) {
      const arrow::Field& field = *columns_[static_cast<size_t>(i)].field;
      const ArrayData& data = *batch.column_data(i);
      if (!data.type->Equals(*field.type()) && !SameStorage(*data.type, *field.type())) {
        return Invalid("lance.file.schema_mismatch", "write column '" + field.name() + "': is " +
                                                         data.type->ToString() + ", needs " +
                                                         field.type()->ToString());
      }
      if (!field.nullable() && data.type->id() != arrow::Type::NA && data.GetNullCount() > 0) {
        return Invalid("lance.file.null_in_required",
                       "write column '" + field.name() + "': holds nulls but is not nullable",
                       Place{.property = field.name()});
      }
    }
    return Status::OK();
  }

  /// Equal but for names and nullability of nested fields, which do not change what is stored.
  static bool SameStorage(const arrow::DataType& left, const arrow::DataType& right) {
    if (left.id() != right.id() || left.num_fields() != right.num_fields() ||
        left.num_fields() == 0) {
      return left.Equals(right);
    }
    if (left.id() == arrow::Type::FIXED_SIZE_LIST &&
        static_cast<const arrow::FixedSizeListType&>(left).list_size() !=
            static_cast<const arrow::FixedSizeListType&>(right).list_size()) {
      return false;
    }
    for (int i = 0; i < left.num_fields(); ++i) {
      if (!SameStorage(*left.field(i)->type(), *right.field(i)->type())) {
        return false;
      }
    }
    return true;
  }

  Status Append(ColumnState* column, std::shared_ptr<ArrayData> data) {
    while (data->length > 0) {
      const int64_t all = RangeBytes(*data, 0, data->length);
      const int64_t budget = options_.page_bytes - column->pending_bytes;
      if (all <= budget) {
        column->pending.push_back(arrow::MakeArray(data));
        column->pending_bytes += all;
        return Status::OK();
      }
      const int64_t rows = CutRows(*column, RowsThatFit(*data, 0, budget));
      const bool oversize = rows == 1 && RangeBytes(*data, 0, 1) > budget;
      if (oversize && !column->pending.empty()) {
        OG_RETURN_NOT_OK(Flush(column));
        continue;
      }
      column->pending.push_back(arrow::MakeArray(data->Slice(0, rows)));
      OG_RETURN_NOT_OK(Flush(column));
      data = data->Slice(rows, data->length - rows);
    }
    return Status::OK();
  }

  /// How many of `rows` more end the page: with small chunks, so many that it ends with one.
  int64_t CutRows(const ColumnState& column, int64_t rows) const {
    if (chunk_log_max_ == kChunkLogMax) {
      return rows;
    }
    int64_t pending = 0;
    for (const auto& array : column.pending) {
      pending += array->length();
    }
    const int64_t over = (pending + rows) & ((int64_t{1} << chunk_log_max_) - 1);
    return over < rows ? rows - over : rows;
  }

  Status Flush(ColumnState* column) {
    if (column->pending.empty()) {
      return Status::OK();
    }
    std::shared_ptr<arrow::Array> joined = column->pending[0];
    if (column->pending.size() > 1) {
      OG_ASSIGN_OR_RETURN(joined, arrow::Concatenate(column->pending));
    }
    column->pending.clear();
    column->pending_bytes = 0;
    return PutPages(column, joined->data());
  }

  /// One page per leaf; more when a chunk could not hold the levels of these rows.
  Status PutPages(ColumnState* column, const std::shared_ptr<ArrayData>& rows) {
    std::vector<EncodedPage> pages;
    {
      OG_ASSIGN_OR_RETURN(const auto leaves, Shred(rows, column->paths));
      for (const ShreddedLeaf& leaf : leaves) {
        Result<EncodedPage> page = EncodePage(leaf, chunk_log_max_);
        if (CodeOf(page.status()) == "lance.file.page_slots" && rows->length > 1) {
          const int64_t half = rows->length / 2;
          OG_RETURN_NOT_OK(PutPages(column, rows->Slice(0, half)));
          return PutPages(column, rows->Slice(half, rows->length - half));
        }
        OG_RETURN_NOT_OK(page.status());
        pages.push_back(std::move(page).ValueUnsafe());
      }
    }
    for (size_t i = 0; i < pages.size(); ++i) {
      RecordPage(*column, std::move(pages[i]), &column->leaves[i]);
    }
    column->encoded_rows += rows->length;
    return Status::OK();
  }

  void RecordPage(const ColumnState& column, EncodedPage page, pb::ColumnMetadata* leaf) {
    pb::Page* record = leaf->add_pages();
    for (const auto& [offset, size] : page.buffers) {
      record->add_buffer_offsets(static_cast<uint64_t>(position_) + offset);
      record->add_buffer_sizes(size);
    }
    record->set_rows(static_cast<uint64_t>(page.rows));
    record->set_priority(static_cast<uint64_t>(column.encoded_rows));
    *record->mutable_encoding() = DirectAny(kPageLayoutUrl, SerializeProto(page.layout));
    if (page.bytes != nullptr && page.bytes->size() > 0) {
      Put(std::move(page.bytes));
      PadToAlignment();
    }
  }

  /// Column metadata, the two tables, the footer.
  void PutTail(const std::vector<std::pair<uint64_t, uint64_t>>& globals) {
    const auto column_metadata_at = static_cast<uint64_t>(position_);
    std::string column_table;
    uint32_t num_columns = 0;
    for (const ColumnState& column : columns_) {
      for (const pb::ColumnMetadata& leaf : column.leaves) {
        std::string bytes = SerializeProto(leaf);
        AppendLittle<uint64_t>(&column_table, static_cast<uint64_t>(position_));
        AppendLittle<uint64_t>(&column_table, bytes.size());
        PutString(std::move(bytes));
        ++num_columns;
      }
    }
    const auto column_table_at = static_cast<uint64_t>(position_);
    PutString(std::move(column_table));
    const auto global_table_at = static_cast<uint64_t>(position_);
    std::string tail;
    for (const auto& [position, size] : globals) {
      AppendLittle<uint64_t>(&tail, position);
      AppendLittle<uint64_t>(&tail, size);
    }
    AppendLittle<uint64_t>(&tail, column_metadata_at);
    AppendLittle<uint64_t>(&tail, column_table_at);
    AppendLittle<uint64_t>(&tail, global_table_at);
    AppendLittle<uint32_t>(&tail, static_cast<uint32_t>(globals.size()));
    AppendLittle<uint32_t>(&tail, num_columns);
    AppendLittle<uint16_t>(&tail, kMajorVersion);
    AppendLittle<uint16_t>(&tail, kMinorVersionWritten);
    tail.append(kFileMagic);
    PutString(std::move(tail));
  }

  void Put(std::shared_ptr<arrow::Buffer> buffer) {
    position_ += buffer->size();
    parts_.push_back(std::move(buffer));
  }
  void PutString(std::string bytes) {
    if (!bytes.empty()) {
      Put(arrow::Buffer::FromString(std::move(bytes)));
    }
  }
  void PadToAlignment() {
    static const std::shared_ptr<arrow::Buffer> kGap =
        arrow::Buffer::FromString(std::string(kBufferAlignment, static_cast<char>(kGapByte)));
    const int64_t gap = AlignUp(position_, kBufferAlignment) - position_;
    if (gap > 0) {
      Put(arrow::SliceBuffer(kGap, 0, gap));
    }
  }

  std::shared_ptr<arrow::Schema> arrow_schema_;
  FileWriterOptions options_;
  const int chunk_log_max_;
  std::vector<ColumnState> columns_;
  std::vector<std::shared_ptr<arrow::Buffer>> parts_;
  bool finished_ = false;
};

FileWriter::FileWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileWriter::~FileWriter() = default;

Result<std::unique_ptr<FileWriter>> FileWriter::Make(Schema schema, FileWriterOptions options) {
  OG_ASSIGN_OR_RETURN(auto arrow_schema, schema.ToArrow());
  auto impl = std::make_unique<Impl>(std::move(schema), std::move(arrow_schema), options);
  OG_RETURN_NOT_OK(impl->Init());
  return std::unique_ptr<FileWriter>(new FileWriter(std::move(impl)));
}

Status FileWriter::Write(const arrow::RecordBatch& batch) {
  return impl_->Write(batch);
}

int64_t FileWriter::rows() const {
  return impl_->rows_;
}

int64_t FileWriter::buffered_bytes() const {
  return impl_->buffered_bytes();
}

int64_t FileWriter::encoded_bytes() const {
  return impl_->position_;
}

int32_t FileWriter::AddGlobalBuffer(std::shared_ptr<arrow::Buffer> buffer) {
  impl_->global_buffers_.push_back(std::move(buffer));
  return static_cast<int32_t>(impl_->global_buffers_.size());
}

void FileWriter::SetSchemaMetadata(std::string_view key, std::string_view value) {
  impl_->schema_.mutable_metadata()[std::string(key)] = std::string(value);
}

Result<EncodedFile> FileWriter::Finish() {
  return impl_->Finish();
}

}  // namespace omnigraph::lance
