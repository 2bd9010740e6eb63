/// \file
/// What the commands that work on a server too need of either side: a graph opened in this process,
/// or one behind HTTP.
#pragma once

#include <atomic>
#include <boost/json/object.hpp>
#include <memory>
#include <string>

#include "input.h"
#include "omnigraph/base/status.h"
#include "options.h"
#include "progress.h"

namespace omnigraph::cli {

/// Set by the first Ctrl-C after HandleInterrupts(); work that reads input looks at it and ends in
/// order.
extern std::atomic<bool> interrupted;

/// From now on the first SIGINT or SIGTERM sets `interrupted`, and the second ends the program.
/// For commands that have something to settle and to tell; without it a signal ends the program at
/// once.
void HandleInterrupts();
/// Readable once `interrupted` is set, so that nobody waits past it, whichever thread the signal
/// came to; -1 before HandleInterrupts().
int InterruptDescriptor();

/// Thread-compatible.
class Target {
 public:
  virtual ~Target() = default;

  /// Stream lines until the input ends or Ctrl-C, wait for the acks, fold unless told not to.
  /// The result has the shape of engine::IngestOutcome. Errors: what ended the stream early; its
  /// message says what was acked.
  virtual Result<boost::json::object> IngestStream(const IngestArguments& arguments, Input* input,
                                                   Progress* progress) = 0;
  virtual Result<boost::json::object> Fold() = 0;
  virtual Result<boost::json::object> IngestStatus() = 0;
  /// The answer, rendered in the wanted format.
  virtual Result<std::string> Query(const QueryArguments& arguments) = 0;
};

/// The target that the options name: --server, else --store. Errors: kInvalid (`cli.no_graph`,
/// `cli.two_graphs`).
Result<std::unique_ptr<Target>> OpenTarget(const GlobalOptions& global);

Result<std::unique_ptr<Target>> OpenLocalTarget(const GlobalOptions& global);
Result<std::unique_ptr<Target>> OpenServerTarget(const GlobalOptions& global);

}  // namespace omnigraph::cli
