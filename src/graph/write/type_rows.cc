#include "omnigraph/graph/write/type_rows.h"

#include <arrow/api.h>

#include <utility>

#include "omnigraph/graph/schema/physical.h"
#include "staged_row.h"

namespace omnigraph::write {
namespace {

using schema::PropertyType;
using schema::ScalarType;

Status AppendText(arrow::ArrayBuilder* builder, std::string_view text) {
  return static_cast<arrow::StringBuilder*>(builder)->Append(
      reinterpret_cast<const uint8_t*>(text.data()), static_cast<int32_t>(text.size()));
}

/// Append a value of a known scalar type; builders are final classes, so the calls are direct.
Status AppendScalar(ScalarType type, const StagedValue& value, arrow::ArrayBuilder* builder) {
  switch (type) {
    case ScalarType::kString:
      return AppendText(builder, value.text);
    case ScalarType::kBool:
      return static_cast<arrow::BooleanBuilder*>(builder)->Append(value.integer != 0);
    case ScalarType::kI32:
      return static_cast<arrow::Int32Builder*>(builder)->Append(
          static_cast<int32_t>(value.integer));
    case ScalarType::kI64:
      return static_cast<arrow::Int64Builder*>(builder)->Append(value.integer);
    case ScalarType::kU32:
      return static_cast<arrow::UInt32Builder*>(builder)->Append(
          static_cast<uint32_t>(value.natural));
    case ScalarType::kU64:
      return static_cast<arrow::UInt64Builder*>(builder)->Append(value.natural);
    case ScalarType::kF32:
      return static_cast<arrow::FloatBuilder*>(builder)->Append(value.single);
    case ScalarType::kF64:
      return static_cast<arrow::DoubleBuilder*>(builder)->Append(value.real);
    case ScalarType::kDate:
      return static_cast<arrow::Date32Builder*>(builder)->Append(
          static_cast<int32_t>(value.integer));
    case ScalarType::kDateTime:
      return static_cast<arrow::TimestampBuilder*>(builder)->Append(value.integer);
    case ScalarType::kBlob:
      return static_cast<arrow::LargeBinaryBuilder*>(builder)->Append(
          reinterpret_cast<const uint8_t*>(value.text.data()),
          static_cast<int64_t>(value.text.size()));
  }
  return Status::OK();
}

/// The filling of a column that may not be null in a tombstone: "", 0, false or an empty list.
Status AppendFilling(const PropertyType& type, arrow::ArrayBuilder* builder) {
  const StagedValue zero;
  switch (type.form) {
    case PropertyType::Form::kScalar:
      return AppendScalar(type.scalar, zero, builder);
    case PropertyType::Form::kEnum:
      return AppendText(builder, {});
    case PropertyType::Form::kList:
      return static_cast<arrow::ListBuilder*>(builder)->Append();
    case PropertyType::Form::kVector: {
      auto* list = static_cast<arrow::FixedSizeListBuilder*>(builder);
      OG_RETURN_NOT_OK(list->Append());
      auto* floats = static_cast<arrow::FloatBuilder*>(list->value_builder());
      const std::vector<float> zeros(static_cast<size_t>(type.dimension), 0.0f);
      return floats->AppendValues(zeros.data(), type.dimension);
    }
  }
  return Status::OK();
}

Status AppendNull(const PropertyType& type, arrow::ArrayBuilder* builder) {
  if (type.form != PropertyType::Form::kVector) {
    return builder->AppendNull();
  }
  // The values under a null vector are null too: one rule for every reader.
  return static_cast<arrow::FixedSizeListBuilder*>(builder)->AppendNull();
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
  std::vector<std::unique_ptr<arrow::ArrayBuilder>> columns;
  std::vector<int> column_of;  ///< by property; 0 for a key named `id`
  int64_t row_width = 0;       ///< bytes of the columns of fixed width
  std::vector<int64_t> lines;
  std::vector<uint8_t> minted;
  int64_t bytes = 0;

  Status AppendProperty(const StagedRow& row, size_t index) {
    const PropertyType& property = type->properties[index].type;
    arrow::ArrayBuilder* builder = columns[static_cast<size_t>(column_of[index])].get();
    const StagedValue& value = row.values[index];
    if (row.tombstone || !value.has_value()) {
      return property.nullable ? AppendNull(property, builder) : AppendFilling(property, builder);
    }
    switch (property.form) {
      case PropertyType::Form::kScalar:
        bytes += static_cast<int64_t>(value.text.size());
        return AppendScalar(property.scalar, value, builder);
      case PropertyType::Form::kEnum:
        bytes += static_cast<int64_t>(value.text.size());
        return AppendText(builder, value.text);
      case PropertyType::Form::kList: {
        auto* list = static_cast<arrow::ListBuilder*>(builder);
        OG_RETURN_NOT_OK(list->Append());
        for (uint32_t i = value.begin; i < value.end; ++i) {
          const StagedValue& item = row.items[i];
          bytes += 8 + static_cast<int64_t>(item.text.size());
          OG_RETURN_NOT_OK(AppendScalar(property.scalar, item, list->value_builder()));
        }
        return Status::OK();
      }
      case PropertyType::Form::kVector: {
        auto* list = static_cast<arrow::FixedSizeListBuilder*>(builder);
        OG_RETURN_NOT_OK(list->Append());
        return static_cast<arrow::FloatBuilder*>(list->value_builder())
            ->AppendValues(row.floats.data() + value.begin, value.end - value.begin);
      }
    }
    return Status::OK();
  }

  Status AppendRow(const StagedRow& row) {
    OG_RETURN_NOT_OK(AppendText(columns[0].get(), row.id));
    if (type->is_edge()) {
      OG_RETURN_NOT_OK(AppendText(columns[1].get(), row.src));
      OG_RETURN_NOT_OK(AppendText(columns[2].get(), row.dst));
    }
    for (size_t i = 0; i < column_of.size(); ++i) {
      if (column_of[i] != 0) {
        OG_RETURN_NOT_OK(AppendProperty(row, i));
      }
    }
    return static_cast<arrow::BooleanBuilder*>(columns.back().get())->Append(row.tombstone);
  }
};

TypeRows::TypeRows(const schema::TypeDef& type) : impl_(std::make_unique<Impl>()) {
  impl_->type = &type;
  impl_->schema = schema::ArrowLogSchemaOf(type);
  for (const auto& field : impl_->schema->fields()) {
    // MakeBuilder fails only for types that ArrowLogSchemaOf never makes.
    auto builder = arrow::MakeBuilder(field->type(), arrow::default_memory_pool());
    OG_CHECK_OK(builder);
    impl_->columns.push_back(std::move(builder).ValueUnsafe());
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
  RowBatch out;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  for (const auto& builder : impl_->columns) {
    std::shared_ptr<arrow::Array> array;
    if (const Status status = builder->Finish(&array); !status.ok()) {
      return Exhausted("row.memory",
                       "no memory for the rows of " + impl_->type->name + ": " + status.message());
    }
    arrays.push_back(std::move(array));
  }
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
