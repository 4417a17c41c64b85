#include "sweeps/kernels/roofline.h"

#include <algorithm>
#include <cstdlib>

#include "bench/result/flags.h"
#include "bench/stats/best_estimate.h"

namespace bench::sweeps {

std::optional<KernelParams> read_kernel_params(const Json& params) {
  if (!params.is_object()) {
    return std::nullopt;
  }
  return KernelParams{.workload = params.value("workload", ""),
                      .mode = params.value("mode", ""),
                      .dtype = params.value("dtype", ""),
                      .cold = params.value("caches", "") == "cold"};
}

std::vector<KernelResult> read_results(const ResultDocument& document) {
  std::vector<KernelResult> points;
  const FlagMarks marks(measured_points(document));
  for (const Point& one : document.points) {
    const auto params = read_kernel_params(one.params);
    if (!params || !one.is_timed()) {
      continue;
    }
    KernelResult& point = points.emplace_back(KernelResult{*params});
    point.name = one.name;
    point.samples = one.items_per_step;
    point.launches = one.is_measured() ? one.work.launches : 1;
    point.flops = one.work.flops;
    point.bytes = one.work.fixed_bytes + one.work.sample_bytes;
    point.step_ns = one.is_measured() ? one.stats.step_time() : Estimate{.value = one.step_ns().value};
    point.step80_ns = one.prediction.step_ns.ci95;
    point.rounds = round_times(one);
    point.mark = marks.of(one);
    point.above_peak = has_flag(one, kAbovePeak);
  }
  return points;
}

double last_cache_bytes(const RunContext& context) {
  if (const std::string own = context.detail("l2_bytes"); !own.empty()) {
    return std::strtod(own.c_str(), nullptr);
  }
  double bytes = 0;
  for (const RunContext::Cache& cache : context.caches) {
    bytes = std::max(bytes, static_cast<double>(cache.size));
  }
  return bytes;
}

bool is_beyond_caches(double bytes, double cache_bytes) {
  constexpr double kLeast = 16 * 0x1p20;
  return bytes >= std::max(kLeast, 2 * cache_bytes);
}

bool shows_memory(const KernelResult& point, double cache_bytes) {
  return !point.above_peak && point.is_stream() && point.cold && is_beyond_caches(point.bytes, cache_bytes);
}

std::optional<RoofCeiling> ceiling_of(const std::vector<const KernelResult*>& points,
                                      Estimate (KernelResult::*rate)() const) {
  std::vector<Estimate> rates;
  for (const KernelResult* const point : points) {
    rates.push_back((point->*rate)());
  }
  const auto best = best_estimate(rates);
  if (!best) {
    return std::nullopt;
  }
  RoofCeiling ceiling{.rate = best->estimate, .name = points[best->place]->name};
  for (const std::size_t rival : best->rivals) {
    ceiling.rivals.push_back(points[rival]->name);
  }
  return ceiling;
}

// Batch 1 only: in a larger batch the host does not wait for each launch.
const KernelResult* launch_point(const std::vector<KernelResult>& points) {
  const auto point = std::ranges::find_if(
      points, [](const KernelResult& one) { return one.workload == "launch" && one.samples == 1; });
  return point == points.end() ? nullptr : &*point;
}

Roofline roofline_of(const std::vector<KernelResult>& points, double cache_bytes) {
  constexpr double kNearTheSlope = 0.8;  // of what memory allows: memory sets the pace
  Roofline roofline;
  if (const KernelResult* const launch = launch_point(points)) {
    roofline.launch_ns = launch->step_ns;
  }
  std::vector<const KernelResult*> streams;
  for (const KernelResult& point : points) {
    if (shows_memory(point, cache_bytes)) {
      streams.push_back(&point);
    }
  }
  roofline.memory = ceiling_of(streams, &KernelResult::bandwidth);
  std::map<std::string, std::vector<const KernelResult*>> computing;  // by dtype
  for (const KernelResult& point : points) {
    const double rate = point.rate().value;
    const bool paced_by_memory =
        roofline.memory && rate > kNearTheSlope * point.intensity() * roofline.memory->rate.value;
    if (point.above_peak || point.is_stream() || point.flops <= 0 || paced_by_memory) {
      continue;
    }
    computing[point.dtype].push_back(&point);
  }
  for (const auto& [dtype, alike] : computing) {
    if (auto best = ceiling_of(alike, &KernelResult::rate)) {
      roofline.compute[dtype] = *std::move(best);
    }
  }
  return roofline;
}

bool only_references_timed(const ResultDocument& document, const std::set<std::string>& references) {
  const auto is_reference = [&](const auto& point) { return references.contains(point.name); };
  return !measured_points(document).empty() && std::ranges::all_of(measured_points(document), is_reference) &&
         std::ranges::any_of(document.unmeasured, [&](const UnmeasuredPoint& point) {
           return point.status == "skipped" && !is_reference(point);
         });
}

Roofline roofline_in(const ResultDocument& document, const std::set<std::string>& references) {
  if (!modelled_points(document).empty()) {
    Roofline sheet;
    for (const auto& [dtype, peaks] : document.context.peaks) {
      sheet.memory = RoofCeiling{.rate = {.value = peaks.bytes_per_s}, .name = kDataSheet};
      sheet.compute[std::string(name_of(dtype))] = {.rate = {.value = peaks.flops_per_s}, .name = kDataSheet};
    }
    return sheet;
  }
  return only_references_timed(document, references)
             ? Roofline{}
             : roofline_of(read_results(document), last_cache_bytes(document.context));
}

std::optional<Estimate> Roofline::limit(const KernelResult& point) const {
  const auto found = compute.find(point.dtype);
  if (!memory || found == compute.end() || point.flops <= 0 || point.bytes <= 0) {
    return std::nullopt;
  }
  const Estimate& peak = found->second.rate;
  const double intensity = point.intensity();
  Estimate limit{.value = std::min(peak.value, intensity * memory->rate.value)};
  if (peak.ci95 && memory->rate.ci95) {
    limit.ci95 = {std::min(peak.low(), intensity * memory->rate.low()),
                  std::min(peak.high(), intensity * memory->rate.high())};
  }
  return limit;
}

std::optional<Estimate> Roofline::ridge(const std::string& dtype) const {
  const auto peak = compute.find(dtype);
  if (!memory || peak == compute.end() || memory->rate.value <= 0) {
    return std::nullopt;
  }
  return ratio(peak->second.rate, memory->rate);
}

}  // namespace bench::sweeps
