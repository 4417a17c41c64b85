// How many workers a consumer that is not here would need.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "sweeps/workers/what_if.h"

namespace bench::sweeps {
namespace {}  // namespace

SimulatedDemand simulate_demand(const Profile& profile, const WhatIf& what_if, const Demand& demand) {
  SimulatedDemand answer;
  answer.demand = demand;
  answer.gpus = what_if.gpus;
  simulator::Pipeline pipeline = asked(profile, what_if, 1);
  pipeline.beside.clear();  // it is another machine's consumer, not on these cores
  pipeline.compute_ns = {static_cast<double>(profile.batch) / demand.images_per_s * 1e9};
  pipeline.gap_ns = 0;

  const double image_ns = 1e9 / pipeline.law.one;
  const double latency_ns = pipeline.storage ? pipeline.storage->latency_ns : 0;
  const double needed =
      kFed * demand.images_per_s * (image_ns + latency_ns) / 1e9;  // workers that lose nothing
  const double cores = pipeline.law.cores / what_if.gpus;
  const auto most = static_cast<std::int64_t>(
      std::clamp(std::ceil(std::max({2 * needed, 4 * cores, 16.0})), 1.0, static_cast<double>(kMostWorkers)));
  answer.tops_out = std::max(pipeline.law.best(most * what_if.gpus), what_if.measured_rate);
  if (pipeline.storage && pipeline.storage->bytes_per_s > 0 && profile.bytes_read > 0) {
    answer.tops_out = std::min(answer.tops_out, pipeline.storage->bytes_per_s / profile.bytes_read);
  }
  if (pipeline.copy_ns > 0) {
    answer.tops_out =
        std::min(answer.tops_out, what_if.gpus * static_cast<double>(profile.batch) / pipeline.copy_ns * 1e9);
  }
  // What it demands is what it takes when images are there: an AU that leaves out waits for the copy, as that
  // of simulate_point() does, would call it fed by a copy that is too slow for it.
  const auto try_with = [&](std::int64_t workers) {
    pipeline.workers = workers;
    const SimulatedPoint point = simulate_point(profile, pipeline);
    const double au = point.images_per_s / (demand.images_per_s * what_if.gpus);
    return std::pair(std::min(1.0, au), point.limited_by);
  };
  const auto fed = [&](std::int64_t workers) {
    const auto [au, limited_by] = try_with(workers);
    if (au > answer.au) {
      answer.au = au;
      answer.limited_by = limited_by;
    }
    return au >= kFed;
  };
  // Doubling to a count that is enough, then halving the gap; AU grows with the workers but for what crowding
  // takes.
  std::int64_t low = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(needed)), 1, most) - 1;
  std::int64_t high = low + 1;
  while (!fed(high)) {
    if (high == most) {
      return answer;
    }
    low = high;
    high = std::min(most, high + std::max<std::int64_t>(1, high / 4));
  }
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (fed(middle) ? high : low) = middle;
  }
  answer.workers = high;
  std::tie(answer.au, answer.limited_by) = try_with(high);
  return answer;
}

}  // namespace bench::sweeps
