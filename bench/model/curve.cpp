#include "bench/model/curve.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bench/model/step_time.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::vector<std::int64_t> powers_of_two(std::int64_t last) {
  constexpr std::int64_t kMost = 1 << 16;  // long after any saturation
  std::vector<std::int64_t> batches;
  for (std::int64_t batch = 1; batch <= std::min(last, kMost); batch *= 2) {
    batches.push_back(batch);
  }
  return batches;
}

// Of the batches that are safe: a larger one may not run.
std::vector<ThroughputPoint> rates_of(const Curve& curve) {
  std::vector<ThroughputPoint> rates;
  for (const CurvePoint& point : timed_points(curve.points)) {
    if (rates.empty() || !curve.largest || point.batch <= *curve.largest) {
      rates.push_back(point.throughput());
    }
  }
  return rates;
}

std::vector<MemoryPoint> memory_of(const Curve& curve) {
  std::vector<MemoryPoint> memory;
  for (const CurvePoint& point : curve.points) {
    memory.push_back({.batch = point.batch, .bytes = point.bytes, .weights = point.weights()});
  }
  return memory;
}

}  // namespace

const CurvePoint* Curve::at(std::int64_t batch) const {
  const auto found = std::ranges::find(points, batch, &CurvePoint::batch);
  return found == points.end() ? nullptr : &*found;
}

std::int64_t Curve::quoted_largest() const {
  const std::int64_t batch = *largest;
  const bool far = extrapolated && batch > 2 * points.back().batch;
  std::int64_t digit = 1;
  while (far && batch / digit >= 100) {
    digit *= 10;
  }
  return batch / digit * digit;
}

std::string Curve::largest_in_words() const {
  return fmt::format("{}{}", extrapolated ? "about " : "", quoted_largest());
}

std::vector<CurvePoint> timed_points(const std::vector<CurvePoint>& points) {
  std::vector<CurvePoint> timed = points;
  std::erase_if(timed, [](const CurvePoint& point) { return point.few_rounds; });
  timed = timed.size() < 2 ? points : timed;
  std::erase_if(timed, [](const CurvePoint& point) { return !(point.per_s > 0); });
  return timed;
}

void complete_curve(Curve& curve, std::int64_t usable_bytes) {
  const std::vector<ThroughputPoint> rates = rates_of(curve);
  curve.fits = BatchFits(rates, memory_of(curve));
  if (!rates.empty()) {
    curve.saturation_index = static_cast<std::size_t>(
        std::ranges::find(curve.points, rates[curve.fits.index()].batch, &CurvePoint::batch) -
        curve.points.begin());
  }
  const bool has_limits = curve.limits.most > 0;
  if (curve.points.empty() || curve.largest || has_limits) {
    return;
  }
  const std::int64_t last = curve.points.back().batch;
  const std::optional<std::int64_t> cap = usable_bytes > 0 ? std::optional(usable_bytes) : std::nullopt;
  if (const std::optional<std::int64_t> most = curve.fits.largest_batch(cap)) {
    curve.largest = std::max(*most, last);
    curve.extrapolated = !curve.points.back().is_predicted && *curve.largest > last;
  }
}

Curve predicted_curve(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting,
                      const std::vector<std::int64_t>& batches, std::int64_t LargestBatch::*last) {
  Curve curve{.dtype = setting.cast_whole ? "half" : std::string(name_of(setting.dtype)), .points = {}};
  if (const auto reason = model.unsupported(setting)) {
    curve.problem = "unsupported: " + *reason;
    return curve;
  }
  curve.limits = model.largest_batch(terms, setting);
  if (curve.limits.safe > 0) {
    curve.largest = curve.limits.safe;
  }
  StepSetting at = setting;
  for (const std::int64_t batch :
       batches.empty()
           ? powers_of_two(std::max(curve.limits.safe, std::min<std::int64_t>(curve.limits.most, 1)))
           : batches) {
    if (batch > curve.limits.*last) {
      curve.beyond.push_back(batch);
      continue;
    }
    at.batch = batch;
    CurvePoint point = predicted_point(batch, static_cast<double>(batch), model.step(terms, at),
                                       model.memory(terms, at), flops_of(terms, batch));
    point.framework = name_of(model.framework());
    curve.points.push_back(std::move(point));
  }
  if (curve.points.empty()) {
    at.batch = batches.empty() ? 1 : batches.front();
    curve.problem =
        fmt::format("out of memory: batch {} needs {}, the card has room for {}", at.batch,
                    format_bytes(model.memory(terms, at).peak), format_bytes(model.usable_bytes()));
    return curve;
  }
  complete_curve(curve, model.usable_bytes());
  return curve;
}

}  // namespace bench
