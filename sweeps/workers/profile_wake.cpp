// How late a thread that slept gets a core, from what consumers noted, or one beside the loader alone.
#include <algorithm>
#include <array>
#include <limits>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

namespace {

constexpr std::size_t kPlaces = 64;  // of each distribution, so that two can be compared place by place
constexpr std::size_t kFewest = 16;  // sleeps; of fewer the late ones are not known
// Workers a core, up to each and beyond the last: none shares a core with another; some do; nearly all do.
// What a thread waits for is the rest of a worker's turn, so within a group counts differ less than the few
// samples of one of them tell: they are taken together.
constexpr std::array<double, 3> kGroups{1, 4, std::numeric_limits<double>::infinity()};

// Growing, and as many as places whatever was measured: groups' means of many, some twice of few.
std::vector<double> placed(std::vector<double> values) {
  std::ranges::sort(values);
  std::vector<double> places;
  for (std::size_t place = 0; place < kPlaces; ++place) {
    const std::size_t first = place * values.size() / kPlaces;
    const std::size_t last = std::max(first + 1, (place + 1) * values.size() / kPlaces);
    places.push_back(simulator::mean_of(std::span(values).subspan(first, last - first)));
  }
  return places;
}

using Times = std::vector<double> LoaderPoint::*;

// What waking takes by itself: before a loader that does nothing, or the least beside any.
double usual_of(const LoaderPoints& points) {
  if (points.ready && !points.ready->late_times_ns.empty()) {
    return simulator::median_of(points.ready->late_times_ns);
  }
  double usual = std::numeric_limits<double>::infinity();
  for (const LoaderPoint& point : points.capacity) {
    if (!point.late_times_ns.empty()) {
      usual = std::min(usual, simulator::median_of(point.late_times_ns));
    }
  }
  return usual;
}

// The part of the time in which a core was busy with workers.
double busy_cores(const LoaderPoint& point, const Profile& profile) {
  const double cores = profile.law.law.cores;
  if (point.batch_cpu_times_ns.empty()) {
    return std::min(1.0, active_of(point, profile.storage.has_value()) / cores);
  }
  const double image_ns = simulator::mean_of(point.batch_cpu_times_ns) / static_cast<double>(point.batch);
  return std::min(1.0, point.images_per_s.value * image_ns / 1e9 / cores);
}

// Those that met an idle core are the least late.
std::vector<double> met_busy_core(const LoaderPoint& point, Times times, const Profile& profile,
                                  double usual) {
  std::vector<double> late;
  for (const double time : point.*times) {
    late.push_back(std::max(0.0, time - usual));
  }
  std::ranges::sort(late);
  const double idle = (1 - busy_cores(point, profile)) * static_cast<double>(late.size());
  late.erase(late.begin(), late.begin() + std::min(std::ssize(late), std::lround(idle)));
  return late;
}

std::vector<simulator::WakeDelay> delays(const std::vector<LoaderPoint>& measured, Times times,
                                         const LoaderPoints& points, const Profile& profile,
                                         std::optional<std::int64_t> left_out) {
  const double usual = usual_of(points);
  std::vector<simulator::WakeDelay> wake;
  double from = 0;
  for (const double group : kGroups) {
    const double to = group * profile.law.law.cores;
    std::vector<double> late;
    double workers = 0;
    for (const LoaderPoint& point : measured) {
      const auto count = static_cast<double>(point.workers);
      if (count <= from || count > to || point.workers == left_out) {
        continue;
      }
      const std::vector<double> met = met_busy_core(point, times, profile, usual);
      late.insert(late.end(), met.begin(), met.end());
      workers += count * static_cast<double>(met.size());
    }
    if (late.size() >= kFewest) {
      workers /= static_cast<double>(late.size());
      wake.push_back({.workers = workers, .late_ns = placed(std::move(late))});
    }
    from = to;
  }
  return wake;
}

}  // namespace

std::vector<simulator::WakeDelay> wake_delays(const LoaderPoints& points, const Profile& profile,
                                              std::optional<std::int64_t> left_out) {
  auto own = delays(points.pool, &LoaderPoint::late_times_ns, points, profile, left_out);
  return own.empty() ? delays(points.capacity, &LoaderPoint::late_times_ns, points, profile, left_out) : own;
}

std::optional<WakeOfBoth> wake_of_both(const LoaderPoints& points, const Profile& profile) {
  WakeOfBoth wake{
      .yielding = delays(points.capacity, &LoaderPoint::late_times_ns, points, profile, std::nullopt),
      .unyielding = delays(points.capacity, &LoaderPoint::late_unyielding_ns, points, profile, std::nullopt)};
  // Of the same groups of counts.
  return wake.yielding.size() == wake.unyielding.size() && !wake.yielding.empty()
             ? std::optional(std::move(wake))
             : std::nullopt;
}

}  // namespace bench::sweeps
