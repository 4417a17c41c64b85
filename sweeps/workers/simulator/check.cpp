#include "sweeps/workers/simulator/check.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/measure/statistics.h"

namespace bench::simulator {

void check(const Pipeline& pipeline) {
  const Pipeline& p = pipeline;
  const auto usable = [](const std::vector<double>& values) {
    return !values.empty() &&
           std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value >= 0; });
  };
  const std::vector<double>& work_ns = p.shares_samples() ? p.sample_work_ns : p.batch_work_ns;
  if (p.workers < 0 || p.consumers < 1 || p.prefetch < 1 || p.batch < 1 || p.steps < 1 ||
      p.warm_up_steps < 0) {
    throw std::invalid_argument("a simulation wants at least one consumer, batch, step and slot");
  }
  if (!usable(work_ns) || !usable(p.compute_ns) || !(p.copy_ns >= 0) || !(p.gap_ns >= 0) ||
      !(p.take_ns >= 0) || !(p.law.cores > 0)) {
    throw std::invalid_argument("a simulation wants times that are not negative, of making and of computing");
  }
  for (const SchedulingLatency& latency : p.scheduling_latency) {
    if (!usable(latency.late_ns) || latency.late_ns.size() != p.scheduling_latency.front().late_ns.size()) {
      throw std::invalid_argument("a simulation wants delays that are not negative, as many for each count");
    }
  }
  if (mean(p.compute_ns) + p.copy_ns + p.gap_ns + mean(work_ns) <= 0) {
    throw std::invalid_argument("a simulation in which nothing takes time has no end");
  }
}

}  // namespace bench::simulator
