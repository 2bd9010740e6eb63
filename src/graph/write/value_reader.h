/// \file
/// Values of properties: from a JSON value to a checked StagedValue.
#pragma once

#include <simdjson.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "omnigraph/graph/schema/catalog.h"
#include "pattern.h"
#include "staged_row.h"

namespace omnigraph::write {

/// Why a value was refused, and where in the line.
struct Fault {
  const char* at = nullptr;  ///< nullptr: the whole line
  const char* code = "";
  std::string message;
};

/// The rules of one property, ready to run.
struct PropertyPlan {
  const schema::Property* property = nullptr;
  std::vector<const schema::RangeRule*> ranges;
  std::vector<const schema::CheckRule*> checks;
  std::vector<std::unique_ptr<Pattern>> patterns;  ///< one per check
};

/// Errors: kInvalid (`schema.check_pattern`).
Result<std::vector<PropertyPlan>> PlanProperties(const schema::TypeDef& type);

/// The raw text of a value, white space behind it cut off. Arrays and objects: their bracket.
std::string_view TokenOf(simdjson::ondemand::value& value);

/// A token for a message, cut to a readable length at a character border.
std::string Shown(std::string_view token);

/// Read a JSON string. Borrowed from the line where it holds no escapes, else from the parser.
/// `name` is what messages call it.
bool ReadText(std::string_view name, simdjson::ondemand::value value, std::string_view token,
              std::string_view* out, Fault* fault);

/// Read the value of a property into `row->values[index]`, elements into the row's own lists.
///
/// Owner: decoded bytes live in `scratch`.
bool ReadValue(const PropertyPlan& plan, size_t index, simdjson::ondemand::value value,
               StagedRow* row, std::deque<std::string>* scratch, Fault* fault);

}  // namespace omnigraph::write
