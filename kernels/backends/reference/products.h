// The products of the reference implementations: sums in double, each in the order of its terms.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace bench::kernels {

// The inner loops of the reference convolutions and products: a few pixels, or rows, by a few outputs at a
// time, so that the sums stay in registers.
struct DotBlock {
  static constexpr std::int64_t kPixels = 6;
  static constexpr std::int64_t kOutputs = 32;

  // The channels of each pixel, one after the other.
  std::array<const float*, kPixels> pixels{};
  std::array<std::array<double, kOutputs>, kPixels> sums{};

  // sums[i][k] += Σ_c pixels[i][c] · weights[c][k], over `channels` channels of kOutputs weights each.
  void add(const float* weights, std::int64_t channels);
};

// dst[m,n] = start[n] + Σ_k src[m,k] · weights[n,k]; start may be empty, for zeros. Row-major. Threads take
// columns.
void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst);

}  // namespace bench::kernels
