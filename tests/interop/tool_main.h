/// \file
/// The command line of the tools that work on one table: FOLDER TABLE COMMAND [ARGUMENTS].
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "omnigraph/base/status.h"
#include "omnigraph/lance/table/location.h"
#include "omnigraph/store/object_store.h"

namespace omnigraph::lance {

using Arguments = std::vector<std::string>;

/// Open FOLDER, run the command on TABLE, and print its error; the result is the exit code.
template <typename RunCommand>
int ToolMain(const char* tool, int argc, char** argv, const RunCommand& run) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s FOLDER TABLE COMMAND [ARGUMENTS]\n", tool);
    return 2;
  }
  const auto object_store = store::OpenStore(argv[1]);
  const Status status = object_store.ok() ? run(TableLocation{*object_store, argv[2]}, argv[3],
                                                Arguments(argv + 4, argv + argc))
                                          : object_store.status();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
  }
  return status.ok() ? 0 : 1;
}

}  // namespace omnigraph::lance
