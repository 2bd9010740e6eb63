#include "omnigraph/engine/process_setup.h"

#include <arrow/compute/initialize.h>

#include <cstdlib>

namespace omnigraph::engine {

Status SetUpProcess() {
  constexpr int kKeepTheUsersChoice = 0;
  ::setenv("ARROW_DEFAULT_MEMORY_POOL", "system", kKeepTheUsersChoice);
  const Status status = arrow::compute::Initialize();
  return status.ok() ? status
                     : Internal("engine.arrow", "Arrow's compute functions could not be set up: " +
                                                    status.message());
}

}  // namespace omnigraph::engine
