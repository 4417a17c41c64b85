// Lower bounds of a step's time, and the bound that explains it.
#pragma once

#include <optional>
#include <string_view>

#include "bench/device.h"
#include "bench/workload.h"

namespace bench {

enum class StepLimit { compute, memory, overhead, unknown };

std::string_view name_of(StepLimit limit);  // "compute", "memory", "launch/overhead", "unknown"

struct LimitReport {
  StepLimit limit = StepLimit::unknown;
  // Shares of the measured step that the device's peak rates account for: flops / peak, and bytes /
  // bandwidth. Above 1 where the work was less than counted or data stayed in a cache. None where the peak is
  // unknown.
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  std::optional<double> fixed_bytes_ns;  // the part of the memory bound that reading the weights takes
};

// The larger bound where it explains at least half of the step (memory and compute overlap at best); overhead
// where both are known and neither does: launches, idle units, and kernels slower than the peak at this size.
// step_ns positive.
LimitReport find_limit(const Work& work, const Peaks& peaks, double step_ns);

}  // namespace bench
