#include "bench/model/step_certainty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <optional>

#include "bench/model/step_time.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

constexpr double kUnmeasuredGeneration = 2;  // times the card's deviation: a judgement
// torch.compile's mean error on the measured card, 14.3 %, as the deviation of a normal distribution.
constexpr double kCompiledRest = 0.16;
// Of a step's FLOPs from where a network is one of attention, and of its bytes from where it is a depthwise
// one.
constexpr double kAttentionShare = 0.5;
constexpr double kDepthwiseShare = 0.1;
// Of a network's deviation, where it was measured on the card at another batch: a judgement.
constexpr double kBetweenBatches = 0.5;

// What the network does most, by its forward products and its traffic.
NetworkKind kind_of(const StepTerms& work) {
  const auto flops = [&](ProductClass product) { return work.flops[static_cast<std::size_t>(product)]; };
  const double attention =
      flops(ProductClass::linear) + flops(ProductClass::batched) + flops(ProductClass::attention);
  const auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  if (attention > kAttentionShare * sum(work.flops)) {
    return NetworkKind::attention;
  }
  const double depthwise = work.bytes[static_cast<std::size_t>(Traffic::depthwise)];
  return depthwise > kDepthwiseShare * sum(work.bytes) ? NetworkKind::depthwise : NetworkKind::convolutions;
}

NumberKind numbers_of(const Gpu& gpu, const StepSetting& setting) {
  return !tensor_dtype(gpu, setting.dtype) ? NumberKind::fp32
         : setting.dtype == Dtype::tf32    ? NumberKind::tf32
         : setting.cast_whole              ? NumberKind::cast_whole
                                           : NumberKind::autocast;
}

// Few chips tell badly how chips differ. The factor is Student's t at 0.9 over the normal distribution's,
// with at least two degrees of freedom, since other kinds tell something too.
double few_chips_variance(double card, std::size_t chips) {
  constexpr std::array<double, 5> kStudent{1.47, 1.28, 1.20, 1.15, 1.12};  // of 3, 4, … 7 chips
  constexpr std::size_t kFirst = 3;
  const double factor = kStudent[std::min(std::max(chips, kFirst) - kFirst, kStudent.size() - 1)];
  return card * card * (factor * factor - 1);
}

const ModelSpread& spread_of(const GpuModel& model, const NetworkTerms& terms) {
  return terms.is_language ? model.coefficients().language : model.coefficients().image;
}

// Of a network on a card, whose own deviation is another.
double rest_deviation(const GpuModel& model, const NetworkTerms& terms) {
  const double rest = spread_of(model, terms).rest;
  const bool compiled = model.framework() == Framework::pytorch_compiled;
  return (compiled ? std::max(rest, kCompiledRest) : rest) + terms.unknown_share;
}

}  // namespace

bool shares_memory(const Gpu& gpu) {
  return !gpu.bus && (gpu.memory_kind.starts_with("lpddr") || gpu.memory_kind.starts_with("ddr"));
}

bool is_measured_generation(const GpuModel& model, Dtype dtype) {
  const Gpu& gpu = model.gpu();
  return !shares_memory(gpu) && set_of(model.coefficients(), tensor_dtype(gpu, dtype).has_value())
                                    .measured_capability(gpu.compute_capability);
}

KindEvidence kind_evidence(const GpuModel& model, const StepTerms& work, const StepSetting& setting) {
  const ModelCoefficients& coefficients = model.coefficients();
  const UnmeasuredSpread& unmeasured = coefficients.unmeasured;
  KindEvidence evidence{.numbers = numbers_of(model.gpu(), setting),
                        .network = kind_of(work),
                        .is_measured = false,
                        .variance = std::numeric_limits<double>::infinity(),
                        .only_on = {}};
  for (const MeasuredKind& kind : coefficients.kinds) {
    const auto square = [](double deviation, bool differs) { return differs ? deviation * deviation : 0; };
    const double differs = square(unmeasured.numbers, kind.numbers != evidence.numbers) +
                           square(unmeasured.mode, kind.train != setting.train) +
                           square(unmeasured.network, kind.network != evidence.network);
    evidence.is_measured = evidence.is_measured || differs == 0;
    const bool has_chip = std::ranges::find(kind.chips, model.gpu().chip) != kind.chips.end();
    constexpr std::size_t kFewChips = 2;
    if (differs == 0 && !has_chip && kind.chips.size() <= kFewChips) {
      evidence.only_on = kind.chips;
    }
    evidence.variance =
        std::min(evidence.variance,
                 differs + (has_chip ? 0 : few_chips_variance(coefficients.image.card, kind.chips.size())));
  }
  if (is_16_bit(setting.dtype) && evidence.numbers == NumberKind::fp32) {
    evidence.variance += unmeasured.numbers * unmeasured.numbers;
  }
  return evidence;
}

double between_batches_deviation(const GpuModel& model, const NetworkTerms& terms) {
  return spread_of(model, terms).scale * kBetweenBatches * rest_deviation(model, terms);
}

double own_deviation(const GpuModel& model, const NetworkTerms& terms, Dtype dtype, double further) {
  const ModelCoefficients& coefficients = model.coefficients();
  const ModelSpread& spread = spread_of(model, terms);
  const bool compiled = model.framework() == Framework::pytorch_compiled;
  const auto& chips = coefficients.compiled.chips;
  const bool measured_compiled = std::ranges::find(chips, model.gpu().chip) != chips.end();
  const bool unmeasured = !is_measured_generation(model, dtype) || (compiled && !measured_compiled);
  const double card = spread.card * (unmeasured ? kUnmeasuredGeneration : 1);
  const double rest = rest_deviation(model, terms);
  const auto scaled = [&](double variance) { return spread.scale * std::sqrt(variance); };
  switch (model.evidence().reference) {
    case GpuEvidence::Reference::none:
      break;
    case GpuEvidence::Reference::same_network:
      return between_batches_deviation(model, terms);
    case GpuEvidence::Reference::same_card:  // and another network, which errs by itself too
      return scaled(rest * rest + spread.rest * spread.rest);
    case GpuEvidence::Reference::other_card:
      return scaled(card * card + rest * rest + further + spread.card * spread.card +
                    spread.rest * spread.rest);
  }
  return scaled(card * card + rest * rest + further);
}

double ratio_variance(const ModelSpread& spread, double own) {
  const double counted = spread.scale * combined_deviation({spread.card, spread.rest});
  return std::pow(spread.ratio_half_width / kNormal80, 2) / 2 + std::max(0.0, own * own - counted * counted);
}

double gain_half_width80(const PredictedWidth& a, const PredictedWidth& b) {
  const auto own_variance = [](const PredictedWidth& of) {
    return std::max(0.0, std::pow(of.half_width80, 2) - std::pow(kNormal80 * of.host_deviation, 2));
  };
  const double host = kNormal80 * (a.host_deviation - b.host_deviation);
  return std::sqrt(own_variance(a) + own_variance(b) + host * host);
}

}  // namespace bench
