/// \file
/// The commands of the program: declared with CLI11, each run by one function.
#pragma once

namespace omnigraph::cli {

/// Parse the command line, run its command, return the exit code (docs/cli.md has the table).
int RunProgram(int argc, char** argv);

}  // namespace omnigraph::cli
