// How many cores other programs keep busy.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "bench/clock.h"

namespace bench::sweeps {

// The first line of /proc/stat, in clock ticks of all cores together; nullopt for another format.
struct CoreTicks {
  std::int64_t busy = 0;
  std::int64_t all = 0;  // busy or idle
};
std::optional<CoreTicks> core_ticks(std::string_view stat);

// Cores, on average over the time that the calling thread sleeps; 0 where the system does not tell. It
// resolves hundredths of a second.
double other_cpu_usage(std::chrono::milliseconds slept, const Clock& clock);

// Whether other programs use more than a quarter of one of the usable cores. Takes a third of a second.
bool others_want_cores(int usable_cores, const Clock& clock);

}  // namespace bench::sweeps
