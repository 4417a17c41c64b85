#include "bench/evaluate/evaluated_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/result/result_json.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

double deviation_of_step(const SampleStats& stats) {
  const auto interval = stats.in_another_run();
  return interval && interval->low > 0 ? log_deviation(*interval, kNormal95) : 0;
}

CurvePoint measured_point(const Point& point, std::int64_t batch) {
  const SampleStats& stats = point.stats;
  const double deviation = deviation_of_step(stats);
  const double items = point.items_per_step;
  return {
      .batch = batch,
      .per_s = point.items_per_s().value,
      .interval = rate_interval(stats.in_another_run(), items),
      .in_run = rate_interval(point.step_ns().ci95, items),
      .few_rounds = has_flag(point, kFewRoundsFlag),
      .bytes = std::max(point.memory.peak_measured, point.memory.driver_used),
      .memory = {.at_peak = point.memory.by_category, .peak = point.memory.peak_measured},
      .flops_per_sample = point.work.flops / items,
      .input_bytes_per_sample = static_cast<double>(point.memory.by_category[MemoryCategory::input]) / items,
      .power_w = point.validity.power_w,
      .batch_deviation = deviation > 0 ? std::optional(deviation) : std::nullopt,
      .step = {.step_ns = stats.median_ns, .interval80_ns = {}, .deviation = deviation},
      .accumulate = std::max<std::int64_t>(1, whole_member(point.params, "accumulate")),
      .timeline = point.timeline};
}

// Where the first two ranks of a cards sweep ran, as losses are named.
std::string place_of_two(const ResultDocument& document) {
  const Json& state = document.sweep.state;
  const auto cards = state.find("cards");
  const bool told = cards != state.end() && cards->is_object() && cards->contains("hosts");
  const Json hosts = told ? cards->at("hosts") : Json();
  return place_of_cards(document.context.device.kind == "cpu",
                        hosts.is_array() && hosts.size() > 1 && hosts[0] != hosts[1]);
}

using PlaceOfPoint = std::pair<std::string, std::int64_t>;  // dtype and batch
PlaceOfPoint place_of(const Point& point) {
  return {text_member(point.params, "dtype"), whole_member(point.params, "batch")};
}

// The first whole step of two ranks in each place.
std::map<PlaceOfPoint, TwoRanks> steps_of_two_ranks(const ResultDocument& document) {
  std::map<PlaceOfPoint, TwoRanks> steps;
  std::set<PlaceOfPoint> seen;
  for (const Point& point : measured_points(document)) {
    if (whole_member(point.params, "ranks") != 2 || point.params.contains("shard") ||
        point.params.contains("split") || !(point.stats.median_ns > 0) ||
        !seen.insert(place_of(point)).second) {
      continue;
    }
    if (const double deviation = deviation_of_step(point.stats); deviation > 0) {
      steps[place_of(point)] = {point.stats.median_ns, deviation, place_of_two(document)};
    }
  }
  return steps;
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
      predicted_point(batch, point.items_per_step,
                      {.step_ns = step_ns.value,
                       .interval80_ns = step_ns.ci95.value_or(Interval{}),
                       .host_deviation = part("host_deviation"),
                       .gpu_ns = part("gpu_ns"),
                       .host_ns = part("host_ns")},
                      {.at_peak = point.memory.by_category, .peak = point.peak(), .peak80 = peak80_of(model)},
                      point.work.flops);
  read.framework = text_member(model, "framework");
  read.ratio_deviation = positive_member(model, "ratio_deviation");
  read.batch_deviation = positive_member(model, "batch_deviation");
  return read;
}

// fp16 of a modelled device is autocast, unless the model is cast whole.
std::string dtype_of(const Json& params, const RunContext& context) {
  const std::string dtype = text_member(params, "dtype");
  return dtype == "fp16" && context.detail("cast") == "whole" ? "half" : dtype;
}

void add_point(std::vector<Curve>& curves, const std::string& dtype, const CurvePoint& point) {
  if (point.batch < 1 || dtype.empty() || !std::isfinite(point.per_s) || !(point.per_s > 0)) {
    return;
  }
  auto curve = std::ranges::find(curves, dtype, &Curve::dtype);
  if (curve == curves.end()) {
    curve = curves.insert(curves.end(), {.dtype = dtype, .points = {}});
  }
  curve->points.push_back(point);
}

}  // namespace

// A peak of the data sheet is of dense products summed in fp32; a card without units for 16 bits computes
// them on its fp32 cores.
void set_peak(Curve& curve, const RunContext& context, const Json& datasheet) {
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
    curve.peak_measured = context.device.kind != "modelled";
  }
}

int dtype_rank(std::string_view dtype) {
  constexpr std::array<std::string_view, 5> kOrder{"fp32", "tf32", "bf16", "fp16", "half"};
  return static_cast<int>(std::ranges::find(kOrder, dtype) - kOrder.begin());
}

void take_largest(Curve& curve, const std::vector<Finding>& findings) {
  const Finding* const found =
      find_finding(findings, "largest_batch", curve.dtype == "half" ? "fp16" : curve.dtype);
  if (found == nullptr || !found->value || *found->value < 1) {
    return;
  }
  const auto largest = static_cast<std::int64_t>(*found->value);
  if (!curve.largest || largest < *curve.largest) {
    curve.largest = largest;
    const CurvePoint& last = curve.points.back();
    curve.extrapolated =
        !last.is_predicted && text_member(found->details, "source") == "extrapolated" && largest > last.batch;
  }
}

std::vector<Curve> evaluated_curves(const ResultDocument& document, const Json& datasheet) {
  std::vector<Curve> curves;
  const std::map<PlaceOfPoint, TwoRanks> of_two_ranks = steps_of_two_ranks(document);
  for (const Point& point : document.points) {
    if (point.is_timed() && point.items_per_step > 0 && whole_member(point.params, "ranks") < 2 &&
        !has_flag(point, kAbovePeak)) {
      const std::int64_t batch = whole_member(point.params, "batch");
      CurvePoint one = point.is_measured() ? measured_point(point, batch) : read_prediction(point, batch);
      if (const auto two = of_two_ranks.find(place_of(point)); one.timeline && two != of_two_ranks.end()) {
        one.two_ranks = two->second;
      }
      add_point(curves, dtype_of(point.params, document.context), one);
    }
  }
  for (Curve& curve : curves) {
    std::ranges::sort(curve.points, {}, &CurvePoint::batch);
    set_peak(curve, document.context, datasheet);
    take_largest(curve, document.findings);
  }
  return curves;
}

}  // namespace bench
