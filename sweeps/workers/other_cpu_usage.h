// How many cores other programs keep busy.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::sweeps {

// The first line of /proc/stat, in clock ticks of all cores together; nullopt for another format.
struct CoreTicks {
  std::int64_t busy = 0;
  std::int64_t all = 0;  // busy or idle
};
std::optional<CoreTicks> core_ticks(std::string_view stat);

// Average over the time that the calling thread sleeps for it; 0 where the system does not tell. It resolves
// hundredths of a second.
double other_cpu_usage(std::chrono::milliseconds measured);

// Whether other programs keep a quarter of a core busy that this process counts on.
bool others_want_cores(int usable_cores);

}  // namespace bench::sweeps
