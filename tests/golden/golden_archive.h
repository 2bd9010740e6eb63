/// \file
/// Golden archives (tests/golden/data) as stores in memory: what an official writer left, ready to
/// be read by our code.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "omnigraph/base/status.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::testing {

/// Files of `tests/golden/data/<name>.tar.gz`, by path inside the archive.
/// Errors: kNotFound, kCorruption.
Result<std::map<std::string, std::string>> ReadGoldenArchive(const std::string& name);

/// The same in a memory store; paths as in the archive.
Result<std::shared_ptr<store::ObjectStore>> OpenGoldenArchive(const std::string& name);

}  // namespace omnigraph::testing
