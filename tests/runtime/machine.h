/// \file
/// Runs a test body on the machine that this program was linked with: once on real threads, for
/// several seeds in the simulator.
#pragma once

#include <functional>

namespace omnigraph::runtime {

void OnMachine(const std::function<void()>& body);

}  // namespace omnigraph::runtime
