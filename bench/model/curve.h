// A device's throughput and memory by batch in one dtype, measured or predicted: what `predict`, `evaluate`
// and `advise` compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model/cards_step.h"
#include "bench/model/gpu_model.h"
#include "bench/result/gradient_timeline.h"

namespace bench {

struct CurvePoint {
  std::int64_t batch = 0;
  double per_s = 0;                    // samples a second
  std::optional<Interval> interval{};  // of per_s: 95 % where it was measured, 80 % where it is predicted
  std::optional<Interval> in_run{};    // of per_s, within one run: by it that run's batches are compared
  bool few_rounds = false;             // too few for an interval to hold the spread between rounds
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
};

// A device's points in one dtype, as the result names it.
struct Curve {
  std::string dtype;
  std::vector<CurvePoint> points;            // by batch; at least one, but for a prediction with a problem
  std::size_t saturation = 0;                // index of the saturation batch, at most `largest`
  std::optional<std::int64_t> largest{};     // batch that the device's memory holds; predicted, that is safe
  bool extrapolated = false;                 // `largest`: from the memory line, beyond the points
  std::optional<double> peak_flops_per_s{};  // summed in fp32
  std::string peak_dtype{};    // that it is the peak of: fp32 on a card without units for `dtype`
  bool peak_measured = false;  // else of the data sheet
  // Of a prediction: why there are no points; the batches that the card's memory holds; those that were asked
  // for and are beyond it.
  std::string problem{};
  LargestBatch limits{};
  std::vector<std::int64_t> beyond{};

  const CurvePoint& at_saturation() const { return points[saturation]; }
  const CurvePoint* at(std::int64_t batch) const;
  // `largest`, which is set; in two digits where it is extrapolated.
  std::int64_t quoted_largest() const;
};

// Sets `saturation`, and `largest` by the memory line where no model has given it.
void complete_curve(Curve& curve, bool predicted, std::int64_t usable_bytes);

// The rate's interval is the step time's turned over. `items`: of a step.
std::optional<Interval> rate_interval(const std::optional<Interval>& step_ns, double items);

// A predicted step of `items` samples, which does so many operations.
CurvePoint predicted_point(std::int64_t batch, double items, PredictedStep step, PredictedMemory memory,
                           double flops);

// `batches` empty: powers of two, up to the largest that is safe. Of others those up to `last`. `setting`'s
// batch is not read.
Curve predicted_curve(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting,
                      const std::vector<std::int64_t>& batches,
                      std::int64_t LargestBatch::*last = &LargestBatch::most);

// What takes most of a step: "products", "memory", "short kernels" or "the host".
std::string limit_of(const PredictedStep& step);

}  // namespace bench
