#include "sweeps/transfer/model.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench::sweeps {

TransferModel transfer_model(const Estimate& intercept, const Estimate& slope, std::size_t points) {
  TransferModel model;
  model.latency_ns = intercept;
  model.bytes_per_s.value = 1e9 / slope.value;
  if (slope.ci95 && slope.ci95->low > 0) {
    model.bytes_per_s.ci95 = {1e9 / slope.ci95->high, 1e9 / slope.ci95->low};
  }
  model.points = points;
  if (model.latency_ns.value > 0) {
    Estimate half;
    half.value = model.latency_ns.value * 1e-9 * model.bytes_per_s.value;
    if (model.latency_ns.ci95 && model.bytes_per_s.ci95) {
      half.ci95 = {std::max(0.0, model.latency_ns.ci95->low) * 1e-9 * model.bytes_per_s.ci95->low,
                   model.latency_ns.ci95->high * 1e-9 * model.bytes_per_s.ci95->high};
    }
    model.half_bytes = half;
  }
  return model;
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
  if (!line || line->slope.value <= 0) {
    return std::nullopt;
  }
  TransferModel model = transfer_model(line->intercept, line->slope, points.size());
  model.r_squared = line->r_squared;
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

std::optional<double> crossing(const TransferModel& first, const TransferModel& second) {
  const double slopes = 1e9 / first.bytes_per_s.value - 1e9 / second.bytes_per_s.value;  // ns a byte
  const double bytes = (second.latency_ns.value - first.latency_ns.value) / slopes;
  return slopes != 0 && std::isfinite(bytes) && bytes > 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace bench::sweeps
