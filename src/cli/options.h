/// \file
/// What the user asked for, as values; commands.cc declares the options themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace omnigraph::cli {

/// Options of every command.
struct GlobalOptions {
  std::string store;   ///< path or URI of a graph on this machine
  std::string server;  ///< URL of a server
  std::string graph;   ///< id of the graph on the server; empty: the only one
  std::string actor;
  bool json = false;
  bool quiet = false;
};

struct IngestArguments {
  std::vector<std::string> files;
  bool stream = false;
  bool no_fold = false;
  bool stop_on_error = false;
};

struct QueryArguments {
  std::string name;
  std::string file;
  std::string text;
  std::string params = "{}";
  std::string params_file;
  std::string format = "table";
};

struct LoadArguments {
  std::string file;
  std::string mode;
};

struct RepairArguments {
  std::string type;
  bool accept_loss = false;
};

struct RejectsArguments {
  std::string type;
  std::string code;
  int64_t limit = 20;
  bool by_reason = false;
};

}  // namespace omnigraph::cli
