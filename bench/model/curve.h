// A device's throughput and memory by batch in one dtype, measured or predicted: what sweeps, `predict`,
// `evaluate` and `advise` compare.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model/curve_point.h"
#include "bench/model/gpu_model.h"
#include "bench/stats/batch_fits.h"

namespace bench {

// A device's points in one dtype, as the result names it.
struct Curve {
  std::string dtype;
  std::vector<CurvePoint> points;            // by batch; at least one, but for a prediction with a problem
  BatchFits fits{};                          // of timed_points() up to `largest`, and of all points' memory
  std::size_t saturation_index = 0;          // of the saturation batch, one of those points
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

  const CurvePoint& at_saturation() const { return points[saturation_index]; }
  const CurvePoint* at(std::int64_t batch) const;
  // `largest`, which is set; in two digits far beyond the points.
  std::int64_t quoted_largest() const;
  std::string largest_in_words() const;  // "3497"; "about 3400" where it is extrapolated
};

// For claims about speed: those of at least 3 rounds, or all if fewer than two have them; without planned
// ones.
std::vector<CurvePoint> timed_points(const std::vector<CurvePoint>& points);

// Sets the fits, the saturation batch, and `largest` by the memory line where no model has given it.
void complete_curve(Curve& curve, std::int64_t usable_bytes);

// `batches` empty: powers of two, up to the largest that is safe. Of others those up to `last`. `setting`'s
// batch is not read.
Curve predicted_curve(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting,
                      const std::vector<std::int64_t>& batches,
                      std::int64_t LargestBatch::*last = &LargestBatch::most);

}  // namespace bench
