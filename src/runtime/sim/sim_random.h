/// \file
/// The simulator's chance: one small generator per purpose, all derived from the seed, so that a
/// draw for one purpose does not shift the others.
#pragma once

#include <cstdint>

namespace omnigraph::runtime::internal {

/// SplitMix64 (Steele, Lea and Flood, 2014): a counter through a mixing function.
/// Thread-compatible.
class SimRandom {
 public:
  SimRandom(uint64_t seed, uint64_t purpose) : state_(Mix(seed) ^ Mix(~purpose)) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    return Mix(state_);
  }
  /// What Next() would give.
  uint64_t Peek() const { return Mix(state_ + 0x9e3779b97f4a7c15); }
  /// In [0, bound). REQUIRES: bound > 0. The bias of the remainder does not matter here.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) * 0x1p-53 < probability;
  }

  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace omnigraph::runtime::internal
