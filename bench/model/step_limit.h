// What limits a step: the lower bounds that the device's peak rates and its launches set.
#pragma once

#include <optional>
#include <string_view>

#include "bench/device.h"
#include "bench/model/gpu_model.h"
#include "bench/stats/estimate.h"
#include "bench/workload.h"

namespace bench {

enum class StepLimit { compute, memory, launch, implementation, unknown };

std::string_view name_of(StepLimit limit);  // as above

struct LimitReport {
  StepLimit limit = StepLimit::unknown;
  // Shares of the measured step that the device's peak rates account for: flops / peak, and bytes /
  // bandwidth. Above 1 where the work was less than counted or data stayed in a cache. None where the peak is
  // unknown.
  std::optional<double> compute_share;
  std::optional<double> memory_share;
  // Share that starting the step's operations takes: launches · the cost of one. None where that was not
  // measured.
  std::optional<Estimate> launch_share;
  std::optional<double> fixed_bytes_ns;  // the part of the memory bound that reading the weights takes
};

// The larger bound where it explains at least half of the step (memory and compute overlap at best). Where
// both are known and neither does: launch if starting the operations surely takes half of the step, the whole
// interval of its share; else implementation, kernels below both roofs at this size. `launch_ns`: the cost of
// starting one operation; none where it was not measured. Step time positive.
LimitReport find_limit(const Work& work, const Peaks& peaks, const Estimate& step_ns,
                       const std::optional<Estimate>& launch_ns = std::nullopt);

// What takes the most of a predicted step, and its time: the host, where launching takes longer than the
// GPU's work; else products, memory, or kernels too short for either (implementation).
struct LongestPart {
  StepLimit limit = StepLimit::unknown;
  double ns = 0;
};
LongestPart longest_part(const PredictedStep& step);

}  // namespace bench
