// What holds a processor back while it is measured: its clock, and the container's CPU quota.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "bench/device.h"

namespace bench::kernels {

// "nr_throttled 12" of a cgroup's cpu.stat: periods in which the group ran out of its quota.
std::optional<std::int64_t> throttled_periods(std::string_view cpu_stat);
// The first "cpu MHz : 2596.094" of /proc/cpuinfo.
std::optional<double> cpuinfo_mhz(std::string_view cpuinfo);

class CpuCondition {
 public:
  CpuCondition();                                         // finds this process's cgroup
  explicit CpuCondition(std::filesystem::path cpu_stat);  // empty: no cgroup

  // Says "cpu_quota" where the quota has run out since the last call. Below a millisecond.
  DeviceState read();

 private:
  std::optional<std::int64_t> throttled_now() const;

  std::filesystem::path cpu_stat_;
  std::optional<std::int64_t> throttled_;
};

}  // namespace bench::kernels
