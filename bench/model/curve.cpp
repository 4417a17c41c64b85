#include "bench/model/curve.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "bench/stats/saturation.h"
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

}  // namespace

PredictedCurve predicted_curve(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting,
                               const std::vector<std::int64_t>& batches) {
  PredictedCurve curve;
  if (const auto reason = model.unsupported(setting)) {
    curve.problem = "unsupported: " + *reason;
    return curve;
  }
  curve.largest = model.largest_batch(terms, setting);
  StepSetting at = setting;
  for (const std::int64_t batch :
       batches.empty()
           ? powers_of_two(std::max(curve.largest.safe, std::min<std::int64_t>(curve.largest.most, 1)))
           : batches) {
    if (batch > curve.largest.most) {
      curve.beyond.push_back(batch);
      continue;
    }
    at.batch = batch;
    curve.batches.push_back(
        {.batch = batch, .step = model.step(terms, at), .memory = model.memory(terms, at)});
  }
  if (curve.batches.empty()) {
    at.batch = batches.empty() ? 1 : batches.front();
    curve.problem =
        fmt::format("out of memory: batch {} needs {} of {}", at.batch,
                    format_bytes(model.memory(terms, at).peak), format_bytes(model.usable_bytes()));
  }
  curve.saturation = saturation_of(curve.batches);
  return curve;
}

std::size_t saturation_of(const std::vector<PredictedBatch>& batches) {
  double best = 0;
  for (const PredictedBatch& batch : batches) {
    best = std::max(best, batch.per_s());
  }
  const auto first = std::ranges::find_if(
      batches, [&](const PredictedBatch& batch) { return batch.per_s() >= kSaturatedShare * best; });
  return first == batches.end() ? 0 : static_cast<std::size_t>(first - batches.begin());
}

std::string limit_of(const PredictedStep& step) {
  constexpr double kHalf = 0.5;
  if (step.host_share >= kHalf) {
    return "the host";
  }
  const std::array<std::pair<double, const char*>, 3> parts{
      {{step.products_ns, "products"},
       {step.memory_ns, "memory"},
       {step.tiles_ns + step.launches_ns, "short kernels"}}};
  return std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first)->second;
}

}  // namespace bench
