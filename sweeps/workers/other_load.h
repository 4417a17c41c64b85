// What other programs take of the cores.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bench::sweeps {

// Of /proc/stat's first line, in ticks of all cores together: at work, and at work or idle. nullopt where it
// does not read so.
struct CoreTicks {
  std::int64_t busy = 0;
  std::int64_t all = 0;
};
std::optional<CoreTicks> core_ticks(std::string_view stat);

// Cores of this machine that others kept busy while the calling thread slept so long; 0 where the system does
// not tell. It resolves hundredths of a second.
double cores_busy_elsewhere(std::chrono::milliseconds looked);

}  // namespace bench::sweeps
