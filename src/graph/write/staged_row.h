/// \file
/// One row between its checks and its columns: nothing is appended before all of a line is good.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "omnigraph/graph/schema/catalog.h"

namespace omnigraph::write {

/// A value of a property. Text is borrowed from the line or the parser and lives until the next
/// line.
struct StagedValue {
  enum class State : uint8_t { kAbsent, kNull, kValue };

  State state = State::kAbsent;
  /// By the property's type: bool, integers and dates in `integer` (unsigned ones in `natural`),
  /// F32 in `single`, F64 in `real`.
  union {
    int64_t integer = 0;
    uint64_t natural;
    float single;
    double real;
  };
  std::string_view text;  ///< String, enum, Blob
  uint32_t begin = 0;     ///< list and vector: range in StagedRow::items or ::floats
  uint32_t end = 0;

  bool has_value() const { return state == State::kValue; }
};

/// REQUIRES of users: text members stay valid until TypeRows::Append returns.
struct StagedRow {
  const schema::TypeDef* type = nullptr;
  std::string_view id;
  std::string_view src;
  std::string_view dst;
  bool tombstone = false;
  bool minted = false;
  int64_t line = 0;
  std::vector<StagedValue> values;  ///< by property index
  std::vector<StagedValue> items;   ///< elements of lists
  std::vector<float> floats;        ///< elements of vectors
};

}  // namespace omnigraph::write
