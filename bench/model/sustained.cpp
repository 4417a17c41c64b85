#include "bench/model/sustained.h"

#include <cmath>

namespace bench {

double sustained_rate(const Gpu& gpu, double peak, double joules, double shrink) {
  constexpr double kReferenceNm = 12;
  constexpr double kSharp = 4;  // how suddenly power limits the peak
  const double cap = gpu.power_w / (joules * std::pow(gpu.process_nm / kReferenceNm, shrink));
  return std::pow(std::pow(peak, -kSharp) + std::pow(cap, -kSharp), -1 / kSharp);
}

}  // namespace bench
