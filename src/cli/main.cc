// The `omnigraph` program: declares its commands, runs one, turns its status into an exit code.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "commands.h"
#include "omnigraph/engine/process_setup.h"
#include "target.h"

namespace omnigraph::cli {

std::atomic<bool> interrupted{false};

namespace {

int interrupt_pipe[2] = {-1, -1};

extern "C" void OnInterrupt(int) {
  // The second Ctrl-C ends the program at once, as people expect.
  if (interrupted.exchange(true)) {
    std::_Exit(130);
  }
  (void)!::write(interrupt_pipe[1], "", 1);
}

}  // namespace

void HandleInterrupts() {
  if (::pipe2(interrupt_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    return;  // no descriptor left: a signal ends the program at once
  }
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;  // who waits for input waits for the pipe too
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int InterruptDescriptor() {
  return interrupt_pipe[0];
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
