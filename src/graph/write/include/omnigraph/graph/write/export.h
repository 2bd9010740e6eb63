/// \file
/// Rows back to NDJSON: the lines of an export, and the canonical JSON of a refused row.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::write {

/// Append row `row` of `batch` as one JSON object without a line end.
///
/// `{"type":..,"id":..,"data":{..}}` or `{"edge":..,"id":..,"from":..,"to":..,"data":{..}}`, data
/// in the order of columns, nulls omitted, dates as text; a tombstone is
/// `{"type":..,"id":..,"op":"delete"}`. RowParser reads it back to the same row.
///
/// Shape:  `batch` has the columns of ArrowSchemaOf(type) or ArrowLogSchemaOf(type).
/// Errors: kInternal (`row.shape`) when it has not.
Status AppendRowJson(const schema::TypeDef& type, const arrow::RecordBatch& batch, int64_t row,
                     std::string* out);

/// Append row `row` of any batch as one JSON object of its own columns, without a line end: for
/// rows that fit no type. Bytes (and text that is not UTF-8) are `"base64:..."`, what JSON has no
/// value for is text. REQUIRES: 0 <= row < batch.num_rows().
void AppendColumnsJson(const arrow::RecordBatch& batch, int64_t row, std::string* out);

/// Append every row of `batch`, one line each.
Status AppendExportLines(const schema::TypeDef& type, const arrow::RecordBatch& batch,
                         std::string* out);

}  // namespace omnigraph::write
