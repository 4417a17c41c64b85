#include "bench/evaluate/evaluated_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "bench/model/parallel_step.h"
#include "bench/result/result_json.h"
#include "bench/stats/memory_line.h"
#include "bench/stats/saturation.h"

namespace bench {
namespace {

// The rate's interval is the step time's turned over. `items`: of a step.
std::optional<Interval> rate_interval(const std::optional<Interval>& step_ns, double items) {
  if (!step_ns || !(step_ns->low > 0) || !(step_ns->high > step_ns->low)) {
    return std::nullopt;
  }
  return Interval{.low = items * 1e9 / step_ns->high, .high = items * 1e9 / step_ns->low};
}

// What another run on this machine would give, where that is known; else what this one says of itself.
EvaluatedPoint measured_point(const MeasuredPoint& point, std::int64_t batch) {
  const SampleStats& stats = point.stats;
  const double items = point.items_per_step;
  return {
      .batch = batch,
      .per_s = items * 1e9 / stats.median_ns,
      .interval = rate_interval(stats.ci95_between_ns ? stats.ci95_between_ns : stats.ci95_ns, items),
      .bytes = std::max(point.memory.peak_measured, point.memory.driver_used),
      .flops_per_sample = point.work.flops / items,
      .input_bytes_per_sample = static_cast<double>(point.memory.by_category[MemoryCategory::input]) / items,
      .power_w = point.validity.power_w,
      .accumulate = std::max<std::int64_t>(1, whole_member(point.params, "accumulate")),
      .timeline = point.timeline};
}

EvaluatedPoint predicted_point(const PredictedPoint& point, std::int64_t batch) {
  const double items = point.items_per_step;
  const std::int64_t gradients = point.memory[MemoryCategory::gradients];
  return {.batch = batch,
          .per_s = items * 1e9 / point.step_ns,
          .interval = rate_interval(point.interval80_ns, items),
          .bytes = point.peak,
          .flops_per_sample = positive_member(point.model, "flops").value_or(0) / items,
          .input_bytes_per_sample = static_cast<double>(point.memory[MemoryCategory::input]) / items,
          .is_predicted = true,
          .framework = text_member(point.model, "framework"),
          .ratio_deviation = positive_member(point.model, "ratio_deviation"),
          .host_deviation = positive_member(point.model, "host_deviation").value_or(0),
          .gpu_ns = positive_member(point.model, "gpu_ns").value_or(0),
          .host_ns = positive_member(point.model, "host_ns").value_or(0),
          .timeline = gradients > 0
                          ? std::optional(even_timeline(point.step_ns, 1, static_cast<double>(gradients)))
                          : std::nullopt};
}

// fp16 of a modelled device is autocast, unless the model is cast whole.
std::string dtype_of(const Json& params, const RunContext& context) {
  const std::string dtype = text_member(params, "dtype");
  return dtype == "fp16" && context.detail("cast") == "whole" ? "half" : dtype;
}

void add_point(std::vector<EvaluatedCurve>& curves, const std::string& dtype, const EvaluatedPoint& point) {
  if (point.batch < 1 || dtype.empty() || !std::isfinite(point.per_s) || !(point.per_s > 0)) {
    return;
  }
  auto curve = std::ranges::find(curves, dtype, &EvaluatedCurve::dtype);
  if (curve == curves.end()) {
    curve = curves.insert(curves.end(), {.dtype = dtype, .points = {}});
  }
  curve->points.push_back(point);
}

// A peak of the data sheet is of dense products summed in fp32; a card without units for 16 bits computes
// them on its fp32 cores.
void set_peak(EvaluatedCurve& curve, const RunContext& context, const Json& datasheet) {
  const std::string of = curve.dtype == "half" ? "fp16" : curve.dtype;
  if (datasheet.is_object() && datasheet.contains("flops_per_s")) {
    const Json& rates = datasheet["flops_per_s"];
    curve.peak_flops_per_s = positive_member(rates, of);
    curve.peak_dtype = of;
    if (!curve.peak_flops_per_s) {
      curve.peak_flops_per_s = positive_member(rates, "fp32");
      curve.peak_dtype = "fp32";
    }
    return;
  }
  const std::optional<Dtype> dtype = parse_dtype(of);
  const auto measured = dtype ? context.peaks.find(*dtype) : context.peaks.end();
  if (measured != context.peaks.end() && measured->second.flops_per_s > 0) {
    curve.peak_flops_per_s = measured->second.flops_per_s;
    curve.peak_dtype = of;
    curve.peak_measured = measured->second.source.find("data sheet") == std::string::npos;
  }
}

// The batch that the model computed itself.
std::optional<std::int64_t> predicted_largest(const std::string& dtype,
                                              const std::vector<Finding>& findings) {
  for (const std::string& name : {"largest_batch/" + dtype, std::string("largest_batch")}) {
    const auto found = std::ranges::find(findings, name, &Finding::name);
    if (found != findings.end() && found->value && *found->value >= 1) {
      return static_cast<std::int64_t>(*found->value);
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> by_memory_line(const EvaluatedCurve& curve, std::int64_t usable_bytes) {
  std::vector<MemoryPoint> points;
  for (const EvaluatedPoint& point : curve.points) {
    if (point.bytes > 0) {
      points.push_back({.batch = point.batch, .bytes = point.bytes});
    }
  }
  const std::optional<MemoryLine> line = fit_memory_line(points);
  return line && usable_bytes > 0 ? line->largest_batch(usable_bytes) : std::nullopt;
}

// A prediction's points share their error, so that their medians tell which batch is the first near the best.
std::size_t saturation_of(const EvaluatedCurve& curve, bool predicted) {
  std::vector<ThroughputPoint> points;
  double best = 0;
  for (const EvaluatedPoint& point : curve.points) {
    points.push_back({.batch = point.batch, .per_s = point.per_s, .ci95 = point.interval});
    best = std::max(best, point.per_s);
  }
  const std::optional<Saturation> found = predicted ? std::nullopt : find_saturation(points);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    const bool is_first = found && found->batch ? curve.points[i].batch == *found->batch
                                                : curve.points[i].per_s >= kSaturatedShare * best;
    if (is_first) {
      return i;
    }
  }
  return curve.points.size() - 1;
}

}  // namespace

int dtype_rank(std::string_view dtype) {
  constexpr std::array<std::string_view, 5> kOrder{"fp32", "tf32", "bf16", "fp16", "half"};
  return static_cast<int>(std::ranges::find(kOrder, dtype) - kOrder.begin());
}

const EvaluatedPoint* EvaluatedCurve::at(std::int64_t batch) const {
  const auto found = std::ranges::find(points, batch, &EvaluatedPoint::batch);
  return found == points.end() ? nullptr : &*found;
}

std::vector<EvaluatedCurve> evaluated_curves(const ResultDocument& document, const Json& datasheet) {
  std::vector<EvaluatedCurve> curves;
  for (const MeasuredPoint& point : document.benchmarks) {
    if (point.items_per_step > 0) {
      add_point(curves, dtype_of(point.params, document.context),
                measured_point(point, whole_member(point.params, "batch")));
    }
  }
  for (const PredictedPoint& point : document.predicted) {
    if (point.items_per_step > 0) {
      add_point(curves, dtype_of(point.params, document.context),
                predicted_point(point, whole_member(point.params, "batch")));
    }
  }
  for (EvaluatedCurve& curve : curves) {
    std::ranges::sort(curve.points, {}, &EvaluatedPoint::batch);
    set_peak(curve, document.context, datasheet);
    if (!document.predicted.empty()) {
      curve.largest = predicted_largest(curve.dtype == "half" ? "fp16" : curve.dtype, document.findings);
    }
  }
  return curves;
}

std::int64_t EvaluatedCurve::quoted_largest() const {
  const std::int64_t batch = *largest;
  std::int64_t digit = 1;
  while (extrapolated && batch / digit >= 100) {
    digit *= 10;
  }
  return batch / digit * digit;
}

void complete_curve(EvaluatedCurve& curve, bool predicted, std::int64_t usable_bytes) {
  curve.saturation = saturation_of(curve, predicted);
  if (curve.largest) {
    return;
  }
  const std::int64_t last = curve.points.back().batch;
  if (const std::optional<std::int64_t> fits = by_memory_line(curve, usable_bytes)) {
    curve.largest = std::max(*fits, last);
    curve.extrapolated = !predicted && *curve.largest > last;
  }
}

}  // namespace bench
