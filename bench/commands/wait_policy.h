// How OpenMP's threads wait for each other: it decides what other programs on the cores cost, and is read
// once, when the program starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/host/cpu_usage.h"

namespace bench {

// Whether nobody chose yet: OMP_WAIT_POLICY and GOMP_SPINCOUNT are not set.
bool wait_policy_is_open();

// Where others have used more than half of a core that this process may use since `before`, starts the
// program again with OMP_WAIT_POLICY=passive: then this does not return. `before` is at least a tenth of a
// second ago, or this sleeps until then.
void sleep_in_barriers_if_busy(const std::vector<std::string>& argv, const std::optional<CpuTimes>& before,
                               const Clock& clock);
// Whether this process was started again in that way. The answer is given once, and no child process
// inherits it.
bool take_busy_cores();
// Says so on standard error, and what it costs.
void say_cores_are_busy();

}  // namespace bench
