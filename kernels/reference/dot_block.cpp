#include "kernels/reference/dot_block.h"

namespace bench::kernels {
namespace {

// The same loops compiled for several generations of processors, chosen when the program starts: a network's
// reference answer takes seconds with wide vectors and a minute without. Thread sanitizer's runtime is not
// ready when that choice is made.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
void multiply_add(const float* const* pixels, const float* weights, std::int64_t channels, double* sums) {
  constexpr std::int64_t kPixels = DotBlock::kPixels;
  constexpr std::int64_t kOutputs = DotBlock::kOutputs;
  std::array<std::array<double, kOutputs>, kPixels> block{};
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t i = 0; i < kPixels; ++i) {
      for (std::int64_t k = 0; k < kOutputs; ++k) {
        block[i][k] += static_cast<double>(pixels[i][c]) * static_cast<double>(weights[c * kOutputs + k]);
      }
    }
  }
  for (std::int64_t i = 0; i < kPixels; ++i) {
    for (std::int64_t k = 0; k < kOutputs; ++k) {
      sums[i * kOutputs + k] += block[i][k];
    }
  }
}

}  // namespace

void DotBlock::add(const float* weights, std::int64_t channels) {
  multiply_add(pixels.data(), weights, channels, sums.front().data());
}

}  // namespace bench::kernels
