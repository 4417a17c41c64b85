// Points that differ in their batch only, read from a result document, with the fits through them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/dtype.h"
#include "bench/model/curve.h"
#include "bench/result/result.h"
#include "bench/stats/step_time.h"
#include "sweeps/series/planned.h"

namespace bench::sweeps {

// A point's params in batch and memory; params_of() in points.h wrote them.
struct BatchParams {
  std::int64_t batch = 0;
  Dtype dtype = Dtype::fp32;
  std::string mode;
  std::map<std::string, std::string> options;  // of the workload, in text
};

// nullopt without a batch or a known dtype.
std::optional<BatchParams> read_params(const Json& params);

// The curve of one series: `bytes` of its points are those that a plan counts, without the driver's.
struct BatchSeries : Curve {
  std::string label;                         // as sentences name it: "fp32", "fp32 training with adam"
  BatchParams params;                        // of its first point
  std::vector<CurvePoint> timed;             // timed_points()
  std::vector<std::string> left_out;         // names of points above the device's peak
  std::optional<std::int64_t> smallest_oom;  // by prediction or by trying
  bool ran_out_of_time = false;              // a batch was left out for the time budget
  std::optional<std::int64_t> cap_bytes;
  Peaks peaks;

  std::optional<StepTimeModel> model;
  std::optional<LargestByPlan> planned;  // below cap_bytes; only a sweep that plans it sets it

  void analyse();  // fills `timed`, the model and the curve from the points
  void take_plan(const std::optional<LargestByPlan>& plan) {
    planned = plan;
    largest = plan ? std::optional(plan->batch) : largest;
    extrapolated = extrapolated && !plan;
  }
  std::vector<std::string> names() const;  // of all points
  std::vector<std::string> timed_names() const;
  bool is_predicted() const { return !points.empty() && points.front().is_predicted; }
  // How its points came about, in sentences.
  std::string_view how_made() const { return is_predicted() ? "predicted" : "measured"; }
};

// The label of the series that a point with these params belongs to.
using SeriesLabel = std::function<std::string(const BatchParams& params)>;

// One analysed series for each label that has points, in the order of the points; those without BatchParams
// are left out. Predicted points are taken as they are: the error of one card's points is nearly the same, so
// that it moves no saturation batch.
std::vector<BatchSeries> read_series(const ResultDocument& document, const SeriesLabel& label);

}  // namespace bench::sweeps
