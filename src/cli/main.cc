// The `omnigraph` program: declares its commands, runs one, turns its status into an exit code.

#include <arrow/compute/initialize.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "commands.h"
#include "target.h"

namespace omnigraph::cli {

std::atomic<bool> interrupted{false};

namespace {

extern "C" void OnInterrupt(int) {
  // The second Ctrl-C ends the program at once, as people expect.
  if (interrupted.exchange(true)) {
    std::_Exit(130);
  }
}

void HandleSignals() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // No SA_RESTART: a read that waits for the next line must come back.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace
}  // namespace omnigraph::cli

int main(int argc, char** argv) {
  using omnigraph::cli::RunProgram;
  omnigraph::cli::HandleSignals();
  try {
    if (!arrow::compute::Initialize().ok()) {
      std::fprintf(stderr, "omnigraph: Arrow's compute functions could not be set up\n");
      return 70;
    }
    return RunProgram(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "omnigraph: internal error: %s\n", error.what());
    return 70;
  }
}
