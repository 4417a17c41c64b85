// How late a thread that slept gets a core, from what one beside the loader alone noted.
#include <algorithm>
#include <limits>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

namespace {

constexpr std::size_t kPlaces = 64;  // of each distribution, so that two can be compared place by place
constexpr std::size_t kFewest = 8;   // sleeps; of fewer the late ones are not known
constexpr double kAllBusy = 0.9;     // of the cores, on average: a worker also hands over

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

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

}  // namespace

std::vector<simulator::WakeDelay> wake_delays(const LoaderPoints& points, const Profile& profile,
                                              std::optional<std::int64_t> left_out) {
  const double cores = profile.law.law.cores;
  double usual = std::numeric_limits<double>::infinity();  // what a timer takes by itself
  for (const LoaderPoint& point : points.capacity) {
    if (!point.late_times_ns.empty()) {
      usual = std::min(usual, median(point.late_times_ns));
    }
  }
  std::vector<simulator::WakeDelay> wake;
  for (const LoaderPoint& point : points.capacity) {
    const double active = active_of(point, profile.storage.has_value());
    if (point.workers == left_out || point.late_times_ns.size() < kFewest || active < kAllBusy * cores ||
        (!wake.empty() && active <= wake.back().active)) {
      continue;
    }
    std::vector<double> late;
    for (const double time : point.late_times_ns) {
      late.push_back(std::max(0.0, time - usual));
    }
    wake.push_back({.active = std::max(active, cores), .late_ns = placed(std::move(late))});
  }
  return wake;
}

}  // namespace bench::sweeps
