// How sure a predicted step is: what was measured of its kind, and how far steps err that were left out.
#pragma once

#include <string>
#include <vector>

#include "bench/model/coefficients.h"
#include "bench/model/gpu_model.h"

namespace bench {

// Its memory is the host's too: no such device was measured.
bool shares_memory(const Gpu& gpu);
bool is_measured_generation(const GpuModel& model, Dtype dtype);

// Steps of a kind, compared with what was measured.
struct KindEvidence {
  NumberKind numbers = NumberKind::fp32;
  NetworkKind network = NetworkKind::convolutions;
  bool is_measured = false;
  double variance = 0;  // of the logarithm, that the nearest kind measured leaves
  std::vector<std::string>
      only_on{};  // chips that it was measured on, where these are few and not the card's
};

KindEvidence kind_evidence(const GpuModel& model, const StepTerms& work, const StepSetting& setting);

// By how much the logarithm of a step's time deviates because of the card and the network, not of the host.
// `further`: the variance that a card adds which was never measured.
double own_deviation(const GpuModel& model, const NetworkTerms& terms, Dtype dtype, double further);

// By how much the logarithm of the ratio of a network's steps at two batches on one card deviates, because of
// the card and the network.
double between_batches_deviation(const GpuModel& model, const NetworkTerms& terms);

// Half of what two cards' ratio varies by beyond the errors that they share. The pairs that ratio_half_width
// was fitted to are of cards with no more than the spread's deviation.
double ratio_variance(const ModelSpread& spread, double own);

}  // namespace bench
