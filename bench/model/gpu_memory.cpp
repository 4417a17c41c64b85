// Memory of a step on a GPU that is not here, and the batches that it holds.
#include <algorithm>
#include <cmath>

#include "bench/model/coefficients.h"
#include "bench/model/gpu_model.h"
#include "bench/model/step_time.h"
#include "bench/stats/bisection.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

// Of what does not grow with the batch: the rest is the driver's context, a judgement.
constexpr double kLentToWorkspace = 0.5;
// The driver's context and kernels, by driver and framework: what nvidia-smi shows beyond PyTorch's own.
constexpr double kLeastContext = 0.5 * (1 << 30);
constexpr double kMostContext = 1.3 * (1 << 30);
// Times the slack's interval above its middle, where training with autocast was not asked: a judgement.
constexpr double kUnmeasuredMemory = 2;
// Sequences that vary in length fragment what the allocator reserves: by 1.2 to 2 in a simulation of it.
constexpr double kReservedForLengths = 1.2;
// A detector's loss compares every box of an image with every anchor, in some ten tensors at once: at 640
// pixels, 8,400 anchors and the 300 boxes of a crowded mosaic 0.1 GB a sample, of the 0.2 GB that YOLOv8s
// holds. How many boxes there are the network does not tell: a judgement.
constexpr double kLossOfBoxes = 1.5;

// Bytes that one more sample takes.
double sample_bytes(const ModelCoefficients& coefficients, const NetworkTerms& terms) {
  return coefficients.slack * terms.peak_bytes_per_sample;
}

// Times the tensors: 80 % of networks.
Interval slack80(const ModelCoefficients& coefficients, const NetworkTerms& terms,
                 const StepSetting& setting) {
  const Interval& known = coefficients.slack80;
  const bool is_measured =
      setting.train && is_16_bit(setting.dtype) && !setting.cast_whole && !terms.is_language;
  const double middle = std::sqrt(known.low * known.high);
  const double high = middle * std::pow(known.high / middle, is_measured ? 1 : kUnmeasuredMemory);
  return {.low = known.low, .high = std::max(coefficients.slack, high)};
}

// Around a likely total, of which `held` bytes grow with the batch. Forms of code and the allocator's reserve
// are not known at once, so that they add up; the slack and the context err each for itself.
Interval peak80(const ModelCoefficients& coefficients, const NetworkTerms& terms, const StepSetting& setting,
                double total, double held) {
  const Interval slack = slack80(coefficients, terms, setting);
  const bool boxes = setting.train && terms.has_other_loss;
  const double reserved = terms.reads_tokens ? kReservedForLengths : boxes ? kLossOfBoxes : 1;
  const auto apart = [&](double form, double of_slack, double context) {
    const double tensors = held * form;
    return total - held + tensors +
           std::copysign(combined_deviation({tensors * (of_slack / coefficients.slack - 1),
                                             context - coefficients.context_bytes}),
                         context - coefficients.context_bytes);
  };
  return {.low = apart(terms.saving.low, slack.low, kLeastContext),
          .high = apart(terms.saving.high * reserved, slack.high, kMostContext)};
}

// Bytes that do not grow with the batch.
MemoryByCategory fixed_memory(const ModelCoefficients& coefficients, const NetworkTerms& terms,
                              const StepSetting& setting) {
  const double width = setting.cast_whole ? 2 : 4;
  const double copies = is_16_bit(setting.dtype) && !setting.cast_whole ? 2 : 0;  // autocast's, of weights
  const auto bytes = [&](double per_parameter) { return std::llround(terms.parameters * per_parameter); };
  MemoryByCategory memory;
  memory[MemoryCategory::other] = std::llround(coefficients.context_bytes);
  memory[MemoryCategory::weights] = bytes(width + copies);
  if (setting.train) {
    memory[MemoryCategory::gradients] = bytes(width);
    memory[MemoryCategory::optimizer] = bytes(width * static_cast<double>(setting.update));
  }
  return memory;
}

}  // namespace

PredictedMemory GpuModel::memory(const NetworkTerms& terms, const StepSetting& setting) const {
  constexpr double kMost = 4e18;  // below 2^62
  PredictedMemory memory;
  memory.at_peak = fixed_memory(coefficients_, terms, setting);
  const auto samples = static_cast<double>(setting.batch);
  const double held = std::min(samples * sample_bytes(coefficients_, terms), kMost);
  const double input = std::min(samples * terms.input_bytes_per_sample, held);
  memory.at_peak[MemoryCategory::input] = std::llround(input);
  memory.at_peak[MemoryCategory::activations] = std::llround(held - input);
  memory.peak = memory.at_peak.total();
  memory.peak80 = peak80(coefficients_, terms, setting, static_cast<double>(memory.peak), held);
  return memory;
}

PredictedMemory GpuModel::memory(const NetworkTerms& terms, const StepSetting& setting,
                                 std::int64_t workspace_bytes) const {
  PredictedMemory memory = this->memory(terms, setting);
  std::int64_t& activations = memory.at_peak[MemoryCategory::activations];
  std::int64_t& other = memory.at_peak[MemoryCategory::other];
  const auto held = static_cast<double>(activations + memory.at_peak[MemoryCategory::input]);
  const std::int64_t slack = std::llround(held * (1 - 1 / std::max(coefficients_.slack, 1.0)));
  const std::int64_t lent = std::llround(kLentToWorkspace * static_cast<double>(other));
  const std::int64_t of_slack = std::min({workspace_bytes, slack, activations});
  const std::int64_t of_other = std::min(workspace_bytes - of_slack, lent);
  activations -= of_slack;
  other -= of_other;
  memory.at_peak[MemoryCategory::workspace] = of_slack + of_other;
  return memory;
}

std::int64_t GpuModel::usable_bytes() const {
  return bench::usable_bytes(gpu_);
}

LargestBatch GpuModel::largest_batch(const NetworkTerms& terms, const StepSetting& setting) const {
  const auto usable = static_cast<double>(usable_bytes());
  const auto largest = [&](const NetworkTerms& of, const auto& bytes) {
    constexpr std::int64_t kMost = 1LL << 40;  // where a sample takes nothing
    return largest_of(kMost, [&](std::int64_t batch) {
      StepSetting at = setting;
      at.batch = batch;
      return bytes(memory(of, at)) <= usable;
    });
  };
  NetworkTerms least = terms;
  least.saving.low = std::min(terms.saving.low, terms.least_saving);
  const auto low = [](const PredictedMemory& memory) { return memory.peak80.low; };
  return {.safe = largest(terms, [](const PredictedMemory& memory) { return memory.peak80.high; }),
          .likely =
              largest(terms, [](const PredictedMemory& memory) { return static_cast<double>(memory.peak); }),
          .bound = largest(terms, low),
          .most = largest(least, low)};
}

}  // namespace bench
