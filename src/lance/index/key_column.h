/// \file
/// The column that is indexed, read fragment by fragment. Private.
#pragma once

#include <arrow/array.h>
#include <arrow/type.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/manifest.h"
#include "omnigraph/lance/table/table.h"

namespace omnigraph::lance {

/// A utf8 column of a table.
struct KeyColumn {
  int32_t field_id = 0;
  std::shared_ptr<arrow::Field> field;
};

/// Errors: kInvalid (`index.column`) unless `name` is a top-level utf8 column of the table.
Result<KeyColumn> FindKeyColumn(const Table& table, std::string_view name);

/// Visit the column of one fragment, physical rows in order (deleted ones too), in batches of at
/// most 64 Ki rows. Where no file holds the column nothing is visited.
///
/// `visit(keys, offset of its first row)`; an error of it ends the visit.
/// Errors: kCorruption, kUnsupported, any kind from ObjectStore; as Table::OpenDataFile.
Status VisitKeys(const Table& table, const std::vector<DataFileRef>& files, uint64_t rows,
                 const KeyColumn& column,
                 const std::function<Status(std::shared_ptr<arrow::StringArray>, uint64_t)>& visit);

}  // namespace omnigraph::lance
