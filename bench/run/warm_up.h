// How long a workload runs before its first sample.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/device.h"

namespace bench {

// One step touches every page; short steps go on until clocks and caches have settled: for so long, or so
// many. A card lowers its clocks while the host prepares a point and takes milliseconds to raise them; a
// processor that has just prepared one does not. A first step that autotunes happens here, outside of every
// sample; its time says nothing about a step, so another one follows.
struct WarmUp {
  static constexpr double kNs = 50e6;
  static constexpr std::int64_t kStepsOfACard = 200;
  static constexpr std::int64_t kStepsOfAProcessor = 10;

  std::int64_t least = 1;
  std::int64_t most = kStepsOfAProcessor;

  WarmUp() = default;
  explicit WarmUp(const Device& device)
      : least(device.first_step_tunes() ? 2 : 1),
        most(device.computes_on_host() ? kStepsOfAProcessor : kStepsOfACard) {}

  // After so many steps, which took so long together.
  bool is_over(std::int64_t steps, double ns) const { return steps >= most || (ns >= kNs && steps >= least); }
  // At most, of steps that take so long.
  double longest_ns(double step_ns) const {
    return std::min(static_cast<double>(most) * step_ns,
                    std::max(kNs + step_ns, static_cast<double>(least) * step_ns));
  }
};

}  // namespace bench
