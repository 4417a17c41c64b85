#include "sweeps/transfer/model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench::sweeps {

Estimate rate_of(const Estimate& ns_per_byte) {
  Estimate rate{.value = 1e9 / ns_per_byte.value, .ci95 = std::nullopt};
  if (ns_per_byte.ci95 && ns_per_byte.ci95->low > 0) {
    rate.ci95 = {1e9 / ns_per_byte.ci95->high, 1e9 / ns_per_byte.ci95->low};
  }
  return rate;
}

std::optional<Estimate> half_rate_bytes(const Estimate& latency_ns, const Estimate& bytes_per_s) {
  if (latency_ns.value <= 0) {
    return std::nullopt;
  }
  Estimate half{.value = latency_ns.value * 1e-9 * bytes_per_s.value, .ci95 = std::nullopt};
  if (latency_ns.ci95 && bytes_per_s.ci95) {
    half.ci95 = {std::max(0.0, latency_ns.ci95->low) * 1e-9 * bytes_per_s.ci95->low,
                 latency_ns.ci95->high * 1e-9 * bytes_per_s.ci95->high};
  }
  return half;
}

WeightedTimes::WeightedTimes(std::span<const CopyTime> points) {
  for (const CopyTime& point : points) {
    bytes.push_back(point.bytes);
    times.push_back(point.ns);
    weights.push_back(1 / (point.ns * point.ns));
  }
}

std::optional<TransferModel> fit_transfer(std::span<const CopyTime> points) {
  const WeightedTimes all(points);
  const auto line = fit_line(all.bytes, all.times, all.weights);
  if (!line) {
    return std::nullopt;
  }
  const auto [least, most] = std::ranges::minmax(all.bytes);
  if (!(line->slope.value * (most - least) >= kLeastGrowth * std::abs(line->at(least)))) {
    return std::nullopt;
  }
  TransferModel model;
  model.latency_ns = line->intercept;
  model.bytes_per_s = rate_of(line->slope);
  model.half_bytes = half_rate_bytes(model.latency_ns, model.bytes_per_s);
  model.r_squared = line->r_squared;
  model.points = points.size();
  return model;
}

std::optional<double> median_of(std::vector<double> values) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::optional<Interval> median_interval(std::vector<double> values) {
  constexpr double kEachSide = 0.025;
  std::ranges::sort(values);
  // How likely it is that at most `below` of them lie below the median.
  double chance = std::pow(0.5, static_cast<double>(values.size()));
  double likely = chance;
  std::size_t below = 0;
  while (2 * below + 1 < values.size() && likely <= kEachSide) {
    ++below;
    chance *= static_cast<double>(values.size() - below + 1) / static_cast<double>(below);
    likely += chance;
  }
  if (below == 0) {
    return std::nullopt;
  }
  return Interval{.low = values[below - 1], .high = values[values.size() - below]};
}

std::optional<double> faster_from(std::span<const CopyTime> first, std::span<const CopyTime> second) {
  std::vector<std::pair<double, bool>> sizes;  // is it faster there?
  for (const CopyTime& one : first) {
    const auto other = std::ranges::find(second, one.bytes, &CopyTime::bytes);
    if (other != second.end()) {
      sizes.emplace_back(one.bytes, one.ci95_ns.high < other->ci95_ns.low);
    }
  }
  std::ranges::sort(sizes, std::greater{});
  std::optional<double> from;
  for (const auto& [bytes, faster] : sizes) {
    if (!faster) {
      break;
    }
    from = bytes;
  }
  return from;
}

}  // namespace bench::sweeps
