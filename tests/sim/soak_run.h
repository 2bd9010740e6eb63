/// \file
/// One run of the whole system as a function of a seed: hosts, processes, what goes wrong, and the
/// judgement at the end. The fault model is in README.md of this folder.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "omnigraph/runtime/sim.h"
#include "omnigraph/store/simulated_disk.h"

namespace omnigraph::soak {

/// What a test fixes; everything else is drawn from the seed.
struct SoakOptions {
  uint64_t seed = 1;
  int64_t rows = 0;  ///< to be acked; 0: drawn
  enum class Place : uint8_t { kAny, kDisk, kObjectStore };
  Place place = Place::kAny;
  store::DiskModel model = store::DiskModel::kJournal;
};

struct SoakResult {
  runtime::SimResult sim;
  std::vector<std::string> problems;
  std::map<std::string, uint64_t> events;

  bool ok() const { return sim.ok() && problems.empty(); }
  /// What is wrong, one per line.
  std::string ToString() const;
};

SoakResult RunSoak(const SoakOptions& options);

}  // namespace omnigraph::soak
