/// \file
/// What a file column is in terms of an Arrow type: the levels around a leaf, and the leaf's
/// physical form.
///
/// A page numbers its definition levels by the layers it really has. Inside this folder every layer
/// has its numbers always ("canonical levels"), so that pages with different layers can be joined.
#pragma once

#include <arrow/type.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Physical form of a leaf value. Value type.
struct LeafForm {
  enum class Kind { kNull, kFixed, kVariable };
  Kind kind = Kind::kNull;
  /// kFixed: bits of one primitive item (1 for bool).
  int64_t item_bits = 0;
  /// kFixed: sizes of fixed-size lists around the item, outermost first.
  std::vector<int32_t> dims;
  /// kVariable: 32 or 64.
  int offset_bits = 0;

  int64_t items_per_value() const;
  int64_t value_bits() const { return items_per_value() * item_bits; }
};

/// One level around a leaf.
struct LeafLayer {
  bool is_list = false;
  bool nullable = true;
  /// Canonical definition level of a null here.
  uint16_t null_level = 0;
  /// Canonical definition level of an empty list here; lists only.
  uint16_t empty_level = 0;
  /// Repetition level at which a new list of this layer starts; lists only.
  uint16_t rep_level = 0;
};

/// The way from a top-level field to one leaf. Value type.
struct LeafPath {
  /// Innermost first; the leaf's own item layer is number 0.
  std::vector<LeafLayer> layers;
  std::shared_ptr<arrow::DataType> type;
  LeafForm form;
  /// Repetition level of a new row; 0 = no lists.
  uint16_t row_level = 0;
  /// Largest canonical definition level.
  uint16_t max_level = 0;
  /// Slots with this definition level or a higher one hold no value (null and empty lists).
  uint16_t special_level = 0xFFFF;
};

/// The leaves of `field`, depth first. Errors: kUnsupported (`lance.schema.type`).
Result<std::vector<LeafPath>> LeafPathsOf(const arrow::Field& field);

}  // namespace omnigraph::lance
