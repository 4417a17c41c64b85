// The cost of busy cores: how fast workers and consumers compute, and how late a consumer thread is
// scheduled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

// Speeds by how many workers compute at once; 1 is the speed alone.
class Speeds {
 public:
  Speeds(const Pipeline& pipeline, std::size_t most_workers) {
    for (std::size_t active = 0; active <= most_workers; ++active) {
      const auto count = static_cast<double>(active);
      alone_.push_back(pipeline.law.speed_of_each(count));
      shared_.push_back(at(pipeline.shared_cores, count));
    }
  }

  double of_worker(std::size_t active, bool consumer_computes) const {
    return alone_[active] * (consumer_computes ? shared_[active].worker_speed : 1);
  }
  double of_consumer(std::size_t active) const { return shared_[active].consumer_speed; }

 private:
  // Linear between the points, from 1 with no active worker; beyond the last the cores are shared among more.
  static CoreSharing at(const std::vector<CoreSharing>& points, double active) {
    CoreSharing before;
    for (const CoreSharing& point : points) {
      if (active <= point.active) {
        const double part =
            point.active > before.active ? (active - before.active) / (point.active - before.active) : 1;
        return {
            .active = active,
            .consumer_speed = before.consumer_speed + part * (point.consumer_speed - before.consumer_speed),
            .worker_speed = before.worker_speed + part * (point.worker_speed - before.worker_speed)};
      }
      before = point;
    }
    if (!points.empty()) {
      before.consumer_speed = before.consumer_speed * (before.active + 1) / (active + 1);
      before.worker_speed = before.worker_speed * (before.active + 1) / (active + 1);
    }
    return before;
  }

  std::vector<double> alone_;
  std::vector<CoreSharing> shared_;
};

// The delays of the consumer thread with so many workers of all consumers: each between those of the measured
// counts around it. Empty where it is never late.
inline std::vector<double> scheduling_delays(const Pipeline& pipeline, double workers) {
  if (pipeline.scheduling_latency.empty() || !pipeline.shared_cores.empty()) {
    return {};
  }
  const SchedulingLatency* before = &pipeline.scheduling_latency.front();
  for (const SchedulingLatency& latency : pipeline.scheduling_latency) {
    if (workers <= latency.workers) {
      const double gap = latency.workers - before->workers;
      const double part = gap > 0 ? std::clamp((workers - before->workers) / gap, 0.0, 1.0) : 1;
      std::vector<double> delays(latency.late_ns.size());
      std::ranges::transform(before->late_ns, latency.late_ns, delays.begin(),
                             [part](double few, double many) { return std::lerp(few, many, part); });
      return delays;
    }
    before = &latency;
  }
  return before->late_ns;
}

}  // namespace bench::simulator
