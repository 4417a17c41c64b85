// A device's throughput and memory by batch in one dtype, from a result of the batch sweep.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/gradient_timeline.h"
#include "bench/result/result.h"

namespace bench {

// Of cards that train together: what they are compared with, in which the one card's error cancels.
struct OverOneCard {
  double one_per_s = 0;  // samples a second of the one that they were predicted from
  Interval speedup80{};  // over it
};

struct EvaluatedPoint {
  std::int64_t batch = 0;
  double per_s = 0;                    // samples a second
  std::optional<Interval> interval{};  // of per_s: 95 % where it was measured, 80 % where it is predicted
  bool is_bound = false;               // per_s is the most that it can be, and has no interval
  std::int64_t bytes = 0;              // at the peak, or as the driver saw where that is more; 0: not known
  double flops_per_sample = 0;         // 0: not known
  double input_bytes_per_sample = 0;   // 0: not known
  std::optional<double> power_w{};     // measured
  // Of a prediction: whose it is, and deviations of its logarithm: what this device adds to that of a ratio
  // to another one, and the part that devices on one host share. See PredictedStep.
  bool is_predicted = false;
  std::string framework{};
  std::optional<double> ratio_deviation{};
  double host_deviation = 0;
  double gpu_ns = 0;            // of a step: the card's work
  double host_ns = 0;           // launching its operations; 0: not counted
  std::int64_t accumulate = 1;  // micro-batches of a training step
  // Of a training step: when its gradients are ready; spread evenly where it is predicted.
  std::optional<GradientTimeline> timeline{};
  std::optional<OverOneCard> over_one{};
};

// A device's points in one dtype, as the result names it.
struct EvaluatedCurve {
  std::string dtype;
  std::vector<EvaluatedPoint> points;        // by batch; at least one
  std::size_t saturation = 0;                // index of the saturation batch
  std::optional<std::int64_t> largest{};     // batch that the device's memory holds
  bool extrapolated = false;                 // `largest`: from the memory line, beyond the points
  std::optional<double> peak_flops_per_s{};  // summed in fp32
  std::string peak_dtype{};    // that it is the peak of: fp32 on a card without units for `dtype`
  bool peak_measured = false;  // else of the data sheet

  const EvaluatedPoint& at_saturation() const { return points[saturation]; }
  const EvaluatedPoint* at(std::int64_t batch) const;
  // `largest`, which is set; in two digits where it is extrapolated.
  std::int64_t quoted_largest() const;
};

// The curves of a document's points, measured or predicted; each sorted, with its peak. `datasheet`: the
// device's entry of the catalogue, or null.
std::vector<EvaluatedCurve> evaluated_curves(const ResultDocument& document, const Json& datasheet);
// Sets `saturation`, and `largest` by the memory line where no model has given it.
void complete_curve(EvaluatedCurve& curve, bool predicted, std::int64_t usable_bytes);

// fp32 first, then the narrower ones.
int dtype_rank(std::string_view dtype);

}  // namespace bench
