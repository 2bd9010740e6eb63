// The `omnigraph` program: declares its commands, runs one, turns its status into an exit code.

#include <csignal>
#include <cstdio>
#include <exception>

#include "commands.h"
#include "omnigraph/engine/process_setup.h"
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

}  // namespace

void HandleInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  // No SA_RESTART: a read that waits for the next line must come back.
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace omnigraph::cli

int main(int argc, char** argv) {
  using omnigraph::cli::RunProgram;
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error that we report
  try {
    const omnigraph::Status ready = omnigraph::engine::SetUpProcess();
    if (!ready.ok()) {
      std::fprintf(stderr, "omnigraph: %s\n", ready.message().c_str());
      return omnigraph::ErrorKindInfo(omnigraph::KindOf(ready)).exit_code;
    }
    return RunProgram(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "omnigraph: internal error: %s\n", error.what());
    return 70;
  }
}
