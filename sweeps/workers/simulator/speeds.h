// How fast workers and consumers compute, by how many workers compute at once. 1 is the speed alone.
#pragma once

#include <cstddef>
#include <vector>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::simulator {

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
  static SharedCores at(const std::vector<SharedCores>& points, double active) {
    SharedCores before;
    for (const SharedCores& point : points) {
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
  std::vector<SharedCores> shared_;
};

}  // namespace bench::simulator
