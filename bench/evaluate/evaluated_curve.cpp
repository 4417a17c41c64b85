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

namespace bench {
namespace {

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
    if (const PredictedStep step = curve_point(point).step; step.deviation > 0) {
      steps[place_of(point)] = {step.step_ns, step.deviation, place_of_two(document)};
    }
  }
  return steps;
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
      CurvePoint one = curve_point(point);
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
