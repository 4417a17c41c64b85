// The inner loops of the reference convolutions: a few pixels by a few output channels at a time, so that the
// sums stay in registers. In double, like all sums of the references.
#pragma once

#include <array>
#include <cstdint>

namespace bench::kernels {

struct DotBlock {
  static constexpr std::int64_t kPixels = 6;
  static constexpr std::int64_t kOutputs = 32;

  // Of each pixel its channels, which lie together.
  std::array<const float*, kPixels> pixels{};
  std::array<std::array<double, kOutputs>, kPixels> sums{};

  // sums[i][k] += Σ_c pixels[i][c] · weights[c][k], over `channels` channels of kOutputs weights each.
  void add(const float* weights, std::int64_t channels);
};

}  // namespace bench::kernels
