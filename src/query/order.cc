// Sorting by Arrow's kernels, with nulls as the least values.
#include <arrow/compute/api.h>

#include <algorithm>
#include <string>
#include <utility>

#include "project.h"

namespace omnigraph::query {
namespace {

namespace compute = arrow::compute;

/// The sort kernels take no structs and no booleans in every version; small stand-ins do.
Result<Column> Sortable(const Column& values) {
  if (values->type_id() == arrow::Type::STRUCT) {
    return static_cast<const arrow::StructArray&>(*values).GetFieldByName("@id");
  }
  if (values->type_id() == arrow::Type::BOOL) {
    return compute::Cast(*values, arrow::int8());
  }
  return values;
}

}  // namespace

Result<Positions> SortRows(const std::vector<SortColumn>& keys, int64_t rows,
                           std::optional<uint64_t> limit) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  std::vector<compute::SortKey> sort_keys;
  const auto add = [&](const Column& column, bool descending) {
    const std::string name = std::to_string(fields.size());
    fields.push_back(arrow::field(name, column->type()));
    columns.push_back(column);
    sort_keys.emplace_back(
        name, descending ? compute::SortOrder::Descending : compute::SortOrder::Ascending);
  };
  for (const SortColumn& key : keys) {
    OG_ASSIGN_OR_RETURN(const Column values, Sortable(key.values));
    if (values->null_count() > 0) {
      // The kernels put nulls at one end of all keys; validity as a key of its own puts them where
      // each key wants them.
      OG_ASSIGN_OR_RETURN(const arrow::Datum valid, compute::IsValid(values));
      OG_ASSIGN_OR_RETURN(const Column rank, compute::Cast(*valid.make_array(), arrow::int8()));
      add(rank, key.descending);
    }
    add(values, key.descending);
  }
  const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), rows, columns);
  std::shared_ptr<arrow::Array> order;
  if (limit && *limit < static_cast<uint64_t>(rows)) {
    const compute::SelectKOptions options(static_cast<int64_t>(*limit), sort_keys);
    OG_ASSIGN_OR_RETURN(order, compute::SelectKUnstable(arrow::Datum(batch), options));
  } else {
    OG_ASSIGN_OR_RETURN(order,
                        compute::SortIndices(arrow::Datum(batch), compute::SortOptions(sort_keys)));
  }
  OG_ASSIGN_OR_RETURN(const Column positions, compute::Cast(*order, arrow::int32()));
  return std::static_pointer_cast<arrow::Int32Array>(positions);
}

}  // namespace omnigraph::query
