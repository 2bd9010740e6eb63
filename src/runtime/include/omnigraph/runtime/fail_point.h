/// \file
/// Where a crash is interesting. On the real machine a fail point is an empty function; under the
/// simulator the process that reaches it may die there.
#pragma once

#include <string_view>

namespace omnigraph::runtime {

/// Mark a place between two effects of which a crash must leave a state that recovery handles, such
/// as `publish.before_put`. Names are dotted, lower-case, and constant.
///
/// Threads: Thread-safe. Do not call with a lock held or from a destructor.
void FailPoint(std::string_view name);

/// True in a thread of a simulated process that was killed, while its destructors run; always false
/// on the real machine. A store or device refuses calls then: the dead change nothing.
bool InKilledProcess();

}  // namespace omnigraph::runtime
