// A step's time on a GPU that is not here, in parts: pure arithmetic on the data sheet and the coefficients.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/model/gpu_model.h"

namespace bench {

struct CoefficientSet;

// Whose units compute the products; nullopt: the fp32 cores.
std::optional<Dtype> tensor_dtype(const Gpu& gpu, Dtype dtype);
bool is_16_bit(Dtype dtype);
const CoefficientSet& set_of(const ModelCoefficients& coefficients, bool on_tensor_cores);

// A step of so many samples.
StepTerms at_batch(const NetworkTerms& terms, std::int64_t batch);
// Of its products, rounded up to whole tiles as the model counts them.
double flops_of(const NetworkTerms& terms, std::int64_t batch);

// Seconds.
struct GpuTime {
  double products = 0;
  double memory = 0;
  double tiles = 0;
  double launches = 0;
  double power_share = 0;  // how far the time's logarithm moves with that of what power allows

  double total() const { return products + memory + tiles + launches; }
  void scale(double factor) {
    for (double* const part : {&products, &memory, &tiles, &launches}) {
      *part *= factor;
    }
  }
};

// A step's GPU time where the fit alone does not tell it.
struct OrderedTime {
  GpuTime time;
  double variance = 0;  // of the logarithm, in addition
};

// fp32 is never faster than tf32. Where no tf32 step of the kind was measured, tf32 lies between the
// coefficients of 16 bits and of fp32, and the interval spans both.
OrderedTime ordered_time(const GpuModel& model, const StepTerms& work, const StepSetting& setting,
                         bool is_measured_kind);

// The time of two that overlap, the GPU's and the host's.
double joined_time(double gpu, double host, double overlap);

}  // namespace bench
