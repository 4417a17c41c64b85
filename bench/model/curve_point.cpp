#include "bench/model/curve_point.h"

#include <algorithm>
#include <cmath>

#include "bench/model/parallel_step.h"
#include "bench/result/flags.h"
#include "bench/result/result_json.h"
#include "bench/result/sessions.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

// Of a step; a file may not tell how many.
double items_of(const Point& point, std::int64_t batch) {
  return point.items_per_step > 0 ? point.items_per_step : static_cast<double>(batch);
}

CurvePoint measured_point(const Point& point, std::int64_t batch) {
  const std::optional<Interval> in_another_run = point.stats.in_another_run();
  const double deviation =
      in_another_run && in_another_run->low > 0 ? log_deviation(*in_another_run, kNormal95) : 0;
  const double items = items_of(point, batch);
  const Estimate rate = point.is_timed() ? inverse(step_in_run(point), items * 1e9) : Estimate{};
  return {
      .batch = batch,
      .per_s = rate.value,
      .interval = rate_interval(in_another_run, items),
      .in_run = rate.ci95,
      .few_rounds = has_flag(point, kFewRoundsFlag),
      .contended = has_flag(point, kContention),
      .bytes = std::max(point.memory.peak_measured, point.memory.driver_used),
      .memory = {.at_peak = point.memory.by_category, .peak = point.memory.peak_measured},
      .flops_per_sample = point.work.flops / items,
      .input_bytes_per_sample = static_cast<double>(point.memory.by_category[MemoryCategory::input]) / items,
      .power_w = point.validity.power_w,
      .batch_deviation = deviation > 0 ? std::optional(deviation) : std::nullopt,
      .step = {.step_ns = point.stats.median_ns, .interval80_ns = {}, .deviation = deviation},
      .accumulate = std::max<std::int64_t>(1, whole_member(point.params, "accumulate")),
      .timeline = point.timeline};
}

// "model" of a predicted point; nothing where a file has none.
Interval peak80_of(const Json& model) {
  const auto found = model.is_object() ? model.find("peak_interval80") : model.end();
  const bool is_interval = found != model.end() && found->is_array() && found->size() == 2 &&
                           (*found)[0].is_number() && (*found)[1].is_number();
  return is_interval ? Interval{(*found)[0].get<double>(), (*found)[1].get<double>()} : Interval{};
}

CurvePoint read_prediction(const Point& point, std::int64_t batch) {
  const auto& [step_ns, model] = point.prediction;
  const auto part = [&](const char* name) { return positive_member(model, name).value_or(0); };
  CurvePoint read =
      predicted_point(batch, items_of(point, batch),
                      {.step_ns = step_ns.value,
                       .interval80_ns = step_ns.ci95.value_or(Interval{}),
                       .host_deviation = part("host_deviation"),
                       .gpu_ns = part("gpu_ns"),
                       .host_ns = part("host_ns"),
                       .products_ns = part("products_ns"),
                       .memory_ns = part("memory_ns"),
                       .tiles_ns = part("tiles_ns"),
                       .launches_ns = part("launches_ns")},
                      {.at_peak = point.memory.by_category, .peak = point.peak(), .peak80 = peak80_of(model)},
                      point.work.flops);
  read.framework = text_member(model, "framework");
  read.ratio_deviation = positive_member(model, "ratio_deviation");
  read.batch_deviation = positive_member(model, "batch_deviation");
  return read;
}

}  // namespace

std::int64_t CurvePoint::weights() const {
  return std::clamp<std::int64_t>(memory.at_peak[MemoryCategory::weights], 0,
                                  std::max<std::int64_t>(0, bytes));
}

ThroughputPoint CurvePoint::throughput() const {
  return is_predicted ? ThroughputPoint::predicted(batch, per_s) : ThroughputPoint{batch, per_s, in_run};
}

CurvePoint curve_point(const Point& point) {
  const std::int64_t batch = whole_member(point.params, "batch");
  return point.is_measured() ? measured_point(point, batch) : read_prediction(point, batch);
}

Estimate step_in_run(const Point& point) {
  const auto [step_ns, interval] = point.step_ns();
  return {.value = step_ns,
          .ci95 = interval ? std::optional(
                                 Interval{.low = std::clamp(interval->low, std::min(1.0, step_ns), step_ns),
                                          .high = std::max(interval->high, step_ns)})
                           : std::nullopt};
}

double deviation_of(const CurvePoint& point) {
  return !point.is_predicted ? point.step.deviation
         : point.interval    ? log_deviation(*point.interval, kNormal80)
                             : 0;
}

double half_width80(const CurvePoint& point) {
  return point.interval
             ? std::log(std::max(point.per_s / point.interval->low, point.interval->high / point.per_s))
             : 0;
}

Ratio predicted_gain(const CurvePoint& one, const CurvePoint& other) {
  const auto width = [](const CurvePoint& point) {
    return PredictedWidth{.half_width80 = half_width80(point), .host_deviation = point.step.host_deviation};
  };
  return within_factor(one.per_s / other.per_s, std::exp(gain_half_width80(width(one), width(other))),
                       kPredictedLevel);
}

std::optional<Interval> rate_interval(const std::optional<Interval>& step_ns, double items) {
  return step_ns && step_ns->high > step_ns->low ? inverse({.value = 1, .ci95 = step_ns}, items * 1e9).ci95
                                                 : std::nullopt;
}

CurvePoint predicted_point(std::int64_t batch, double items, PredictedStep step, PredictedMemory memory,
                           double flops) {
  const std::int64_t gradients = memory.at_peak[MemoryCategory::gradients];
  return {.batch = batch,
          .per_s = step.step_ns > 0 ? items * 1e9 / step.step_ns : 0,
          .interval = rate_interval(step.interval80_ns, items),
          .bytes = memory.peak,
          .memory = memory,
          .flops_per_sample = flops / items,
          .input_bytes_per_sample = static_cast<double>(memory.at_peak[MemoryCategory::input]) / items,
          .is_predicted = true,
          .ratio_deviation = step.ratio_deviation,
          .batch_deviation = step.batch_deviation,
          .step = step,
          .timeline = gradients > 0
                          ? std::optional(even_timeline(step.step_ns, 1, static_cast<double>(gradients)))
                          : std::nullopt};
}

}  // namespace bench
