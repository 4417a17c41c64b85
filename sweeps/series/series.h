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
#include "bench/result/result.h"
#include "bench/stats/batch_fits.h"
#include "bench/stats/paired_ratio.h"
#include "bench/stats/saturation.h"
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

// A point of the document, which outlives it.
struct BatchPoint {
  const Point* point = nullptr;
  std::int64_t batch = 0;
  Estimate step_ns{};  // in claims about a series a predicted step has no width: see read_series()
  RoundTimes times{};
  std::int64_t bytes = 0;    // tracked peak; 0 where it was not tracked
  std::int64_t weights = 0;  // of these
  ThroughputPoint throughput{};
  bool few_rounds = false;  // too few for its interval to hold the spread between rounds
  bool contended = false;   // other processes used the CPU

  const std::string& name() const { return point->name; }
  bool is_predicted() const { return !point->is_measured(); }
  // Samples/s: 95 % of a measured point, 80 % of a predicted one.
  std::optional<Interval> interval() const {
    return is_predicted() ? point->items_per_s().ci95 : throughput.ci95;
  }
};

// The points of one series, by batch, and their fits.
struct BatchSeries : BatchFits {
  std::string label;   // as sentences name it: "fp32", "fp32 training with adam"
  BatchParams params;  // of its first point
  std::vector<BatchPoint> points;
  // For claims about speed: the points of at least 3 rounds, or all points if fewer than two have them.
  std::vector<BatchPoint> timed;
  std::vector<std::string> left_out;         // names of points above the device's peak
  std::optional<std::int64_t> smallest_oom;  // by prediction or by trying
  bool ran_out_of_time = false;              // a batch was left out for the time budget
  std::optional<std::int64_t> cap_bytes;
  Peaks peaks;

  std::optional<StepTimeModel> model;
  std::optional<LargestByPlan> planned;  // below cap_bytes; only a sweep that plans it sets it

  void analyse();                          // fills `timed`, the model and the fits from the points
  std::vector<std::string> names() const;  // of all points
  std::vector<std::string> timed_names() const;
  const BatchPoint* at(std::int64_t batch) const;  // nullptr where it was not measured
  bool is_predicted() const { return !points.empty() && points.front().is_predicted(); }
  // How its points came about, in sentences.
  std::string_view done() const { return is_predicted() ? "predicted" : "measured"; }
  // The batch to use; of one point that one. There are points.
  const BatchPoint& at_saturation() const;
  // Below cap_bytes, by plan where there is one, else where the memory line meets it. nullopt without a cap,
  // or where memory does not grow with the batch.
  std::optional<std::int64_t> largest_batch() const;
};

// The label of the series that a point with these params belongs to.
using SeriesLabel = std::function<std::string(const BatchParams& params)>;

// One analysed series for each label that has points, in the order of the points; those without BatchParams
// are left out. Predicted points are taken as they are: the error of one card's points is nearly the same, so
// that it moves no saturation batch.
std::vector<BatchSeries> read_series(const ResultDocument& document, const SeriesLabel& label);

}  // namespace bench::sweeps
