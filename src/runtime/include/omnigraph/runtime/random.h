/// \file
/// Chance: the only source of it. Under the simulator it derives from the seed.
#pragma once

#include <cstdint>
#include <span>

namespace omnigraph::runtime {

/// 64 random bits, from the system's generator: good enough for ids that must not collide or be
/// guessed.
///
/// Threads: Thread-safe.
uint64_t RandomU64();

/// Fill `out` with random bytes. Threads: Thread-safe.
void RandomBytes(std::span<uint8_t> out);

}  // namespace omnigraph::runtime
