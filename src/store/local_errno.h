/// \file
/// From errno to the store's typed errors.
#pragma once

#include <string_view>

#include "omnigraph/base/status.h"

namespace omnigraph::store {

/// `action` is a verb ("open"), `object` what it was tried on.
Status ErrnoStatus(int error, std::string_view action, std::string_view object);

}  // namespace omnigraph::store
