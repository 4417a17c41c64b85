// The consumer with ready data, and what it and workers on the same cores do to each other.
#include <algorithm>
#include <cmath>
#include <set>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

using simulator::mean_of;

namespace {

// What each of so many threads that want a core gets of one.
double share_of_core(double threads, double cores) {
  return std::min(1.0, cores / std::max(threads, 1e-9));
}

double consumer_threads(std::int64_t workers, double cores) {
  return std::max(1.0, std::floor(cores) - static_cast<double>(workers));
}

// What sharing the cores leaves of the speeds alone, beside `active` workers of so many: the consumer's, and
// beyond the law the workers'.
simulator::Beside shared(std::int64_t workers, double active, double cores) {
  const double share = share_of_core(active + consumer_threads(workers, cores), cores);
  return {.active = active,
          .consumer_speed = share,
          .worker_speed = share / share_of_core(std::max(1.0, active), cores)};
}

// Between the calibrated counts linear, beyond them as at the last.
BesideWorkers beside_at(const std::vector<BesideWorkers>& calibrated, std::int64_t workers) {
  const BesideWorkers* before = &calibrated.front();
  for (const BesideWorkers& next : calibrated) {
    if (workers <= next.workers) {
      const auto gap = static_cast<double>(next.workers - before->workers);
      const double part = gap > 0 ? static_cast<double>(workers - before->workers) / gap : 1;
      return {.workers = workers,
              .consumer_speed = std::lerp(before->consumer_speed, next.consumer_speed, std::max(0.0, part)),
              .worker_speed = std::lerp(before->worker_speed, next.worker_speed, std::max(0.0, part))};
    }
    before = &next;
  }
  return *before;
}

}  // namespace

bool measure_consumer(Profile& profile, const LoaderPoints& points) {
  const LoaderPoint* consumer = points.ready ? &*points.ready : nullptr;
  for (const LoaderPoint& point : points.pool) {
    consumer = consumer == nullptr && !point.compute_times_ns.empty() ? &point : consumer;
  }
  if (consumer == nullptr || !(mean_of(consumer->compute_times_ns) > 0)) {
    return false;
  }
  profile.compute_ns = thinned(consumer->compute_times_ns);
  // Ready batches are copied from the caches; with many workers, the copying thread waits for a core. So it
  // is taken from the fewest workers.
  profile.copy_ns = consumer->copy_ns;
  const auto fed =
      std::ranges::find_if(points.pool, [](const LoaderPoint& point) { return point.workers > 0; });
  if (fed != points.pool.end()) {
    profile.copy_ns = fed->copy_ns;
  }
  // Of our pool it is a pointer, and not noted. From the fewest workers that leave batches to be taken.
  const auto taken = std::ranges::find_if(
      points.pool, [](const LoaderPoint& point) { return point.take_times_ns.size() >= kEnoughTimes / 2; });
  if (taken != points.pool.end()) {
    profile.take_ns = mean_of(taken->take_times_ns);
  }
  if (points.ready) {
    const double compute = points.ready->compute_ns;
    const double copy = points.ready->copy_ns;
    const double step = compute / points.ready->usual_au.value;
    profile.gap_ns = std::max(0.0, step - (profile.lookahead ? std::max(compute, copy) : compute + copy));
  }
  return true;
}

void calibrate_beside(Profile& profile, const LoaderPoints& points, std::optional<std::int64_t> left_out) {
  std::vector<const LoaderPoint*> candidates;
  for (const LoaderPoint& point : points.pool) {
    if (point.workers > 0 && point.workers != left_out && point.compute_ns > 0 &&
        working_of(point, profile.storage.has_value()) > 0) {
      candidates.push_back(&point);
    }
  }
  if (candidates.empty()) {
    return;
  }
  const simulator::ScalabilityLaw& law = profile.law.law;
  const auto off_cores = [&](const LoaderPoint* point) {
    return std::abs(static_cast<double>(point->workers) - law.cores);
  };
  const std::set<const LoaderPoint*> few{
      candidates.front(), *std::ranges::min_element(candidates, {}, off_cores), candidates.back()};
  for (const LoaderPoint* const point : candidates) {
    if (!few.contains(point)) {
      continue;
    }
    const double active = active_of(*point, profile.storage.has_value());
    const double by_law = 1e9 / law.one / law.speed_of_each(std::max(1.0, active));
    const double computing = std::clamp(point->raw_au.value, 0.05, 1.0);
    const double working = working_of(*point, profile.storage.has_value());
    const double beside = (by_law / working - (1 - computing)) / computing;  // while the consumer computes
    const simulator::Beside sharing = shared(point->workers, active, law.cores);
    const double alone = mean_of(profile.compute_ns) / point->compute_ns;
    profile.beside.push_back(
        {.workers = point->workers,
         .consumer_speed = std::clamp(alone / sharing.consumer_speed, 0.01, 1.5),
         .worker_speed = profile.storage ? 1 : std::clamp(beside / sharing.worker_speed, 0.05, 1.5)});
  }
}

std::vector<simulator::Beside> beside_of(const Profile& profile, std::int64_t workers, double cores) {
  if (profile.beside.empty() || workers <= 0) {
    return {};
  }
  const BesideWorkers calibrated = beside_at(profile.beside, workers);
  std::vector<simulator::Beside> points;
  for (std::int64_t active = 0; active <= workers; ++active) {
    simulator::Beside beside = shared(workers, static_cast<double>(active), cores);
    beside.consumer_speed *= calibrated.consumer_speed;
    beside.worker_speed *= calibrated.worker_speed;
    points.push_back(beside);
  }
  return points;
}

}  // namespace bench::sweeps
