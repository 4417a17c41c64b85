// One batch of a curve: its throughput and memory, as a document's point or a model's step has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/model/cards_step.h"
#include "bench/model/gpu_model.h"
#include "bench/result/gradient_timeline.h"
#include "bench/result/result.h"
#include "bench/stats/ratio.h"
#include "bench/stats/saturation.h"

namespace bench {

struct CurvePoint {
  std::int64_t batch = 0;
  double per_s = 0;                    // samples a second; 0 of a point that is only planned
  std::optional<Interval> interval{};  // of per_s: 95 % where it was measured, 80 % where it is predicted
  std::optional<Interval> in_run{};    // of per_s, within one run: by it that run's batches are compared
  bool few_rounds = false;             // too few for an interval to hold the spread between rounds
  bool contended = false;              // other processes used the CPU
  bool is_bound = false;               // per_s is the most that it can be, and has no interval
  std::int64_t bytes = 0;              // at the peak, or as the driver saw where that is more; 0: not known
  PredictedMemory memory{};            // as tracked, at the peak; measured, it has no interval
  double flops_per_sample = 0;         // 0: not known
  double input_bytes_per_sample = 0;   // 0: not known
  std::optional<double> power_w{};     // measured
  // Of a prediction: whose it is, its step, and the deviation of the logarithm that this device adds to that
  // of a ratio to another one, where it is known.
  bool is_predicted = false;
  std::string framework{};
  std::optional<double> ratio_deviation{};
  // What this batch adds to the deviation of the logarithm of a ratio to another batch on the same card,
  // where it is known; and that card, where several of it are compared with one.
  std::optional<double> batch_deviation{};
  std::string of_card{};
  PredictedStep step{};         // measured: its time and deviation; of several machines their range too
  std::int64_t accumulate = 1;  // micro-batches of a training step
  // Of a training step: when its gradients are ready; spread evenly where it is predicted.
  std::optional<GradientTimeline> timeline{};
  std::optional<TwoRanks> two_ranks{};
  std::optional<CardsStep> cards{};  // of cards that train together, which `per_s` is of
  const Point* point = nullptr;      // of the document, where that outlives the curve

  const std::string& name() const { return point->name; }
  // As sentences and pictures give it: of a measured point within its run.
  const std::optional<Interval>& shown_interval() const { return is_predicted ? interval : in_run; }
  std::int64_t weights() const;  // of `bytes`
  // What the saturation batch is found by: of a measured point this run's interval, which its batches share.
  ThroughputPoint throughput() const;
};

// A measured or a predicted point of a document; `point` is not set.
CurvePoint curve_point(const Point& point);
// Of a measured point, with its interval within the run, which holds the median and lies above 0.
Estimate step_in_run(const Point& point);

// Of the logarithm of the step's time, by its interval; 0 without one.
double deviation_of(const CurvePoint& point);
// Of a predicted point: half its 80 % interval, the longer side, as a logarithm; 0 without one.
double half_width80(const CurvePoint& point);
// How many times as fast one dtype is as another on one card, both predicted: see gain_half_width80().
Ratio predicted_gain(const CurvePoint& one, const CurvePoint& other);

// The rate's interval is the step time's turned over. `items`: of a step.
std::optional<Interval> rate_interval(const std::optional<Interval>& step_ns, double items);

// A predicted step of `items` samples, which does so many operations.
CurvePoint predicted_point(std::int64_t batch, double items, PredictedStep step, PredictedMemory memory,
                           double flops);

}  // namespace bench
