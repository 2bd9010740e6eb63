/// \file
/// What a program does once, before anything else of ours.
#pragma once

#include "omnigraph/base/status.h"

namespace omnigraph::engine {

/// Choose Arrow's allocator and set up its compute functions.
///
/// The allocator is the system's, unless ARROW_DEFAULT_MEMORY_POOL says otherwise: measured on a
/// stream of 2.2 million rows, it peaks at two thirds of the memory of Arrow's own default, and is
/// no slower (docs/benchmarks.md).
///
/// REQUIRES: no other call into Arrow came before; one thread runs.
/// Errors: kInternal (`engine.arrow`).
Status SetUpProcess();

}  // namespace omnigraph::engine
