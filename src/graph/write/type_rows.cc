#include "omnigraph/graph/write/type_rows.h"

#include <arrow/record_batch.h>

#include <utility>

#include "column_values.h"
#include "omnigraph/graph/schema/physical.h"
#include "staged_row.h"

namespace omnigraph::write {
namespace {

using schema::PropertyType;
using schema::ScalarType;

/// Append a value of a known scalar type.
Status AppendScalar(ScalarType type, const StagedValue& value, ColumnValues* column) {
  switch (type) {
    case ScalarType::kString:
    case ScalarType::kBlob:
      return column->AppendBytes(value.text);
    case ScalarType::kBool:
      column->AppendBool(value.integer != 0);
      break;
    case ScalarType::kI32:
    case ScalarType::kDate:
      column->AppendNumber(static_cast<int32_t>(value.integer));
      break;
    case ScalarType::kI64:
    case ScalarType::kDateTime:
      column->AppendNumber(value.integer);
      break;
    case ScalarType::kU32:
      column->AppendNumber(static_cast<uint32_t>(value.natural));
      break;
    case ScalarType::kU64:
      column->AppendNumber(value.natural);
      break;
    case ScalarType::kF32:
      column->AppendNumber(value.single);
      break;
    case ScalarType::kF64:
      column->AppendNumber(value.real);
      break;
  }
  return Status::OK();
}

int64_t WidthOf(const PropertyType& type) {
  if (type.form == PropertyType::Form::kVector) {
    return 4 * int64_t{type.dimension};
  }
  return 8;
}

}  // namespace

struct TypeRows::Impl {
  const schema::TypeDef* type = nullptr;
  std::shared_ptr<arrow::Schema> schema;
  std::vector<ColumnValues> columns;
  std::vector<int> column_of;  ///< by property; 0 for a key named `id`
  int64_t row_width = 0;       ///< bytes of the columns of fixed width
  std::vector<int64_t> lines;
  std::vector<uint8_t> minted;
  int64_t bytes = 0;

  Status AppendProperty(const StagedRow& row, size_t index) {
    const PropertyType& property = type->properties[index].type;
    ColumnValues& column = columns[static_cast<size_t>(column_of[index])];
    const StagedValue& value = row.values[index];
    if (row.tombstone || !value.has_value()) {
      property.nullable ? column.AppendNull() : column.AppendFilling();
      return Status::OK();
    }
    switch (property.form) {
      case PropertyType::Form::kScalar:
        bytes += static_cast<int64_t>(value.text.size());
        return AppendScalar(property.scalar, value, &column);
      case PropertyType::Form::kEnum:
        bytes += static_cast<int64_t>(value.text.size());
        return column.AppendBytes(value.text);
      case PropertyType::Form::kList:
        for (uint32_t i = value.begin; i < value.end; ++i) {
          const StagedValue& item = row.items[i];
          bytes += 8 + static_cast<int64_t>(item.text.size());
          OG_RETURN_NOT_OK(AppendScalar(property.scalar, item, &column.items()));
        }
        column.AppendList();
        return Status::OK();
      case PropertyType::Form::kVector:
        for (uint32_t i = value.begin; i < value.end; ++i) {
          column.items().AppendNumber(row.floats[i]);
        }
        column.AppendList();
        return Status::OK();
    }
    return Status::OK();
  }

  Status AppendRow(const StagedRow& row) {
    OG_RETURN_NOT_OK(columns[0].AppendBytes(row.id));
    if (type->is_edge()) {
      OG_RETURN_NOT_OK(columns[1].AppendBytes(row.src));
      OG_RETURN_NOT_OK(columns[2].AppendBytes(row.dst));
    }
    for (size_t i = 0; i < column_of.size(); ++i) {
      if (column_of[i] != 0) {
        OG_RETURN_NOT_OK(AppendProperty(row, i));
      }
    }
    columns.back().AppendBool(row.tombstone);
    return Status::OK();
  }
};

TypeRows::TypeRows(const schema::TypeDef& type) : impl_(std::make_unique<Impl>()) {
  impl_->type = &type;
  impl_->schema = schema::ArrowLogSchemaOf(type);
  for (const auto& field : impl_->schema->fields()) {
    impl_->columns.emplace_back(field->type());
  }
  for (size_t i = 0; i < type.properties.size(); ++i) {
    impl_->column_of.push_back(schema::ColumnOf(type, static_cast<int>(i)));
    impl_->row_width += WidthOf(type.properties[i].type);
  }
  impl_->row_width += type.is_edge() ? 16 : 8;
}

TypeRows::~TypeRows() = default;
TypeRows::TypeRows(TypeRows&&) noexcept = default;
TypeRows& TypeRows::operator=(TypeRows&&) noexcept = default;

int64_t TypeRows::rows() const {
  return static_cast<int64_t>(impl_->lines.size());
}

int64_t TypeRows::bytes() const {
  return impl_->bytes;
}

Status TypeRows::Append(const StagedRow& row) {
  const Status status = impl_->AppendRow(row);
  if (!status.ok()) {
    return Exhausted("row.memory",
                     "no memory for the rows of " + impl_->type->name + ": " + status.message());
  }
  impl_->lines.push_back(row.line);
  impl_->minted.push_back(row.minted ? 1 : 0);
  impl_->bytes +=
      impl_->row_width + static_cast<int64_t>(row.id.size() + row.src.size() + row.dst.size());
  return Status::OK();
}

Result<RowBatch> TypeRows::Finish() {
  int64_t bytes = 0;
  for (const ColumnValues& column : impl_->columns) {
    bytes += column.padded_bytes();
  }
  BatchMemory memory(bytes);
  std::vector<std::shared_ptr<arrow::ArrayData>> arrays;
  arrays.reserve(impl_->columns.size());
  for (ColumnValues& column : impl_->columns) {
    arrays.push_back(column.Take(&memory));
  }
  RowBatch out;
  out.batch = arrow::RecordBatch::Make(impl_->schema, rows(), std::move(arrays));
  out.lines = std::exchange(impl_->lines, {});
  out.minted = std::exchange(impl_->minted, {});
  impl_->bytes = 0;
  return out;
}

RowSet::RowSet(std::shared_ptr<const schema::Catalog> catalog) : catalog_(std::move(catalog)) {
  types_.reserve(catalog_->types().size());
  for (const schema::TypeDef& type : catalog_->types()) {
    types_.emplace_back(type);
  }
}

int64_t RowSet::rows() const {
  int64_t rows = 0;
  for (const TypeRows& type : types_) {
    rows += type.rows();
  }
  return rows;
}

int64_t RowSet::bytes() const {
  int64_t bytes = 0;
  for (const TypeRows& type : types_) {
    bytes += type.bytes();
  }
  return bytes;
}

}  // namespace omnigraph::write
