#include "key_column.h"

#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "omnigraph/lance/file/file_reader.h"
#include "omnigraph/lance/file/schema.h"

namespace omnigraph::lance {
namespace {

constexpr uint64_t kBatchRows = 64 * 1024;

}  // namespace

Result<KeyColumn> FindKeyColumn(const Table& table, std::string_view name) {
  const Field* field = table.lance_schema()->FindField(name);
  const std::shared_ptr<arrow::Field> typed = table.schema()->GetFieldByName(std::string(name));
  if (field == nullptr || typed == nullptr || typed->type()->id() != arrow::Type::STRING) {
    return Invalid("index.column",
                   fmt::format("table {} has no utf8 column '{}' to find keys in",
                               table.location().path, name),
                   {.object = table.location().path, .property = std::string(name)});
  }
  return KeyColumn{field->id, typed};
}

Status VisitKeys(
    const Table& table, const std::vector<DataFileRef>& files, uint64_t rows,
    const KeyColumn& column,
    const std::function<Status(std::shared_ptr<arrow::StringArray>, uint64_t)>& visit) {
  // A later file of a fragment stands over an earlier one.
  for (auto ref_at = files.rbegin(); ref_at != files.rend(); ++ref_at) {
    const DataFileRef& ref = *ref_at;
    const auto at = std::ranges::find(ref.field_ids, column.field_id);
    if (at == ref.field_ids.end()) {
      continue;
    }
    const int32_t place = ref.column_indices[static_cast<size_t>(at - ref.field_ids.begin())];
    if (place < 0) {
      continue;
    }
    OG_ASSIGN_OR_RETURN(const auto file, table.OpenDataFile(ref));
    if (static_cast<uint64_t>(file->rows()) != rows) {
      return Corruption("fragment.row_count",
                        fmt::format("data file {} has {} rows; its fragment of {} has {}",
                                    file->path(), file->rows(), table.location().path, rows),
                        file->path());
    }
    const ColumnRequest request{column.field, {place}};
    for (uint64_t begin = 0; begin < rows; begin += kBatchRows) {
      const uint64_t count = std::min(kBatchRows, rows - begin);
      OG_ASSIGN_OR_RETURN(const auto batch,
                          file->ReadRange(std::span(&request, 1), static_cast<int64_t>(begin),
                                          static_cast<int64_t>(count)));
      OG_RETURN_NOT_OK(
          visit(std::static_pointer_cast<arrow::StringArray>(batch->column(0)), begin));
    }
    return Status::OK();
  }
  return Status::OK();
}

}  // namespace omnigraph::lance
