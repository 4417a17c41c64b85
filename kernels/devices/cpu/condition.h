// The limits on a processor while it is measured: its clock, the container's CPU quota, and other work
// on its cores.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/host/cpu_usage.h"

namespace bench::kernels {

// "nr_throttled 12" of a cgroup's cpu.stat: periods in which the group ran out of its quota.
std::optional<std::int64_t> throttled_periods(std::string_view cpu_stat);
// The first "cpu MHz : 2596.094" of /proc/cpuinfo.
std::optional<double> cpuinfo_mhz(std::string_view cpuinfo);

// The second field of a thread's schedstat: nanoseconds it was ready to run and had to wait for a core.
std::optional<std::int64_t> waited_ns(std::string_view schedstat);

// Whether threads that waited for a core for this share of the time waited for others: more than 5 %, while
// others used more than a tenth of a core. Else they waited for each other: the scheduler may put two of them
// on one core while another is free. Without a usage the wait alone decides.
bool waited_for_others(double share, const std::optional<CpuUsage>& usage, double cores);

class CpuCondition {
 public:
  CpuCondition();  // finds this process's cgroup
  // Empty: no cgroup.
  explicit CpuCondition(std::filesystem::path cpu_stat, const Clock& clock = steady_clock());

  // Says "cpu_quota" where the quota has run out since the last call, and "cpu_contention" where this
  // process's threads, taken together, waited for other processes since then: threads that meet at a barrier
  // all wait for the one that was held up. Below a millisecond.
  DeviceState read();

 private:
  std::optional<std::int64_t> throttled_now() const;

  const Clock& clock_;
  std::filesystem::path cpu_stat_;
  std::optional<std::int64_t> throttled_;
  std::int64_t waited_ns_ = 0;
  Clock::time_point read_at_;
  CpuUsageWatch usage_;
  double cores_;
};

}  // namespace bench::kernels
