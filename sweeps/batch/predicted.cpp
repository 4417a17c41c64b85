#include "sweeps/batch/predicted.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench/model/gpu_model.h"
#include "bench/result/finding.h"
#include "bench/result/result.h"
#include "bench/stats/memory_line.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/series/findings.h"

namespace bench::sweeps {
namespace {

// The parts of a step, and the largest of them.
struct Parts {
  double gpu_ns = 0;
  double host_ns = 0;
  double products_ns = 0;
  double memory_ns = 0;
  std::string_view limit{};
};

Parts parts_of(const BatchPoint& point) {
  const Json& model = point.predicted->model;
  const auto part = [&](const char* name) { return model.value(name, 0.0); };
  Parts parts{.gpu_ns = part("gpu_ns"),
              .host_ns = part("host_ns"),
              .products_ns = part("products_ns") + part("tiles_ns"),
              .memory_ns = part("memory_ns")};
  parts.limit = parts.host_ns > parts.gpu_ns          ? "launch"
                : parts.products_ns > parts.memory_ns ? "compute"
                                                      : "memory";
  return parts;
}

std::string parts_in_words(const Parts& parts) {
  if (parts.limit == "launch") {
    return fmt::format("the host limits a step: launching its operations takes {}, the GPU's work {}",
                       format_duration(parts.host_ns), format_duration(parts.gpu_ns));
  }
  const bool computes = parts.limit == "compute";
  return fmt::format("{} limits a step: {} of the GPU's {}, {} {}", computes ? "arithmetic" : "memory",
                     format_duration(computes ? parts.products_ns : parts.memory_ns),
                     format_duration(parts.gpu_ns), computes ? "moving data" : "arithmetic",
                     format_duration(computes ? parts.memory_ns : parts.products_ns));
}

// Of the logarithm.
double half_width80(const BatchPoint& point) {
  const std::optional<Interval>& step = point.predicted->interval80_ns;
  return step ? std::log(step->high / step->low) / 2 : 0;
}

PredictedWidth width_of(const BatchPoint& point) {
  return {.half_width80 = half_width80(point),
          .host_deviation = point.predicted->model.value("host_deviation", 0.0)};
}

}  // namespace

Finding predicted_t_inf(const BatchSeries& series) {
  Finding finding = finding_of("t_inf", "samples/s", series.names());
  if (series.points.size() < 2) {
    finding.claim = too_few(series, "The asymptotic throughput");
    return finding;
  }
  const BatchPoint& last = series.points.back();
  const BatchPoint& before = series.points[series.points.size() - 2];
  const double slope_ns =
      (last.step_ns.value - before.step_ns.value) / static_cast<double>(last.batch - before.batch);
  const Ratio per_s = within_factor(1e9 / slope_ns, std::exp(half_width80(last)), kPredictedLevel);
  finding.details = {{"t_inf_per_s", per_s.value}, {"batches", {before.batch, last.batch}}};
  set_ratio(finding, per_s);
  finding.claim = fmt::format("Asymptotic throughput of {}: {} samples/s.", series.label, in_words(per_s));
  return finding;
}

Finding predicted_limit(const BatchPoint& point, const BatchSeries& series, std::string name) {
  Finding finding = finding_of(std::move(name), "share of step time", {point.name});
  const Parts parts = parts_of(point);
  const double largest =
      parts.limit == "launch" ? parts.host_ns : std::max(parts.products_ns, parts.memory_ns);
  finding.value = std::min(1.0, largest / point.step_ns.value);
  finding.details = {{"limit", parts.limit}, {"batch", point.batch}};
  finding.claim = fmt::format("At batch {} in {} {}.", point.batch, series.label, parts_in_words(parts));
  return finding;
}

Ratio predicted_ratio(const BatchPoint& a, const BatchPoint& b) {
  return within_factor(a.throughput.per_s / b.throughput.per_s,
                       std::exp(gain_half_width80(width_of(a), width_of(b))), kPredictedLevel);
}

}  // namespace bench::sweeps
