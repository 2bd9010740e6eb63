#include "omnigraph/graph/write/line_error.h"

#include <utility>

namespace omnigraph::write {

Status ToStatus(const LineError& error, std::string object) {
  Place place;
  place.object = std::move(object);
  place.line = error.line;
  place.column = error.column;
  place.property = error.type;
  if (!error.property.empty()) {
    place.property += (place.property.empty() ? "" : ".") + error.property;
  }
  return Invalid(error.code, error.message, std::move(place));
}

}  // namespace omnigraph::write
