#include "sweeps/workers/shared_cores.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace bench::sweeps {
namespace {

// The part of a core that each of so many threads gets.
double share_of_core(double threads, double cores) {
  return std::min(1.0, cores / std::max(threads, 1e-9));
}

// Both speeds by sharing the cores alone; the workers' relative to the law.
simulator::SharedCores by_sharing_alone(std::int64_t workers, double active, double cores) {
  const double consumer_threads = std::max(1.0, std::floor(cores) - static_cast<double>(workers));
  const double share = share_of_core(active + consumer_threads, cores);
  return {.active = active,
          .consumer_speed = share,
          .worker_speed = share / share_of_core(std::max(1.0, active), cores)};
}

// Linear between the measured counts, constant beyond them.
MeasuredSharing between(const std::vector<MeasuredSharing>& measured, std::int64_t workers) {
  const MeasuredSharing* before = &measured.front();
  for (const MeasuredSharing& next : measured) {
    if (workers <= next.workers) {
      const auto gap = static_cast<double>(next.workers - before->workers);
      const double part = gap > 0 ? std::max(0.0, static_cast<double>(workers - before->workers) / gap) : 1;
      return {.workers = workers,
              .consumer_speed = std::lerp(before->consumer_speed, next.consumer_speed, part),
              .worker_speed = std::lerp(before->worker_speed, next.worker_speed, part)};
    }
    before = &next;
  }
  return *before;
}

}  // namespace

std::vector<MeasuredSharing> measure_sharing(const std::vector<LoaderPoint>& pool,
                                             const simulator::ScalabilityLaw& law, double compute_ns,
                                             bool storage, std::optional<std::int64_t> left_out) {
  std::vector<const LoaderPoint*> usable;
  for (const LoaderPoint& point : pool) {
    if (point.workers > 0 && point.workers != left_out && point.compute_ns > 0 &&
        working_ns(point, storage) > 0) {
      usable.push_back(&point);
    }
  }
  std::vector<MeasuredSharing> measured;
  if (usable.empty()) {
    return measured;
  }
  const auto off_cores = [&](const LoaderPoint* point) {
    return std::abs(static_cast<double>(point->workers) - law.cores);
  };
  const std::set<const LoaderPoint*> few{usable.front(), *std::ranges::min_element(usable, {}, off_cores),
                                         usable.back()};
  for (const LoaderPoint* const point : usable) {
    if (!few.contains(point)) {
      continue;
    }
    const double active = active_workers(*point, storage);
    const double by_law = 1e9 / law.one / law.speed_of_each(std::max(1.0, active));
    const double computing = std::clamp(point->raw_au.value, 0.05, 1.0);
    // The workers' speed while the consumer computes.
    const double meanwhile = (by_law / working_ns(*point, storage) - (1 - computing)) / computing;
    const simulator::SharedCores alone = by_sharing_alone(point->workers, active, law.cores);
    measured.push_back(
        {.workers = point->workers,
         .consumer_speed = std::clamp(compute_ns / point->compute_ns / alone.consumer_speed, 0.01, 1.5),
         .worker_speed = storage ? 1 : std::clamp(meanwhile / alone.worker_speed, 0.05, 1.5)});
  }
  return measured;
}

std::vector<simulator::SharedCores> shared_cores(const std::vector<MeasuredSharing>& measured,
                                                 std::int64_t workers, double cores) {
  std::vector<simulator::SharedCores> by_active;
  if (measured.empty() || workers <= 0) {
    return by_active;
  }
  const MeasuredSharing rest = between(measured, workers);
  for (std::int64_t active = 0; active <= workers; ++active) {
    simulator::SharedCores shared = by_sharing_alone(workers, static_cast<double>(active), cores);
    shared.consumer_speed *= rest.consumer_speed;
    shared.worker_speed *= rest.worker_speed;
    by_active.push_back(shared);
  }
  return by_active;
}

}  // namespace bench::sweeps
