// How many workers were at work at each measured point, and which points the loader's law is fitted to.
#include <algorithm>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

using simulator::mean_of;

double working_of(const LoaderPoint& point, bool storage) {
  double working = 0;
  double read = 0;
  for (const auto& [stage, time] : point.stages_ns) {
    working += stage == "hand_off" ? 0 : time;
    read += stage == "read" ? time : 0;
  }
  if (point.order != "any" && !point.batch_times_ns.empty()) {
    working = mean_of(point.batch_times_ns) / static_cast<double>(point.batch);
  }
  return std::max(0.0, working - (storage ? read : 0));
}

double active_of(const LoaderPoint& point, bool storage) {
  const auto workers = static_cast<double>(std::max<std::int64_t>(1, point.workers));
  const double working = working_of(point, storage);
  return working > 0 ? std::min(workers, point.images_per_s.value * working / 1e9) : workers;
}

double share_at_work(const std::vector<const LoaderPoint*>& points) {
  for (const LoaderPoint* const point : points) {
    if (point->workers == 1 && point->loader == "capacity") {
      return std::clamp(active_of(*point, false), 0.5, 1.0);
    }
  }
  return 1;
}

std::vector<const LoaderPoint*> law_points(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                                           std::string& from) {
  std::vector<const LoaderPoint*> chosen;
  const auto take = [&](const std::vector<LoaderPoint>& all, const auto& wanted, const char* what) {
    if (!chosen.empty()) {
      return;
    }
    for (const LoaderPoint& point : all) {
      if (point.workers != left_out && point.images_per_s.value > 0 && wanted(point)) {
        chosen.push_back(&point);
        from = what;
      }
    }
  };
  take(
      points.capacity, [](const LoaderPoint&) { return true; }, "the loader alone");
  take(
      points.pool,
      [](const LoaderPoint& point) { return point.workers > 0 && point.au && point.au->value < 0.9; },
      "starved consumers");
  take(
      points.pool,
      [](const LoaderPoint& point) { return point.workers > 0 && !point.batch_times_ns.empty(); },
      "fed consumers");
  take(
      points.pool, [](const LoaderPoint& point) { return !point.batch_times_ns.empty(); },
      "the consumer's thread");
  return chosen;
}

simulator::CapacityPoint capacity_of(const LoaderPoint& point, bool storage, double at_work) {
  if (point.workers > 0) {
    const auto workers = static_cast<double>(point.workers);
    return {.active = std::min(workers, active_of(point, storage) / at_work),
            .images_per_s = point.usual_images_per_s,
            .ci95 = point.images_per_s.ci95};
  }
  // The consumer's thread makes a batch and does other things; what it would make were it all it does.
  const double scale = 1 / std::max(1e-6, active_of(point, storage));
  return {.active = 1,
          .images_per_s = point.images_per_s.value * scale,
          .ci95 = {point.images_per_s.ci95.low * scale, point.images_per_s.ci95.high * scale}};
}

}  // namespace bench::sweeps
