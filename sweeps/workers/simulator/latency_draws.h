// How late the consumer thread is scheduled on cores that workers keep busy.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

#include "bench/measure/random.h"
#include "sweeps/workers/simulator/draws.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

class LatencyDraws {
 public:
  // `workers` of all consumers.
  LatencyDraws(const Pipeline& pipeline, double workers)
      : latencies_(pipeline.shared_cores.empty() ? pipeline.scheduling_latency
                                                 : std::vector<SchedulingLatency>()),
        workers_(workers),
        places_(places(latencies_), stream_seed(pipeline.seed, 5)),
        meets_busy_core_(stream_seed(pipeline.seed, 6)) {}

  // For a thread that becomes ready now. `busy` is the part of all cores' time that workers used so far, not
  // their state at this moment: which core a worker is on is not simulated, and steps of one length would
  // meet the same state again and again.
  double next(double busy) {
    if (latencies_.empty() || unit_draw(meets_busy_core_) >= busy) {
      return 0;
    }
    const auto place = static_cast<std::size_t>(places_.next());
    const SchedulingLatency* before = &latencies_.front();
    for (const SchedulingLatency& latency : latencies_) {
      if (workers_ <= latency.workers) {
        const double gap = latency.workers - before->workers;
        const double part = gap > 0 ? std::clamp((workers_ - before->workers) / gap, 0.0, 1.0) : 1;
        return std::lerp(before->late_ns[place], latency.late_ns[place], part);
      }
      before = &latency;
    }
    return before->late_ns[place];
  }

 private:
  // Indices of the sorted delays, each drawn as often as any other.
  static std::vector<double> places(const std::vector<SchedulingLatency>& latencies) {
    std::vector<double> all(latencies.empty() ? 0 : latencies.front().late_ns.size());
    std::iota(all.begin(), all.end(), 0.0);
    return all;
  }

  std::vector<SchedulingLatency> latencies_;
  double workers_;
  Draws places_;
  std::mt19937_64 meets_busy_core_;
};

}  // namespace bench::simulator
