#include "machine.h"

namespace omnigraph::runtime {

void OnMachine(const std::function<void()>& body) {
  body();
}

}  // namespace omnigraph::runtime
