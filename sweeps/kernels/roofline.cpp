#include "sweeps/kernels/roofline.h"

#include <algorithm>

namespace bench::sweeps {
namespace {

RoofCeiling ceiling_of(const KernelPoint& point, double amount) {
  return {.rate = amount / (point.median_ns * 1e-9),
          .ci95 = {amount / (point.ci95_ns.high * 1e-9), amount / (point.ci95_ns.low * 1e-9)},
          .name = point.name};
}

}  // namespace

bool trusted(const KernelPoint& point) {
  return std::ranges::find(point.flags, "above_peak") == point.flags.end();
}

std::vector<KernelPoint> kernel_points(const ResultDocument& document) {
  std::vector<KernelPoint> points;
  for (const MeasuredPoint& measured : document.benchmarks) {
    const Json& params = measured.params;
    if (!params.is_object() || !measured.work.is_object() || measured.stats.median_ns <= 0) {
      continue;
    }
    KernelPoint point;
    point.name = measured.name;
    point.workload = params.value("workload", "");
    point.mode = params.value("mode", "");
    point.dtype = params.value("dtype", "");
    point.caches = params.value("caches", "");
    point.samples = measured.items_per_step;
    point.flops = measured.work.value("flops", 0.0);
    point.bytes = measured.work.value("fixed_bytes", 0.0) + measured.work.value("sample_bytes", 0.0);
    point.median_ns = measured.stats.median_ns;
    point.ci95_ns = measured.stats.ci95_ns;
    if (point.ci95_ns.low <= 0 || point.ci95_ns.high <= 0) {
      point.ci95_ns = {point.median_ns, point.median_ns};
    }
    point.flags = measured.validity.flags;
    points.push_back(std::move(point));
  }
  return points;
}

double last_cache_bytes(const ResultDocument& document) {
  double bytes = 0;
  const Json& context = document.context;
  if (!context.is_object()) {
    return bytes;
  }
  const Json device = context.value("device", Json::object());
  if (device.is_object() && device.value("kind", "") != "cpu") {
    return device.contains("l2_bytes") && device["l2_bytes"].is_number() ? device["l2_bytes"].get<double>()
                                                                         : 0;
  }
  for (const Json& cache : context.value("caches", Json::array())) {
    bytes = std::max(bytes, cache.is_object() ? cache.value("size", 0.0) : 0.0);
  }
  return bytes;
}

bool shows_memory(const KernelPoint& point, double cache_bytes) {
  constexpr double kLeast = 16 * 0x1p20;
  return trusted(point) && point.workload == "stream" && point.caches == "cold" &&
         point.bytes >= std::max(kLeast, 2 * cache_bytes);
}

Roofline roofline_of(const std::vector<KernelPoint>& points, double cache_bytes) {
  constexpr double kNearTheSlope = 0.8;  // of what memory allows: memory sets the pace
  Roofline roofline;
  for (const KernelPoint& point : points) {
    if (shows_memory(point, cache_bytes) &&
        (!roofline.memory || point.bytes_per_s() > roofline.memory->rate)) {
      roofline.memory = ceiling_of(point, point.bytes);
    }
  }
  for (const KernelPoint& point : points) {
    const bool paced_by_memory =
        roofline.memory && point.flops_per_s() > kNearTheSlope * point.intensity() * roofline.memory->rate;
    if (!trusted(point) || point.workload == "stream" || point.flops <= 0 || paced_by_memory) {
      continue;
    }
    RoofCeiling& best = roofline.compute[point.dtype];
    if (point.flops_per_s() > best.rate) {
      best = ceiling_of(point, point.flops);
    }
  }
  return roofline;
}

std::optional<double> Roofline::limit(const KernelPoint& point) const {
  const auto peak = compute.find(point.dtype);
  if (!memory || peak == compute.end() || point.flops <= 0 || point.bytes <= 0) {
    return std::nullopt;
  }
  return std::min(peak->second.rate, point.intensity() * memory->rate);
}

std::optional<Interval> Roofline::limit_ci95(const KernelPoint& point) const {
  if (!limit(point)) {
    return std::nullopt;
  }
  const Interval peak = compute.at(point.dtype).ci95;
  return Interval{std::min(peak.low, point.intensity() * memory->ci95.low),
                  std::min(peak.high, point.intensity() * memory->ci95.high)};
}

std::optional<double> Roofline::ridge(const std::string& dtype) const {
  const auto peak = compute.find(dtype);
  if (!memory || peak == compute.end() || memory->rate <= 0) {
    return std::nullopt;
  }
  return peak->second.rate / memory->rate;
}

}  // namespace bench::sweeps
