#include "bench/model/sustained.h"

#include <algorithm>
#include <cmath>

namespace bench {

double compute_power(const Gpu& gpu) {
  // O'Connor et al., Fine-Grained DRAM (MICRO 2017): 3.9 pJ a bit of HBM2; GDDR6 takes about 7.5.
  constexpr double kHbmJoules = 31e-12;  // a byte
  constexpr double kOtherJoules = 60e-12;
  constexpr double kLeastShare = 0.3;
  const double memory = gpu.bytes_per_s * (gpu.memory_kind.starts_with("hbm") ? kHbmJoules : kOtherJoules);
  return std::max(gpu.power_w - memory, kLeastShare * gpu.power_w);
}

SustainedRate sustained_rate(const Gpu& gpu, double peak, double watts, const OperationEnergy& energy) {
  constexpr double kReferenceNm = 12;
  constexpr double kSharp = 4;  // how suddenly power limits the peak
  const double cap = watts / (energy.joules * std::pow(gpu.process_nm / kReferenceNm, energy.shrink));
  const double rate = std::pow(std::pow(peak, -kSharp) + std::pow(cap, -kSharp), -1 / kSharp);
  return {.per_s = rate, .power_share = std::pow(rate / cap, kSharp)};
}

bool has_doubled_fp32(const Gpu& gpu) {
  constexpr int kAmpere = 86;
  constexpr int kAda = 89;
  constexpr int kBlackwell = 120;
  return gpu.compute_capability == kAmpere || gpu.compute_capability == kAda ||
         gpu.compute_capability == kBlackwell;
}

}  // namespace bench
