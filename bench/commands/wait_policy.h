// How OpenMP's threads wait for each other: it decides what other programs on the cores cost, and is read
// once, when the program starts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/host/cpu_usage.h"

namespace bench {

// Whether nobody chose yet: OMP_WAIT_POLICY and GOMP_SPINCOUNT are not set, and no run that started this one
// has settled it.
bool wait_policy_is_open();

// From here on this process and those that it starts keep one policy, so that their times can be compared:
// passive where others use the cores now, else the library's own. A policy that the user set stays.
void settle_wait_policy(const Clock& clock);

// Where others have used more than half of a core that this process may use since `before`, starts the
// program again with OMP_WAIT_POLICY=passive: then this does not return. `before` is at least a tenth of a
// second ago, or this sleeps until then.
void sleep_in_barriers_if_busy(const std::vector<std::string>& argv, const std::optional<CpuTimes>& before,
                               const Clock& clock);
// Whether this process was started again in that way. The answer is given once, and no child process
// inherits it.
bool take_busy_cores();
// Says so on standard error, and what it costs.
void say_cores_are_busy(bool verbose);

}  // namespace bench
