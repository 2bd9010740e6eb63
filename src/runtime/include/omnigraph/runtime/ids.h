/// \file
/// Fresh ids, from the machine's clock and chance. Their spelling lives in base/ids.h.
#pragma once

#include <cstdint>
#include <string>

#include "omnigraph/base/ids.h"

namespace omnigraph::runtime {

/// A random (version 4) UUID. Threads: Thread-safe.
Uuid NewUuid();

/// A ULID of now: 26 characters.
///
/// Strictly increasing within a process, also within one millisecond and when the wall clock goes
/// back.
///
/// Threads: Thread-safe.
std::string NewUlid();

/// A random id of 64 bits, never 0. Threads: Thread-safe.
uint64_t NewId64();

}  // namespace omnigraph::runtime
