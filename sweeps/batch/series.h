// The points of one dtype, read from a result document, and what the fits make of them.
#pragma once

#include <cstdint>
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
  ThroughputPoint throughput;
  StepWork work;
  bool few_rounds = false;             // its interval cannot know the spread between rounds
  std::vector<std::string> throttled;  // flags, "throttled:cpu_contention"
};

// The points of one dtype, by batch, and what was made of them.
struct BatchSeries {
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

// One series for each dtype that has points, in the order of kAllDtypes, analysed. See batch_findings for the
// fields it reads.
std::vector<BatchSeries> read_batch_series(const ResultDocument& document);

}  // namespace bench::sweeps
