// Points that differ in their batch only, read from a result document, and what the fits make of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/ceiling.h"
#include "bench/measure/limit.h"
#include "bench/measure/memory_line.h"
#include "bench/measure/result.h"
#include "bench/measure/step_time.h"

namespace bench::sweeps {

struct BatchPoint {
  std::string name;
  std::int64_t batch = 0;
  double step_ns = 0;
  std::int64_t bytes = 0;    // tracked peak; 0 where it was not tracked
  std::int64_t weights = 0;  // of these
  PointMemory memory;
  std::int64_t feature_map_bytes = 0;  // whole batch; 0: unknown
  std::int64_t library_bytes = 0;      // expected beyond step_bytes, estimated
  std::int64_t step_bytes = 0;         // planned, held during a step; 0: unknown
  ThroughputPoint throughput;
  StepWork work;
  bool few_rounds = false;             // its interval cannot know the spread between rounds
  std::vector<std::string> throttled;  // flags, "throttled:cpu_contention"
};

// The points of one series, by batch, and what was made of them.
struct BatchSeries {
  std::string label;  // as sentences name it: "fp32", "fp32 training with adam"
  std::string dtype;
  std::vector<BatchPoint> points;
  // What claims about speed rest on: the points of enough rounds, or all where those are less than two.
  std::vector<BatchPoint> timed;
  std::vector<std::string> left_out;         // above the device's peak
  std::optional<std::int64_t> smallest_oom;  // by prediction or by trying
  std::optional<std::int64_t> cap_bytes;
  PeakRates peaks;

  std::optional<StepTimeModel> model;
  std::optional<Ceiling> ceiling;
  std::optional<MemoryLine> memory;

  void analyse();                          // fills `timed` and the last three from the points
  std::vector<std::string> names() const;  // of all points
  std::vector<std::string> timed_names() const;
  const BatchPoint* at(std::int64_t batch) const;  // nullptr where it was not measured
};

// The label of the series that a point with these params belongs to.
using SeriesLabel = std::function<std::string(const Json& params)>;

// One analysed series for each label that has points, in the order of the points; those without a batch or a
// dtype are left out.
std::vector<BatchSeries> read_series(const ResultDocument& document, const SeriesLabel& label);

}  // namespace bench::sweeps
