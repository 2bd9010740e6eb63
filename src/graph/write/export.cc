#include "omnigraph/graph/write/export.h"

#include <arrow/api.h>
#include <arrow/type_traits.h>
#include <arrow/util/utf8.h>

#include <cmath>
#include <vector>

#include "omnigraph/graph/schema/physical.h"
#include "omnigraph/graph/schema/value_text.h"

namespace omnigraph::write {
namespace {

using schema::PropertyType;
using schema::ScalarType;
using schema::TypeDef;

template <typename Array>
const Array& As(const arrow::Array& array) {
  return static_cast<const Array&>(array);
}

template <typename T>
void AppendReal(T value, std::string* out) {
  // What no JSON number can say; admission never stores it.
  if (!std::isfinite(value)) {
    out->append("null");
    return;
  }
  schema::AppendFloat(value, out);
}

void AppendScalar(ScalarType type, const arrow::Array& array, int64_t row, std::string* out) {
  switch (type) {
    case ScalarType::kString:
      schema::AppendJsonString(As<arrow::StringArray>(array).GetView(row), out);
      break;
    case ScalarType::kBool:
      out->append(As<arrow::BooleanArray>(array).Value(row) ? "true" : "false");
      break;
    case ScalarType::kI32:
      out->append(std::to_string(As<arrow::Int32Array>(array).Value(row)));
      break;
    case ScalarType::kI64:
      out->append(std::to_string(As<arrow::Int64Array>(array).Value(row)));
      break;
    case ScalarType::kU32:
      out->append(std::to_string(As<arrow::UInt32Array>(array).Value(row)));
      break;
    case ScalarType::kU64:
      out->append(std::to_string(As<arrow::UInt64Array>(array).Value(row)));
      break;
    case ScalarType::kF32:
      AppendReal(As<arrow::FloatArray>(array).Value(row), out);
      break;
    case ScalarType::kF64:
      AppendReal(As<arrow::DoubleArray>(array).Value(row), out);
      break;
    case ScalarType::kDate:
      out->push_back('"');
      out->append(schema::FormatDate(As<arrow::Date32Array>(array).Value(row)));
      out->push_back('"');
      break;
    case ScalarType::kDateTime:
      out->push_back('"');
      out->append(schema::FormatDateTime(As<arrow::TimestampArray>(array).Value(row)));
      out->push_back('"');
      break;
    case ScalarType::kBlob:
      out->append("\"base64:");
      out->append(schema::EncodeBase64(As<arrow::LargeBinaryArray>(array).GetView(row)));
      out->push_back('"');
      break;
  }
}

void AppendElements(ScalarType type, const arrow::Array& values, int64_t begin, int64_t end,
                    std::string* out) {
  out->push_back('[');
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) {
      out->push_back(',');
    }
    if (values.IsNull(i)) {
      out->append("null");
    } else {
      AppendScalar(type, values, i, out);
    }
  }
  out->push_back(']');
}

void AppendValue(const PropertyType& type, const arrow::Array& array, int64_t row,
                 std::string* out) {
  switch (type.form) {
    case PropertyType::Form::kScalar:
      AppendScalar(type.scalar, array, row, out);
      break;
    case PropertyType::Form::kEnum:
      AppendScalar(ScalarType::kString, array, row, out);
      break;
    case PropertyType::Form::kList: {
      const auto& list = As<arrow::ListArray>(array);
      AppendElements(type.scalar, *list.values(), list.value_offset(row),
                     list.value_offset(row + 1), out);
      break;
    }
    case PropertyType::Form::kVector: {
      const auto& list = As<arrow::FixedSizeListArray>(array);
      AppendElements(ScalarType::kF32, *list.values(), list.value_offset(row),
                     list.value_offset(row + 1), out);
      break;
    }
  }
}

void AppendBytes(std::string_view bytes, std::string* out) {
  out->append("\"base64:");
  out->append(schema::EncodeBase64(bytes));
  out->push_back('"');
}

void AppendText(std::string_view text, std::string* out) {
  if (arrow::util::ValidateUTF8(text)) {
    schema::AppendJsonString(text, out);
  } else {
    AppendBytes(text, out);
  }
}

void AppendAny(const arrow::Scalar& value, std::string* out);

void AppendAnyElements(const arrow::Array& values, std::string* out) {
  out->push_back('[');
  for (int64_t i = 0; i < values.length(); ++i) {
    out->append(i == 0 ? "" : ",");
    const auto element = values.GetScalar(i);
    OG_CHECK_OK(element);
    AppendAny(**element, out);
  }
  out->push_back(']');
}

/// A value of whatever type.
void AppendAny(const arrow::Scalar& value, std::string* out) {
  const arrow::Type::type id = value.type->id();
  if (!value.is_valid) {
    out->append("null");
  } else if (arrow::is_integer(id) || id == arrow::Type::BOOL) {
    out->append(value.ToString());
  } else if (id == arrow::Type::FLOAT) {
    AppendReal(static_cast<const arrow::FloatScalar&>(value).value, out);
  } else if (id == arrow::Type::DOUBLE) {
    AppendReal(static_cast<const arrow::DoubleScalar&>(value).value, out);
  } else if (arrow::is_string(id)) {
    AppendText(static_cast<const arrow::BaseBinaryScalar&>(value).view(), out);
  } else if (arrow::is_base_binary_like(id) || id == arrow::Type::FIXED_SIZE_BINARY) {
    AppendBytes(static_cast<const arrow::BaseBinaryScalar&>(value).view(), out);
  } else if (arrow::is_list_like(id)) {
    AppendAnyElements(*static_cast<const arrow::BaseListScalar&>(value).value, out);
  } else {
    AppendText(value.ToString(), out);
  }
}

/// A type's columns, checked once so that every cast above is right.
class RowPrinter {
 public:
  static Result<RowPrinter> Make(const TypeDef& type, const arrow::RecordBatch& batch) {
    const auto wanted = schema::ArrowLogSchemaOf(type);
    const int columns = batch.num_columns();
    if (columns != wanted->num_fields() && columns != wanted->num_fields() - 1) {
      return Internal("row.shape",
                      "a batch of " + type.name + " has " + std::to_string(columns) + " columns");
    }
    for (int i = 0; i < columns; ++i) {
      if (!batch.schema()->field(i)->type()->Equals(*wanted->field(i)->type())) {
        return Internal("row.shape", "column " + wanted->field(i)->name() + " of " + type.name +
                                         " is " + batch.schema()->field(i)->type()->ToString());
      }
    }
    RowPrinter printer(type, batch);
    for (size_t i = 0; i < type.properties.size(); ++i) {
      printer.columns_.push_back(batch.column(schema::ColumnOf(type, static_cast<int>(i))));
    }
    if (columns == wanted->num_fields()) {
      printer.tombstone_ = batch.column(columns - 1);
    }
    return printer;
  }

  void Append(int64_t row, std::string* out) const {
    out->append(type_.is_node() ? "{\"type\":" : "{\"edge\":");
    schema::AppendJsonString(type_.name, out);
    AppendSystem(0, ",\"id\":", row, out);
    if (tombstone_ != nullptr && As<arrow::BooleanArray>(*tombstone_).Value(row)) {
      out->append(",\"op\":\"delete\"}");
      return;
    }
    if (type_.is_edge()) {
      AppendSystem(1, ",\"from\":", row, out);
      AppendSystem(2, ",\"to\":", row, out);
    }
    out->append(",\"data\":{");
    bool first = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i]->IsNull(row)) {
        continue;
      }
      if (!first) {
        out->push_back(',');
      }
      first = false;
      schema::AppendJsonString(type_.properties[i].name, out);
      out->push_back(':');
      AppendValue(type_.properties[i].type, *columns_[i], row, out);
    }
    out->append("}}");
  }

 private:
  RowPrinter(const TypeDef& type, const arrow::RecordBatch& batch) : type_(type) {
    for (int i = 0; i < (type.is_edge() ? 3 : 1); ++i) {
      system_.push_back(batch.column(i));
    }
  }

  void AppendSystem(size_t column, const char* key, int64_t row, std::string* out) const {
    out->append(key);
    schema::AppendJsonString(As<arrow::StringArray>(*system_[column]).GetView(row), out);
  }

  const TypeDef& type_;
  std::vector<std::shared_ptr<arrow::Array>> system_;
  std::vector<std::shared_ptr<arrow::Array>> columns_;
  std::shared_ptr<arrow::Array> tombstone_;
};

}  // namespace

Status AppendRowJson(const TypeDef& type, const arrow::RecordBatch& batch, int64_t row,
                     std::string* out) {
  if (row < 0 || row >= batch.num_rows()) {
    return Internal("row.shape", "row " + std::to_string(row) + " of a batch of " +
                                     std::to_string(batch.num_rows()));
  }
  OG_ASSIGN_OR_RETURN(const RowPrinter printer, RowPrinter::Make(type, batch));
  printer.Append(row, out);
  return Status::OK();
}

void AppendColumnsJson(const arrow::RecordBatch& batch, int64_t row, std::string* out) {
  OG_CHECK(row >= 0 && row < batch.num_rows());
  arrow::util::InitializeUTF8();
  out->push_back('{');
  for (int i = 0; i < batch.num_columns(); ++i) {
    out->append(i == 0 ? "" : ",");
    AppendText(batch.schema()->field(i)->name(), out);
    out->push_back(':');
    const auto value = batch.column(i)->GetScalar(row);
    OG_CHECK_OK(value);
    AppendAny(**value, out);
  }
  out->push_back('}');
}

Status AppendExportLines(const TypeDef& type, const arrow::RecordBatch& batch, std::string* out) {
  OG_ASSIGN_OR_RETURN(const RowPrinter printer, RowPrinter::Make(type, batch));
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    printer.Append(row, out);
    out->push_back('\n');
  }
  return Status::OK();
}

}  // namespace omnigraph::write
