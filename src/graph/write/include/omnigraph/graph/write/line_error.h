/// \file
/// Why a line was refused. Codes: docs/errors.md.
#pragma once

#include <cstdint>
#include <string>

#include "omnigraph/base/status.h"

namespace omnigraph::write {

/// Value type.
struct LineError {
  int64_t line = 0;
  int64_t column = 0;   ///< bytes, from 1; 0 where the whole line is meant
  std::string code;     ///< `row.*`
  std::string message;  ///< one sentence, in the user's own names
  std::string type;     ///< type name, where it is known
  std::string property;
};

/// The same as an error of kind kInvalid. `object` names the input.
Status ToStatus(const LineError& error, std::string object = {});

}  // namespace omnigraph::write
