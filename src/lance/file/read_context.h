/// \file
/// Names the object in errors of the decoders.
#pragma once

#include <string>
#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::lance {

/// Which object is being decoded. Borrowed name; Thread-compatible.
struct ReadContext {
  std::string_view object;

  /// Stored bytes break the format. `area` is the last part of the code.
  Status Corrupt(std::string_view area, std::string_view what) const {
    return Corruption("lance.file." + std::string(area), "read a data file: " + std::string(what),
                      object);
  }
  /// Valid, but not built.
  Status NotBuilt(std::string_view what) const {
    return Unsupported("lance.file.encoding", "read a data file: " + std::string(what),
                       Place{.object = std::string(object)});
  }
};

}  // namespace omnigraph::lance
