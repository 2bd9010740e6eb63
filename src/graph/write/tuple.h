/// \file
/// Tuples of key and `@unique` members, read from Arrow columns as bytes that are equal exactly
/// when the values are.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::write {

/// The name of a member as users write it: `from`, `to` or the property.
std::string MemberName(const schema::TypeDef& type, const schema::Member& member);
/// The physical columns of members.
std::vector<std::string> MemberColumns(const schema::TypeDef& type,
                                       const std::vector<schema::Member>& members);

/// Characters outside ASCII as `\u{..}`, the rest as it is.
std::string EscapeNonAscii(std::string_view text);

/// Reads tuples of one batch. Borrows nothing.
class TupleReader {
 public:
  /// `batch` has the columns of the type's table.
  TupleReader(const schema::TypeDef& type, const std::vector<schema::Member>& members,
              const arrow::RecordBatch& batch);
  /// The first `members` columns of `batch` are the tuple.
  TupleReader(size_t members, const arrow::RecordBatch& batch);

  /// False if a member is null: such a row is exempt.
  bool Read(int64_t row, std::string* bytes) const;
  /// The values, for messages.
  std::string Shown(int64_t row) const;

 private:
  std::vector<std::shared_ptr<arrow::Array>> columns_;
};

}  // namespace omnigraph::write
