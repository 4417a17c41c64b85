// Who uses the machine's cores besides this process: other programs, and the hypervisor's other machines.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/clock.h"

namespace bench {

// The first line of /proc/stat, in clock ticks of all cores together; nullopt for another format.
struct CoreTicks {
  std::int64_t busy = 0;    // stolen ones among them
  std::int64_t stolen = 0;  // the hypervisor ran another machine while a core had work; 0 before Linux 2.6.11
  std::int64_t all = 0;     // busy or idle
};
std::optional<CoreTicks> core_ticks(std::string_view stat);

struct CpuUsage {
  double stolen = 0;  // share of the cores' time
  double others = 0;  // cores that other programs kept busy
};

// Of the machine, whether this process may use them or not.
double online_cores();

// One moment.
struct CpuTimes {
  CoreTicks ticks;
  double own_s = 0;  // processor time of this process, and of those that count as own
  Clock::time_point at{};
};
// The numbers of other processes whose time is no other program's: the ranks on this machine.
void count_as_own(std::vector<std::int64_t> processes);
// Seconds of processor time, from /proc/PID/stat; 0 for another format.
double process_seconds(std::string_view stat);
// nullopt where the system does not tell.
std::optional<CpuTimes> cpu_times_now(const Clock& clock);
// nullopt where no tick passed.
std::optional<CpuUsage> usage_between(const CpuTimes& before, const CpuTimes& after, double cores);

// The usage of short times, as well as ticks of a hundredth of a second tell it: over a window that ends now
// and is at least 200 ms long.
class CpuUsageWatch {
 public:
  using Reader = std::function<std::optional<CpuTimes>()>;
  explicit CpuUsageWatch(const Clock& clock);
  CpuUsageWatch(Reader reader, double cores);

  // The last window's, where a whole one has not passed since; nullopt before the first, and where the system
  // does not tell.
  std::optional<CpuUsage> read();

 private:
  Reader reader_;
  double cores_;
  std::optional<CpuTimes> since_;
  std::optional<CpuUsage> last_;
};

// Processes that want a core, on average over a minute, those of this program among them; nullopt where
// /proc/loadavg cannot be read.
std::optional<double> load_average();
std::optional<double> load_average(std::string_view loadavg);

// Cores that others use, on average over the time that the calling thread sleeps; 0 where the system does not
// tell. It resolves hundredths of a second.
double other_cpu_usage(std::chrono::milliseconds slept, const Clock& clock);

// Whether others use more than a quarter of one of the usable cores. Takes a third of a second.
bool others_want_cores(int usable_cores, const Clock& clock);
// The same between two moments: more than `left_to_others` cores.
bool others_want_cores(const CpuTimes& before, const CpuTimes& after, int usable_cores,
                       double left_to_others);

}  // namespace bench
