/// \file
/// Schema of a Lance file or table: a flat list of fields with ids, and its two-way mapping to
/// Arrow.
///
/// Field ids are what a table maps to file columns; names are only labels. Bytes:
/// docs/format/lance-file.md.
#pragma once

#include <arrow/type.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// One field of a Lance schema. Value type.
struct Field {
  int32_t id = 0;
  /// Id of the field around this one; -1 at the top level.
  int32_t parent_id = -1;
  std::string name;
  /// Lance's spelling of the type, for example `string` or `timestamp:ms:UTC`.
  std::string logical_type;
  bool nullable = true;
  /// Arrow field metadata and Lance's own keys.
  std::map<std::string, std::string> metadata;
  /// Position in the unenforced primary key, counting from 1; 0 = not part of it.
  uint32_t primary_key_position = 0;
  /// Wire form of everything in the message that is not modelled above; written back unchanged.
  std::string carried;

  bool operator==(const Field&) const = default;
};

/// Fields depth first (parents before children) and schema metadata. Value type.
class Schema {
 public:
  Schema() = default;
  Schema(std::vector<Field> fields, std::map<std::string, std::string> metadata)
      : fields_(std::move(fields)), metadata_(std::move(metadata)) {}

  /// Map an Arrow schema; ids count depth first from `first_id`. A fixed-size list of a primitive
  /// is one field (its item's name and nullability are not kept by the format); a dictionary type
  /// becomes its value type.
  ///
  /// Errors: kUnsupported (`lance.schema.type`) for a type without a Lance spelling or that this
  ///         implementation cannot store.
  static Result<Schema> FromArrow(const arrow::Schema& schema, int32_t first_id = 0);

  /// The Arrow schema; field metadata and schema metadata are carried over. Items of fixed-size
  /// lists are named `item` and nullable; `dict:V:K` gives V.
  ///
  /// Errors: kUnsupported (`lance.schema.logical_type`), kCorruption (`lance.schema.tree`) when
  /// parents
  ///         and children do not form a tree that fits the logical types.
  Result<std::shared_ptr<arrow::Schema>> ToArrow() const;

  const std::vector<Field>& fields() const { return fields_; }
  std::vector<Field>& mutable_fields() { return fields_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  std::map<std::string, std::string>& mutable_metadata() { return metadata_; }

  /// Top-level field of this exact name, or nullptr. Borrowed from this schema.
  const Field* FindField(std::string_view name) const;
  /// Field of this id, or nullptr. Borrowed from this schema.
  const Field* FindField(int32_t id) const;
  /// Largest id in use; -1 when there is none.
  int32_t max_field_id() const;
  /// Top-level fields, in order.
  std::vector<const Field*> TopLevelFields() const;
  /// Ids of the leaves below the field `id` (itself when it is a leaf), depth first: one per file
  /// column.
  std::vector<int32_t> LeafIds(int32_t id) const;
  /// Leaf ids of all top-level fields, in order: the columns of a file that holds the whole schema.
  std::vector<int32_t> LeafIds() const;
  /// The schema of only these top-level fields, in the given order, ids unchanged.
  /// Errors: kNotFound (`lance.schema.field`).
  Result<Schema> Project(const std::vector<std::string>& names) const;

  bool operator==(const Schema&) const = default;

 private:
  std::vector<Field> fields_;
  std::map<std::string, std::string> metadata_;
};

/// Number of file columns (leaves) that a column of this type has.
int CountLeaves(const arrow::DataType& type);

/// Wire form (protobuf message) of one field, as manifests and files hold it. Deterministic.
std::string EncodeField(const Field& field);
/// Errors: kCorruption (`lance.proto`) that names `object`.
Result<Field> DecodeField(std::string_view bytes, std::string_view object);

}  // namespace omnigraph::lance
