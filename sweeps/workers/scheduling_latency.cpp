#include "sweeps/workers/scheduling_latency.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "bench/measure/statistics.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kPlaces = 64;  // of each distribution, so that two can be interpolated place by place
constexpr std::size_t kFewest = 16;  // sleeps; fewer do not show the late ones
// Workers a core, up to each and beyond the last: no worker shares a core with another; some do; nearly all
// do. A thread waits for the rest of a worker's time slice, so that counts of one group are taken together.
constexpr std::array<double, 3> kGroups{1, 4, std::numeric_limits<double>::infinity()};

// Growing, and always as many: means of groups of many values, some twice of few.
std::vector<double> placed(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<double> places;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const std::size_t first = place * values.size() / kPlaces;
    const std::size_t last = std::max(first + 1, (place + 1) * values.size() / kPlaces);
    places.push_back(mean(std::span(values).subspan(first, last - first)));
  }
  return places;
}

// The latency on an idle machine: with a loader that does nothing, or the least of the others.
double usual_of(const LoaderPoints& points) {
  if (points.ready && !points.ready->late_times_ns.empty()) {
    return median(points.ready->late_times_ns);
  }
  double usual = std::numeric_limits<double>::infinity();
  for (const LoaderPoint& point : points.capacity) {
    if (!point.late_times_ns.empty()) {
      usual = std::min(usual, median(point.late_times_ns));
    }
  }
  return usual;
}

// The part of the time in which a core was busy with workers.
double busy_cores(const LoaderPoint& point, double cores, bool storage) {
  if (point.batch_cpu_times_ns.empty()) {
    return std::min(1.0, active_workers(point, storage) / cores);
  }
  const double image_ns = mean(point.batch_cpu_times_ns) / static_cast<double>(point.batch);
  return std::min(1.0, point.samples_per_s.value * image_ns / 1e9 / cores);
}

// Without the threads that met an idle core, which were the least late.
std::vector<double> on_busy_cores(const LoaderPoint& point, double usual, double busy) {
  std::vector<double> late;
  for (const double time : point.late_times_ns) {
    late.push_back(std::max(0.0, time - usual));
  }
  std::ranges::sort(late);
  const double idle = (1 - busy) * static_cast<double>(late.size());
  late.erase(late.begin(), late.begin() + std::min(std::ssize(late), std::lround(idle)));
  return late;
}

std::vector<simulator::SchedulingLatency> by_group(const std::vector<LoaderPoint>& measured, double usual,
                                                   double cores, bool storage,
                                                   std::optional<std::int64_t> left_out) {
  std::vector<simulator::SchedulingLatency> latencies;
  double from = 0;
  for (const double group : kGroups) {
    const double to = group * cores;
    std::vector<double> late;
    double workers = 0;
    for (const LoaderPoint& point : measured) {
      const auto count = static_cast<double>(point.workers);
      if (count > from && count <= to && point.workers != left_out) {
        const std::vector<double> busy = on_busy_cores(point, usual, busy_cores(point, cores, storage));
        late.insert(late.end(), busy.begin(), busy.end());
        workers += count * static_cast<double>(busy.size());
      }
    }
    if (late.size() >= kFewest) {
      workers /= static_cast<double>(late.size());
      latencies.push_back({.workers = workers, .late_ns = placed(std::move(late))});
    }
    from = to;
  }
  return latencies;
}

}  // namespace

std::vector<simulator::SchedulingLatency> measure_latencies(const LoaderPoints& points, double cores,
                                                            bool storage,
                                                            std::optional<std::int64_t> left_out) {
  const double usual = usual_of(points);
  auto own = by_group(points.pool, usual, cores, storage, left_out);
  return own.empty() ? by_group(points.capacity, usual, cores, storage, left_out) : own;
}

}  // namespace bench::sweeps
