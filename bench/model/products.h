// The time of one 16-bit matrix product on tensor cores: tiles, waves of tiles, memory.
//
//   time = launch + (compute^norm + memory^norm)^(1/norm)
//   compute = min over tiles and splits of
//             2·tm·tn·(k/split + ends) · waves · (1 + edge·(1/tm + 1/tn)) / (rate / multiprocessors)  (+
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

// Seconds. The card has units for `dtype`, fp16 or bf16.
double product_s(const ProductCoefficients& coefficients, const Gpu& gpu, Dtype dtype,
                 const ProductSize& size);

}  // namespace bench
