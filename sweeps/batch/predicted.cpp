#include "sweeps/batch/predicted.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/model/gpu_model.h"
#include "bench/result/finding.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"
#include "sweeps/series/predicted.h"

namespace bench::sweeps {
namespace {

void set80(Finding& finding, double value, const Interval& interval) {
  finding.value = value;
  finding.details["interval80"] = {interval.low, interval.high};
}

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

Finding limit_at(const BatchPoint& point, const BatchSeries& series, std::string name) {
  Finding finding = finding_of(std::move(name), "share of step time", {point.name});
  const Parts parts = parts_of(point);
  const double largest =
      parts.limit == "launch" ? parts.host_ns : std::max(parts.products_ns, parts.memory_ns);
  finding.value = std::min(1.0, largest / point.step_ns.value);
  finding.details = {{"limit", parts.limit}, {"batch", point.batch}};
  finding.claim = fmt::format("At batch {} in {} {}.", point.batch, series.label, parts_in_words(parts));
  return finding;
}

Finding nothing_predicted(Finding finding) {
  finding.claim = "No batch can be predicted.";
  return finding;
}

PredictedWidth width_of(const BatchPoint& point) {
  return {.half_width80 = half_width80(point),
          .host_deviation = point.predicted->model.value("host_deviation", 0.0)};
}

// a's throughput over b's: two dtypes of one card.
Estimate ratio80(const BatchPoint& a, const BatchPoint& b) {
  const double value = a.throughput.per_s / b.throughput.per_s;
  const double width = std::exp(gain_half_width80(width_of(a), width_of(b)));
  return {.value = value, .ci95 = Interval{value / width, value * width}};
}

// Both points of the largest batch that both have, of `wanted` where they have it; null: there is none.
std::pair<const BatchPoint*, const BatchPoint*> shared_batch(const BatchSeries& one, const BatchSeries& other,
                                                             std::int64_t wanted) {
  std::pair<const BatchPoint*, const BatchPoint*> found{nullptr, nullptr};
  for (const BatchPoint& point : one.points) {
    const BatchPoint* const match = other.at(point.batch);
    if (match != nullptr && (found.first == nullptr || found.first->batch != wanted)) {
      found = {&point, match};
    }
  }
  return found;
}

// The first dtype that no later one is surely faster than.
const BatchSeries* choose_predicted(const std::vector<BatchSeries>& all) {
  const BatchSeries* chosen = nullptr;
  for (const BatchSeries& series : all) {
    if (series.points.empty()) {
      continue;
    }
    const auto [one, other] = chosen == nullptr ? std::pair<const BatchPoint*, const BatchPoint*>{}
                                                : shared_batch(series, *chosen, series.at_saturation().batch);
    if (chosen == nullptr || (one != nullptr && ratio80(*one, *other).low() > 1)) {
      chosen = &series;
    }
  }
  return chosen;
}

}  // namespace

Finding predicted_t_inf(const BatchSeries& series) {
  Finding finding = finding_of("t_inf", "samples/s", series.names());
  if (series.points.size() < 2) {
    finding.claim = fmt::format("The asymptotic throughput of {} needs at least 2 batches.", series.label);
    return finding;
  }
  const BatchPoint& last = series.points.back();
  const BatchPoint& before = series.points[series.points.size() - 2];
  const double slope_ns =
      (last.step_ns.value - before.step_ns.value) / static_cast<double>(last.batch - before.batch);
  const double per_s = 1e9 / slope_ns;
  const double width = std::exp(half_width80(last));
  finding.details = {{"t_inf_per_s", per_s}, {"batches", {before.batch, last.batch}}};
  set80(finding, per_s, {per_s / width, per_s * width});
  finding.claim = fmt::format("Asymptotic throughput of {}: {} samples/s.", series.label,
                              with_interval80(per_s, {.low = per_s / width, .high = per_s * width}));
  return finding;
}

Finding predicted_limit(const BatchSeries& series) {
  return series.points.empty() ? nothing_predicted(finding_of("limit_below_ceiling", "share of step time"))
                               : limit_at(series.points.front(), series, "limit_below_ceiling");
}

Finding predicted_limit_at_saturation(const BatchSeries& series) {
  return series.points.empty() ? nothing_predicted(finding_of("limit_at_ceiling", "share of step time"))
                               : limit_at(series.at_saturation(), series, "limit_at_ceiling");
}

Finding predicted_speedup(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("speedup_" + series.label, "ratio");
  const auto [one, other] =
      shared_batch(series, baseline, series.points.empty() ? 0 : series.at_saturation().batch);
  if (one == nullptr) {
    finding.claim = fmt::format("No batch fits in both {} and {}.", series.label, baseline.label);
    return finding;
  }
  const Estimate ratio = ratio80(*one, *other);
  finding.evidence = {one->name, other->name};
  finding.details = {{"batch", one->batch}};
  set80(finding, ratio.value, *ratio.ci95);
  finding.claim =
      fmt::format("{} runs {:.1f} ({:.1f} to {:.1f}) times as fast as {} at batch {}{}.", series.label,
                  ratio.value, ratio.low(), ratio.high(), baseline.label, one->batch,
                  ratio.low() <= 1 && ratio.high() >= 1 ? ": not enough evidence" : "");
  return finding;
}

Finding predicted_recommendation(const std::vector<BatchSeries>& all) {
  Finding finding = finding_of("recommendation", "samples");
  const BatchSeries* const chosen = choose_predicted(all);
  if (chosen == nullptr) {
    return nothing_predicted(std::move(finding));
  }
  const BatchPoint& point = chosen->at_saturation();
  const std::string dtype(name_of(chosen->params.dtype));
  finding.value = static_cast<double>(point.batch);
  finding.evidence = {point.name};
  const Interval interval = throughput80(point);
  finding.details = {{"dtype", dtype},
                     {"batch", point.batch},
                     {"per_s", point.throughput.per_s},
                     {"interval80_per_s", {interval.low, interval.high}}};
  std::string memory = fmt::format(" in {}", format_bytes(point.bytes));
  if (chosen->cap_bytes && *chosen->cap_bytes > 0) {
    const double share = static_cast<double>(point.bytes) / static_cast<double>(*chosen->cap_bytes);
    finding.details["cap_share"] = share;
    finding.details["headroom"] = headroom(share);
    memory += fmt::format(" ({} of the cap, {})", format_percent(share), headroom(share));
  }
  const bool grows = chosen->saturation && chosen->saturation->at_largest;
  const double gain = chosen->saturation ? chosen->saturation->best_per_s / point.throughput.per_s - 1 : 0;
  std::string larger = grows          ? "; it still grows, but no larger batch was asked for or fits"
                       : gain < 0.005 ? "; larger batches gain nothing"
                                      : fmt::format("; larger batches gain at most {}", format_percent(gain));
  finding.claim = fmt::format("Use batch {} in {}: {}{}{}{}.", point.batch, dtype, per_second80(point),
                              memory, chosen->saturation ? larger : "",
                              chosen->params.dtype == Dtype::fp32 ? "" : " [if its accuracy suffices]");
  return finding;
}

}  // namespace bench::sweeps
