// The time of one matrix product: tiles, waves of tiles, memory.
//
//   time = launch + (compute^norm + memory^norm)^(1/norm)
//   compute = min over tiles and splits of
//             2·tm·tn·(k/split + ends) · waves · (1 + edge·(1/tm + 1/tn)) / (reach·rate / multiprocessors) (+
//             split)
//
// tools/calibrate/products.py is the definition.
#pragma once

#include <cstdint>

#include "bench/model/coefficients.h"
#include "bench/model/gpu.h"

namespace bench {

// Row-major m × k by k × n.
struct ProductSize {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};

struct PredictedProduct {
  double seconds = 0;
  double half_width80 = 0;   // of the logarithm
  bool is_measured = false;  // the table has products of this dtype, this kind of sums and this generation
};

// Before tensor cores, and where the card has no units for `dtype`, the fp32 cores compute.
PredictedProduct predicted_product(const ProductCoefficients& coefficients, const Gpu& gpu, Dtype dtype,
                                   const ProductSize& size);

}  // namespace bench
