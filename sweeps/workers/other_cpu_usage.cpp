#include "sweeps/workers/other_cpu_usage.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>
#include <string>

namespace bench::sweeps {
namespace {

std::optional<CoreTicks> ticks_now() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return core_ticks(line);
}

}  // namespace

std::optional<CoreTicks> core_ticks(std::string_view stat) {
  std::istringstream words{std::string(stat.substr(0, stat.find('\n')))};
  std::string name;
  words >> name;
  // user, nice, system, idle, iowait, irq, softirq, steal; guests' are part of the first two.
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kWaiting = 4;
  constexpr std::size_t kLast = 7;
  CoreTicks ticks;
  std::size_t at = 0;
  for (std::int64_t value = 0; at <= kLast && words >> value; ++at) {
    ticks.all += value;
    ticks.busy += at == kIdle || at == kWaiting ? 0 : value;
  }
  return name == "cpu" && at > kWaiting ? std::optional(ticks) : std::nullopt;
}

double other_cpu_usage(std::chrono::milliseconds slept, const Clock& clock) {
  const auto before = ticks_now();
  const std::clock_t own = std::clock();
  clock.sleep_until(clock.now() + slept);
  const auto after = ticks_now();
  if (!before || !after || after->all <= before->all) {
    return 0;
  }
  const auto cores = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
  const double busy =
      cores * static_cast<double>(after->busy - before->busy) / static_cast<double>(after->all - before->all);
  const double seconds = std::chrono::duration<double>(slept).count();
  return std::max(0.0, busy - static_cast<double>(std::clock() - own) / CLOCKS_PER_SEC / seconds);
}

bool others_want_cores(int usable_cores, const Clock& clock) {
  constexpr double kLeftToOthers = 0.25;  // cores
  const double others = other_cpu_usage(std::chrono::milliseconds(330), clock);
  return static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) - others < usable_cores - kLeftToOthers;
}

}  // namespace bench::sweeps
