#include "sweeps/workers/core_contention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

// ---------- scheduling latency

constexpr std::size_t kPlaces = 64;  // of each distribution, so that two can be interpolated place by place
constexpr std::size_t kFewest = 16;  // sleeps; fewer do not show the late ones
// Workers a core, up to each and beyond the last: no worker shares a core with another; some do; nearly all
// do. A thread waits for the rest of a worker's time slice, so that counts of one group are taken together.
constexpr std::array<double, 3> kGroups{1, 4, std::numeric_limits<double>::infinity()};

// The latency on an idle machine: with a loader that does nothing, or the least of the others.
double usual_of(const LoaderPoints& points) {
  if (points.ready && !points.ready->windows->late_ns.empty()) {
    return median(points.ready->windows->late_ns);
  }
  double usual = std::numeric_limits<double>::infinity();
  for (const LoaderPoint& point : points.capacity) {
    if (const auto& late = point.windows->late_ns; !late.empty()) {
      usual = std::min(usual, median(late));
    }
  }
  return usual;
}

// The part of the time in which a core was busy with workers.
double busy_cores(const LoaderPoint& point, double cores, bool storage) {
  const std::vector<double>& batches = point.windows->batch_cpu_ns;
  if (batches.empty()) {
    return std::min(1.0, active_workers(point, storage) / cores);
  }
  const double image_ns = mean(batches) / static_cast<double>(point.batch);
  return std::min(1.0, point.samples_per_s.value * image_ns / 1e9 / cores);
}

std::vector<simulator::SchedulingLatency> by_group(const std::vector<LoaderPoint>& points, double usual,
                                                   double cores, bool storage,
                                                   std::optional<std::int64_t> left_out) {
  std::vector<Lateness> measured;
  for (const LoaderPoint& point : points) {
    if (point.workers != left_out) {
      measured.push_back({.workers = point.workers, .busy = busy_cores(point, cores, storage)});
      for (const double time : point.windows->late_ns) {
        measured.back().late_ns.push_back(std::max(0.0, time - usual));
      }
    }
  }
  return latencies_of(measured, cores);
}

// Without the threads that met an idle core, which were the least late.
std::vector<double> on_busy_cores(std::vector<double> late, double busy) {
  std::ranges::sort(late);
  const double idle = (1 - busy) * static_cast<double>(late.size());
  late.erase(late.begin(), late.begin() + std::min(std::ssize(late), std::lround(idle)));
  return late;
}

// ---------- shared cores

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

std::vector<simulator::SchedulingLatency> latencies_of(const std::vector<Lateness>& measured, double cores) {
  std::vector<simulator::SchedulingLatency> latencies;
  double from = 0;
  for (const double group : kGroups) {
    const double to = group * cores;
    std::vector<double> late;
    double workers = 0;
    for (const Lateness& one : measured) {
      const auto count = static_cast<double>(one.workers);
      if (count > from && count <= to) {
        const std::vector<double> busy = on_busy_cores(one.late_ns, one.busy);
        late.insert(late.end(), busy.begin(), busy.end());
        workers += count * static_cast<double>(busy.size());
      }
    }
    if (late.size() >= kFewest) {
      workers /= static_cast<double>(late.size());
      latencies.push_back({.workers = workers, .late_ns = group_means(std::move(late), kPlaces)});
    }
    from = to;
  }
  return latencies;
}

std::vector<simulator::SchedulingLatency> measure_latencies(const LoaderPoints& points, double cores,
                                                            bool storage,
                                                            std::optional<std::int64_t> left_out) {
  const double usual = usual_of(points);
  auto own = by_group(points.pool, usual, cores, storage, left_out);
  return own.empty() ? by_group(points.capacity, usual, cores, storage, left_out) : own;
}

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
  for (const LoaderPoint* const point : few) {  // of one vector, so in its order
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
