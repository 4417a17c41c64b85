// A network's predicted steps on one card, by batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/model/gpu_model.h"

namespace bench {

struct PredictedBatch {
  std::int64_t batch = 1;
  PredictedStep step;
  PredictedMemory memory;

  double per_s() const { return static_cast<double>(batch) / step.step_ns * 1e9; }
  Interval interval80_per_s() const {
    return {.low = static_cast<double>(batch) / step.interval80_ns.high * 1e9,
            .high = static_cast<double>(batch) / step.interval80_ns.low * 1e9};
  }
};

struct PredictedCurve {
  std::string problem;                  // why there are no batches; empty where there are
  LargestBatch largest;                 // that the card's memory holds
  std::vector<PredictedBatch> batches;  // growing
  std::vector<std::int64_t> beyond;     // asked for, and surely beyond the card's memory
  std::size_t saturation = 0;           // of `batches`: the first that reaches 95 % of the best throughput

  const PredictedBatch& at_saturation() const { return batches[saturation]; }
};

// `batches` empty: powers of two, up to the largest that is safe. `setting`'s batch is not read.
PredictedCurve predicted_curve(const GpuModel& model, const NetworkTerms& terms, const StepSetting& setting,
                               const std::vector<std::int64_t>& batches);

// The first of growing batches whose throughput reaches 95 % of the best; 0 for none.
std::size_t saturation_of(const std::vector<PredictedBatch>& batches);

// What takes most of a step: "products", "memory", "short kernels" or "the host".
std::string limit_of(const PredictedStep& step);

}  // namespace bench
