// The products of the reference implementations: sums in double, each in the order of its terms.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace bench::kernels {

// dst[m,n] = start[n] + Σ_k src[m,k] · weights[n,k]; start may be empty, for zeros. Row-major. Threads take
// columns, and a column's weights are multiplied with several rows of src at once: an oracle for networks of
// a hundred million weights has to answer within seconds.
void reference_product(std::int64_t rows, std::int64_t inner, std::int64_t columns,
                       std::span<const float> src, std::span<const float> weights,
                       std::span<const float> start, std::span<float> dst);

// The inner loops of the reference convolutions: a few pixels by a few output channels at a time, so that the
// sums stay in registers.
struct DotBlock {
  static constexpr std::int64_t kPixels = 6;
  static constexpr std::int64_t kOutputs = 32;

  // The channels of each pixel, side by side.
  std::array<const float*, kPixels> pixels{};
  std::array<std::array<double, kOutputs>, kPixels> sums{};

  // sums[i][k] += Σ_c pixels[i][c] · weights[c][k], over `channels` channels of kOutputs weights each.
  void add(const float* weights, std::int64_t channels);
};

}  // namespace bench::kernels
